"""Exact inference: endpoints that hold at once with a stated confidence, at every sample size.

A chain that is a sum of products, or a ratio of two, gets one exponent for a whole endpoint
(``sums``, ``ratios``); all others get an interval for every cell they read (``cells``). Both hold
at once, each with its part of the error, and an endpoint is the better of the two. Programs have
cell intervals of their own. The unit of error is one endpoint of one row of the table; where
several rules bound a row, the one that the pilot expects to be best gets four fifths. Which rules
share the error is decided by graph and levels alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import log, prod

import numpy as np

from boundit.bounds.caveats import LIMITS
from boundit.bounds.chain import Chain, Natural, Run, flatten
from boundit.bounds.evidence import Evidence
from boundit.bounds.inference.base import (
    Endpoints,
    Gathered,
    Place,
    PlugIn,
    Rule,
    split_rules,
)
from boundit.bounds.inference.cells import CellIntervals
from boundit.bounds.inference.forms import SumForm, find_form, term_of
from boundit.bounds.inference.pilot import make_streams, split_evidence
from boundit.bounds.inference.ratios import make_ratio_bound
from boundit.bounds.inference.sampling import explain_sum
from boundit.bounds.inference.sums import ConfidenceBound, make_sum_bound
from boundit.counts.named_array import Floats
from boundit.results.sampling import EndSampling

MAX_RULES = 3  # how many rules share the error of cell intervals: each costs the others width
MAX_CANDIDATES = 12  # how many sums the pilot ranks
MAX_TRIED = 3  # how many of them share the error of a row
BEST_SHARE = 0.8
CELL_SHARE = 0.05  # the part of the error for cell intervals beside sum bounds
RIVAL_SHARE = 0.5  # the same where a rule without a sum may be the best
PROGRAM_SHARE = 0.2  # the part of the error for programs beside chains that give no point


def choose_rules(rules: Sequence[Rule], evidence: Evidence) -> list[Rule]:
    """The rules likeliest to win, judged by graph and levels alone; outcomes play no part.

    A reweighting of which nothing is known hardly ever beats the worst case, nor natural bounds a
    chain that leaves nothing unknown; they would cost error all the same.
    """
    stated = [
        r for r in rules if not r.reweightings or any(not w.is_free for w in r.reweightings)
    ]
    if any(rule.n_unknown == 0 for rule in stated):
        stated = [rule for rule in stated if not _is_natural(rule)]
    return sorted(stated or rules, key=lambda rule: rule.rank(evidence.levels))[:MAX_RULES]


def _is_natural(rule: Rule) -> bool:
    return isinstance(rule, Chain) and isinstance(rule.links[-1].distribution, Natural)


@dataclass(frozen=True)
class Exact:
    """Cell intervals and e-value bounds on sums and ratios, at one confidence."""

    confidence: float = 0.95
    cell_share: float | None = None  # of the error, for cell intervals; by default by the rules

    def bound(self, rules: Sequence[Rule], evidence: Evidence) -> Endpoints:
        """Endpoints of the rules that share the error; they miss with probability at most it."""
        if evidence.is_exact:
            return PlugIn().bound(rules, evidence)
        others, programs, notes = split_rules(rules, evidence)
        found = Gathered(tuple(evidence.shape), evidence.lightened[0], notes=notes)
        error = 1 - self.confidence
        for_programs = error * (0.0 if not programs else PROGRAM_SHARE if others else 1.0)
        budget, error = evidence.workspace.budget, error - for_programs
        chosen = choose_rules(others, evidence)
        forms = {} if evidence.is_adaptive else plan_sums(others, evidence)
        share = 1.0
        if forms:
            identified = any(chain.is_identified for chain in forms)
            rivals = (r not in forms and isinstance(find_sum(r, evidence), str) for r in chosen)
            share = CELL_SHARE if identified or not any(rivals) else RIVAL_SHARE
            share = share if self.cell_share is None else self.cell_share
        run = Run(CellIntervals(evidence, chosen, 1 - share * error), budget)
        found.evaluate(chosen, run)
        if forms:
            _bound_sums(forms, evidence, (1 - share) * error, found)
        program_run = Run(CellIntervals(evidence, programs, 1 - for_programs), budget)
        found.evaluate(programs, program_run)
        samplers = {rule: partial(explain_rule, rule, evidence) for rule in found.pairs}
        return found.finish((*others, *programs), run, program_run, samplers)


def _bound_sums(
    forms: Mapping[Chain, SumForm], evidence: Evidence, error: float, found: Gathered
) -> None:
    """Bound the endpoints of sums and ratios, and add them to those of cell intervals."""
    splits, made = split_evidence(evidence), dict[Chain, ConfidenceBound]()
    streams = make_streams(evidence, len(forms))
    for (chain, form), rng in zip(forms.items(), streams, strict=True):
        try:
            evidence.workspace.require_time()
            make = make_ratio_bound if form.divided else make_sum_bound
            made[chain] = make(form, evidence, splits, rng)
        except LIMITS as refusal:
            found.refused[chain.name] = refusal
    if not made:
        return
    # Rows that no form tells apart are one row.
    read = frozenset[str]().union(*(forms[chain].reads for chain in made))
    n_rows = prod(evidence.levels[axis] for axis in read)
    log_row = np.full((1,) * len(found.shape), log(2 * n_rows / error))
    first = log_row - log(1.0 if len(made) == 1 else BEST_SHARE)
    for upper in (False, True):
        whole = 1.0 if upper else 0.0
        choices = {c: b.choose(first, upper=upper) for c, b in made.items()}
        ends = np.stack(np.broadcast_arrays(*(c.predicted for c in choices.values())))
        shares = share_error(ends, upper=upper, equal=evidence.is_numeric)
        for (chain, choice), part in zip(choices.items(), shares, strict=True):
            if not part.any():
                continue
            least = part[part > 0].min()
            log_error = log_row - np.log(np.where(part > 0, part, least))
            try:
                end = made[chain].bound(choice, log_error, upper=upper)
            except LIMITS as refusal:
                found.refused[chain.name] = refusal
                continue
            own = np.where(part > 0, end, whole)
            found.add(chain, *((0.0, own) if upper else (own, 1.0)))


def find_sum(rule: Rule, evidence: Evidence) -> SumForm | str:
    """The sum that a rule computes, or why exact bounds on it do not apply."""
    if evidence.is_adaptive:
        return "a policy learned while it wrote the log"
    flat = flatten(rule) if isinstance(rule, Chain) else None
    if flat is None:
        return "it is not a sum of products"
    form = find_form(flat, evidence.graph)
    if isinstance(form, str):
        return form
    y, (*before, last) = form.outcome, form.factors
    if evidence.is_numeric and any(y in factor.names for factor in before):
        return f"{y} is read twice, and is not 0/1"
    if form.divided and any(y in factor.given for factor in form.factors):
        return f"a ratio in which {y} is given"
    if form.divided and evidence.find(term_of(last)).table.exact:
        return "a ratio of an exact distribution"
    return form if y in last.of else f"no factor draws {y} last"


def explain_rule(
    rule: Rule,
    evidence: Evidence,
    place: Place,
    upper: bool,  # noqa: FBT001
) -> EndSampling | None:
    """Why sampling moves an endpoint: by the sum that the rule computes, or why it is none."""
    form = find_sum(rule, evidence)
    if isinstance(form, str):
        return EndSampling(None, 0.0, (), form)
    return explain_sum(form, evidence, place, upper=upper)


def plan_sums(rules: Sequence[Rule], evidence: Evidence) -> dict[Chain, SumForm]:
    """The chains that are bounded as sums, decided before any outcome is read.

    None where no chain adds anything up: for the least of some cells, intervals are as good.
    Where some are identified only such are kept.
    """
    levels, found, seen = evidence.levels, dict[Chain, SumForm](), set[object]()
    lost_identified = False
    for rule in sorted(rules, key=lambda rule: rule.rank(levels)):
        form = find_sum(rule, evidence)
        if isinstance(form, str):
            lost_identified |= rule.is_identified
        elif isinstance(rule, Chain) and form.key not in seen:
            seen.add(form.key)
            found[rule] = form
    if not any(form.is_sum for form in found.values()):
        return {}
    known = {c: f for c, f in found.items() if c.is_identified}
    if lost_identified and not known:
        return {}
    return dict(list((known or found).items())[:MAX_CANDIDATES])


def share_error(predicted: Floats, *, upper: bool, equal: bool) -> Floats:
    """Parts of a row's error by rule: most to the best that the pilot expects.

    Where all outcomes are in the rest (numeric), nothing may rank rules: equal parts.
    """
    n = min(len(predicted), MAX_TRIED)
    if n <= 1:
        return np.ones_like(predicted)
    shares = np.zeros(predicted.shape)
    if equal:
        shares[:n] = 1 / n
        return shares
    order = np.argsort(predicted if upper else -predicted, axis=0, kind="stable")
    for place in range(n):
        part = BEST_SHARE if place == 0 else (1 - BEST_SHARE) / (n - 1)
        np.put_along_axis(shares, order[place][None], part, axis=0)
    return shares.round(12)
