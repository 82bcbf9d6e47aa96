"""The public names of this package, each listed once, with the file it is in."""

from boundit.decisions.compare import Comparison as Comparison
from boundit.decisions.evaluation import Estimate as Estimate
from boundit.decisions.policies import Measured as Measured
from boundit.decisions.sensitivity import Breakdown as Breakdown
from boundit.decisions.sensitivity import Sensitivity as Sensitivity
from boundit.decisions.stress_report import StressReport as StressReport
from boundit.decisions.suggest_report import Step as Step
from boundit.decisions.suggest_report import SuggestReport as SuggestReport
from boundit.results.choice import Choice as Choice

__all__: list[str]
