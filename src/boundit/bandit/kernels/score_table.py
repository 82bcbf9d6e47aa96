"""The score table: what a kernel reads and writes of the arms of one decision.

One row for each arm, by decreasing upper end, and eight columns. It is a single array, since
taking an array in costs compiled code as much as scoring an arm. Six columns are the same for
every algorithm:

``STATISTICS``
    Where what was learned of the arm lies: for UCB, KL-UCB and Thompson sampling its row in
    ``ArmCounts.rows``, for the linear policies where its block begins in ``RidgeStack.models``.
``POSITION``
    The arm's position among the arms of the call, which settles ties.
``LOWER``, ``UPPER``
    The ends of its bound.
``FREE_SCORE``, ``SCORE``
    Its index or draw without the bound and with it; no number in ``SCORE`` says that the arm
    was not scored.

The last two belong to the algorithm that wrote the table, and its constants have its name:

========  ====================  =================
table of  column 6              column 7
========  ====================  =================
UCB       unused                unused
KL-UCB    unused                unused
LinUCB    ``LIN_UCB_VERSION``   unused
TS        ``TS_SUCCESSES``      ``TS_TRIALS``
LinTS     ``LIN_TS_MEAN``       ``LIN_TS_SPREAD``
OAM       unused                unused
Fused     ``FUSED_PART``        ``FUSED_TAU``
========  ====================  =================
"""

STATISTICS, POSITION, LOWER, UPPER, FREE_SCORE, SCORE = range(6)
LIN_UCB_VERSION = 6
"""The version of the model that ``FREE_SCORE`` was worked out from; -1 for none."""
TS_SUCCESSES, TS_TRIALS = 6, 7
"""The belief that was drawn from: Beta with one more of successes and of failures."""
LIN_TS_MEAN, LIN_TS_SPREAD = 6, 7
"""The belief that was drawn from: the normal law with this mean and deviation."""
FUSED_PART, FUSED_TAU = 6, 7
"""What the index came from (pool, own weights, plain rewards), and the tau drawn."""
COLUMNS = 8
