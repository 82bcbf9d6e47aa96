"""Rules that end in a response-type program, as sums of levels whose value a program bounds.

A fixed vector of feasible multipliers turns a program into a mean of what its law draws, so the
law is the last level of a sum like any other. The multipliers may differ at every value of what
the program is asked about.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from boundit.bounds.claims.level_form import FormDraft, LevelForm, Unmet, order_form
from boundit.bounds.rules.nested_chain import NestedChain
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.bounds.rules.rule import BoundRule
from boundit.estimand.language.expression import P
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.names import Nodes, join_names


@dataclass(frozen=True, slots=True)
class ProgramForm:
    """A sum of levels, the last of which draws the variables that have response types.

    ``scope`` says what the variables that the program is asked about are called in the sum:
    axes of the table, or variables of links.
    """

    form: LevelForm
    program: ResponseProgram
    law: P
    scope: Mapping[str, str]

    @property
    def place(self) -> tuple[str, ...]:
        """The names of what a program is solved for each value of: conditions, then arms."""
        asked = self.program.fixed + self.program.set_by_hand
        return tuple(self.scope[name] for name in asked)

    @property
    def summed(self) -> Nodes:
        """The variables of known law that come before the program.

        Where there are none, a row's end is that of one program.
        """
        return frozenset(self.form.drawn).difference(self.form.last.of)

    @property
    def pooled_place(self) -> tuple[str, ...] | None:
        """The names of conditions and arms when all strata that are summed are one.

        None unless the levels, multiplied, are the law of one row given the conditions, as
        ``P(w | c) P(x, y | w, c)`` is.
        """
        first, seen = self.form.levels[0], self.form.levels[0].term.given
        for level in self.form.levels:
            if level.term.given != seen or level.term.logged != first.term.logged:
                return None
            seen = seen | level.term.of
        kept = tuple(name for name in self.place if name not in self.summed)
        arms = {self.scope[name] for name in self.program.set_by_hand}
        plain = not (self.form.worst or self.form.idle)
        return kept if plain and first.term.given == set(kept) - arms else None


def find_program_form(rule: BoundRule, graph: CausalGraph) -> ProgramForm | Unmet:
    """Find the sum of levels whose value a rule bounds by a program, or say what is not met."""
    if not isinstance(rule, NestedChain) or not isinstance(rule.core, ResponseProgram):
        return Unmet("it does not end in a program")
    program, law = rule.core, rule.core.law
    if fault := _find_fault(program):
        return Unmet(fault)
    assert isinstance(law, P)
    draft = FormDraft(rule)
    scope = draft.add_nested(rule, {axis: axis for axis in rule.axes})
    asked = {name: scope[name] for name in program.fixed + program.set_by_hand}
    draft.add_law(law, {name: asked[name] for name in program.fixed})
    fault = "a ratio before a program" if draft.divided else draft.find_fault()
    if fault:
        return Unmet(fault)
    form = order_form(draft.make_form(frozenset(asked.values())), graph)
    if isinstance(form, Unmet):
        return form
    if form.last.term != law:
        return Unmet(f"a factor of {rule.outcome} comes before the program")
    return ProgramForm(form, program, law, asked)


def _find_fault(program: ResponseProgram) -> str | None:
    """Find why fixed multipliers do not make a mean of a program's end, or None."""
    if program.weights:
        return "the program weighs response types by estimated factors"
    if not isinstance(program.law, P):
        return "the law that response types reproduce is no single factor"
    law = program.law
    if law.of != frozenset(program.inside) or not law.given.issuperset(program.varied):
        return f"the law of {join_names(program.inside)} lacks some variable"
    return None
