"""How much of a difference between two numbers may be rounding: one home for the tolerances.

Which is for what:

- ``ROUNDING`` for chances, means, ends and widths that were computed in two ways, of which one
  may have gone through a linear program: ends that cross by less touch, a truth that lies
  outside by less lies inside, a probability that sums to one up to it sums to one.
- ``EXACT_ROUNDING`` for two sums of the same exact chances, where no program had a hand in.
- ``SOLVER_ROUNDING`` is asked of the solver itself, finer than ``ROUNDING`` so that what it
  leaves is not seen by anyone who compares with that.

Scale them where numbers are not of order one. They are no judgements: how near is near enough
(``ACCURACY``, ``EXACT`` ...) is said by the module that judges. Compiled kernels keep
constants of their own, since the stamp of what is kept compiled signs their sources alone.
"""

ROUNDING = 1e-9
EXACT_ROUNDING = 1e-12
SOLVER_ROUNDING = 1e-10
