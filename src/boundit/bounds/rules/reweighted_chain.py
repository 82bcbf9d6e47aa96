r"""Chains with blocks whose law is that of a reweighted log.

A chain writes ``P(y | do(x), c)`` as sums over variables. The law of a block ``B`` of them may
be neither recoverable nor unknown: where actions may be read as conditions,

.. math:: P(b \mid do(x), c, z) = P(b \mid a), \qquad a \subseteq x, c, z

in the *population*, which is the log reweighted by an unknown ``r`` (see ``population``). What
comes after a block is expected under it, which is a ratio of two sums linear in ``r``. The
last block can be the reward itself: then selection may depend on the reward.
"""

from dataclasses import dataclass

from boundit.bounds.lp.reweighting import ReweightedBlock
from boundit.bounds.rules.chain import ChainLink, KnownFormula
from boundit.estimand.language.expression import Expression
from boundit.estimand.language.render import text
from boundit.estimand.query import EffectQuery
from boundit.terms.bound import RuleRecord
from boundit.terms.names import join_names


@dataclass(frozen=True, slots=True)
class ReweightedChain:
    """Links and blocks, and a known reward, or None when the last block is the reward."""

    links: tuple[ChainLink | ReweightedBlock, ...]
    reward: KnownFormula | None

    @property
    def blocks(self) -> tuple[ReweightedBlock, ...]:
        """The parts that are reweighted."""
        return tuple(link for link in self.links if isinstance(link, ReweightedBlock))

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in their order, the reward among them when it is a block."""
        return tuple(name for link in self.links for name in drawn_by(link))

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """What it reads off counts."""
        found = [self.reward.expression] if self.reward else []
        for link in self.links:
            if isinstance(link, ReweightedBlock):
                found += link.reweighting.formulas
            elif link.weights:
                found.append(link.weights.expression)
        return tuple(dict.fromkeys(found))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The variables whose law nothing is said about."""
        links = (link for link in self.links if isinstance(link, ChainLink))
        return tuple(link.variable for link in links if link.weights is None)

    @property
    def n_open(self) -> int:
        """How many variables have a law of which nothing is known beyond the log."""
        free = (b for b in self.blocks if not b.reweighting.facts and not b.reweighting.tables)
        return len(self.unknown) + sum(len(block.variables) for block in free)

    @property
    def name(self) -> str:
        """What the bound is called in tables."""
        rest = f", unknown {', '.join(self.unknown)}" if self.unknown else ""
        blocks = "; ".join(join_names(block.variables) for block in self.blocks)
        return f"reweighting of {blocks}{rest}"


def drawn_by(link: ChainLink | ReweightedBlock) -> tuple[str, ...]:
    """The variables that a link draws."""
    return link.variables if isinstance(link, ReweightedBlock) else (link.variable,)


def rule(chain: ReweightedChain, query: EffectQuery) -> RuleRecord:
    """Write what a chain claims, from the outside in, and why each part of it holds."""
    shown = text(chain.reward.expression) if chain.reward else ""
    steps = list(chain.reward.steps) if chain.reward else []
    for link in reversed(chain.links):
        if isinstance(link, ReweightedBlock):
            bar = f" | {join_names(link.given)}" if link.given else ""
            law = f"P*({join_names(link.variables)}{bar})"
            shown = (
                f"sum over {join_names(link.variables)} of {law} x ({shown})" if shown else law
            )
            steps += link.steps
        elif link.weights is None:
            shown = f"min/max over {link.variable} of {shown}"
        else:
            shown = f"sum over {link.variable} of {text(link.weights.expression)} x ({shown})"
            steps += [f"for {link.variable}: {step}" for step in link.weights.steps]
    verb = "lies between" if chain.unknown else "is"
    laws = dict.fromkeys(block.reweighting for block in chain.blocks)
    for each in laws:
        others = each.variables - each.steering
        if others and each.steering:
            known, hidden = join_names(each.steering), join_names(others)
            steps.append(f"Rule 1: given {known}, selection tells nothing of {hidden}")
    by = " or ".join(dict.fromkeys(f"r({join_names(each.steering)})" for each in laws))
    stated = "; ".join(dict.fromkeys(each.stated for each in laws))
    claim = (
        f"{query} {verb} {shown}, where P*(v) = P(v | S=1) {by} is the population's law and r "
        f"any that fits: {stated}"
    )
    return RuleRecord(chain.name, claim, tuple(steps))
