"""What rival policies keep of the arms of one context: a row for each arm, by these columns.

``PLAYS`` and ``TOTAL`` are the rewards counted, ``LOWER`` and ``UPPER`` the bound, ``LOG_ROWS``
and ``LOG_TOTAL`` the log's rows of the pair and their sum, ``BIAS`` how far the log's mean may
be off, ``NOISE`` the sub-Gaussian factor, ``NUMBER`` a number of the pair's own. Kernels write
``INDEX`` and, without the cap, ``FREE``; ``LOSS`` is what EXP3-IX adds up. Features come last.
"""

(
    PLAYS,
    TOTAL,
    LOWER,
    UPPER,
    LOG_ROWS,
    LOG_TOTAL,
    BIAS,
    NOISE,
    NUMBER,
    INDEX,
    FREE,
    LOSS,
    FEATURES,
) = range(13)
