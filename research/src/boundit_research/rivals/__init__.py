"""Policies of other papers that start from a log or from bounds, to compare ours with."""
