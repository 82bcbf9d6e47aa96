"""Speed beside other libraries, as ratios of one run: ``make bench``.

Rules: seeded inputs, built outside the measured call; every answer compared before it counts;
the machine is shared, so only ratios within one run mean anything; a peer that is missing, or
that cannot answer, is named and left out.
"""
