"""Tables and records that the tests of this room draw."""

import random
from dataclasses import replace
from itertools import product

from boundit.core.formula import Over, Sentence, StepRecord, Variable
from boundit.core.message import Caveat
from boundit.estimand.expression import P
from boundit.estimand.notation import make_sentence
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.report.chart import Curve
from boundit.results.bound import Bound, Key, RuleRecord
from boundit.results.bound_table import BoundTable
from boundit.results.explanation import RANGE
from boundit.results.sampling import EndSampling, HeavyCell, RowSampling
from tests.nodes import make_nodes

RULE = RuleRecord(
    "worst case over I1",
    Sentence.of(
        EffectQuery(("Y",), ("X1", "X2"), ("U1",)).formula,
        " lies between ",
        Over("min/max", (Variable("I1"),)),
        " ",
        make_sentence(P(make_nodes("Y"), make_nodes("I1", "U1", "X1", "X2"))),
    ),
    (
        StepRecord(
            Sentence.of(
                "Rule 1: ",
                EffectQuery(("Y",), ("U1", "X1", "X2"), ("I1",)).formula,
                " does not depend on selection",
            ),
            (("Y",), ("S",)),
            ("I1", "U1", "X1", "X2"),
            into=("U1", "X1", "X2"),
        ),
        StepRecord("Rule 2: do(U1, X1) equals conditioning"),
    ),
)
CAVEAT = "I1 has no values besides 0, 1"
SAMPLING = EndSampling(820, 0.0125, (HeavyCell((("I1", 0),), 40, 0.61),))
"""Why chance moves the ends of a small table."""


def small_table(*, confidence: float | None = 0.95) -> BoundTable:
    """Two treatments, two contexts; in the second context one arm is surely better."""
    bounds: dict[Key, Bound] = {
        ((a, b), (u,)): Bound(
            lower=0.1 + 0.5 * u * a * b,
            upper=0.4 + 0.5 * u * a * b,
            lower_estimate=0.2 + 0.5 * u * a * b,
            upper_estimate=0.3 + 0.5 * u * a * b,
            n=1000 * (u + 1) + a,
            lower_rule=RULE.name,
            upper_rule=RULE.name,
            lower_cells=("I1=0: 0.2 (40 rows)", "I1=1: 0.3 (60 rows)"),
            upper_cells=("I1=0: 0.2 (40 rows)", "I1=1: 0.3 (60 rows)"),
            sampling=RowSampling(SAMPLING, SAMPLING),
        )
        for a in (0, 1)
        for b in (0, 1)
        for u in (0, 1)
    }
    return BoundTable(
        outcome="Y",
        treatments=("X1", "X2"),
        context=("U1",),
        levels=dict.fromkeys(("X1", "X2", "U1"), (0, 1)),
        outcome_range=(0.0, 1.0),
        bounds=bounds,
        rules={RULE.name: RULE},
        profile="sound",
        confidence=confidence,
        caveats=(Caveat(CAVEAT),),
    )


def large_table(*, arms: int = 30, contexts: int = 40, variables: int = 40) -> BoundTable:
    """As from a log with 40 columns and 30 arms: of a context's many variables few vary."""
    rng = random.Random(0)
    names = tuple(f"Column{i}" for i in range(variables))
    places = [
        tuple((c >> i) & 1 if i < 6 else 0 for i in range(variables)) for c in range(contexts)
    ]
    items = [(f"item {a:02d}",) for a in range(arms)]
    bounds: dict[Key, Bound] = {}
    for item in items:
        for place in places:
            low = 0.5 * rng.random()
            high = low + 0.4 * rng.random()
            cells = tuple(f"Basket={i}: {rng.random():.3f} (9 rows)" for i in range(6))
            bounds[item, place] = Bound(
                max(low - 0.05, 0), min(high + 0.05, 1), low, high, rng.randrange(5000),
                RULE.name, RULE.name, cells, cells,
            )  # fmt: skip
    levels = {name: tuple(sorted({p[i] for p in places})) for i, name in enumerate(names)}
    return BoundTable(
        outcome="Purchase",
        treatments=("Item",),
        context=names,
        levels={"Item": tuple(item for (item,) in items), **levels},
        outcome_range=(0.0, 1.0),
        bounds=bounds,
        rules={RULE.name: RULE},
        profile="sound",
        confidence=0.95,
        caveats=(Caveat(CAVEAT),),
    )


def random_table(seed: int, *, arms: int = 12, contexts: int = 25) -> BoundTable:
    """Rows of every kind: levels of many types, gaps, several rules, marks, numbers, shares."""
    rng = random.Random(seed)
    names = [f"{i} <b>&\"'" if i % 3 else f"Ünïcode ẞ {i}" for i in range(arms)]
    names[0] = "a name of so very many letters that it may need two lines"
    wheres = [(c, None if c % 7 == 0 else f"w{c % 3}") for c in range(contexts)]
    rules = [replace(RULE, name=f"{RULE.name} {k}") for k in range(2)]
    bounds: dict[Key, Bound] = {}
    for key in product([(name,) for name in names], wheres):
        if rng.random() < 0.1:
            continue
        low, inner, outer, high = sorted(rng.random() for _ in range(4))
        if rng.random() < 0.3:
            low, high = inner, outer
        if rng.random() < 0.2:
            inner, outer = outer, inner
        lower, upper = (rng.choice([*(r.name for r in rules), RANGE]) for _ in range(2))
        cells = [
            tuple(
                f"I1={i}: {rng.random():.4g} (<{i} rows>)"
                for i in range(rng.choice([0, 3, 20]))
            )
            for _ in range(2)
        ]
        bounds[key] = Bound(
            low, high, inner, outer, rng.choice([0, 1, 12345, 0.03125]), lower, upper,
            cells[0], cells[rng.randrange(2)], rng.choice([(), ("see <here>",)]),
            rng.choice([None, RowSampling(_random_sampling(rng), None)]),
        )  # fmt: skip
    levels = {"Ad": tuple(names), "C": tuple(range(contexts)), "W": (None, "w0", "w1", "w2")}
    return BoundTable(
        outcome="Y",
        treatments=("Ad",),
        context=("C", "W"),
        levels=levels,
        outcome_range=(0.0, 1.0),
        bounds=bounds,
        rules={rule.name: rule for rule in rules},
        profile="sound",
        confidence=rng.choice([None, 0.95]),
        caveats=(Caveat(CAVEAT),),
        contrasts={
            (where, (one,), (other,)): rng.uniform(-0.2, 0.2)
            for where in wheres
            for one, other in (rng.sample(names, 2),)
        },
    )


def _random_sampling(rng: random.Random) -> EndSampling:
    """Why chance moves an end, with levels that a page must not take for its own signs."""
    cells = [
        HeavyCell((("I1", "<b>"), ("Z", i)), rng.randrange(1, 99), rng.random())
        for i in range(rng.randrange(4))
    ]
    boxes = rng.choice([None, "a table is read <twice>"])
    return EndSampling(rng.choice([None, 0.6, 1234.5]), 0.03, tuple(cells), boxes)


def worldly_table() -> BoundTable:
    """Names as they come: long, in many scripts, alike until their end; 9 contexts."""
    rng = random.Random(1)
    dishes = ("Frühstück", "ランチ", "ужин на двоих", "W" * 30, "déjeuner sur l'herbe")
    arms = [f"Angebot der Woche, {dishes[i % 5]} {i}" for i in range(30)]
    names = ("客户等级", "Postleitzahlbezirk_der_letzten_Lieferadresse")
    levels = {
        "Angebot": tuple(arms),
        names[0]: ("бронза", "ゴールド", "Platinum with a rather long label"),
        names[1]: ("nördlich", "südlich", "hors de l'agglomération parisienne"),
    }
    bounds: dict[Key, Bound] = {}
    for arm, one, other in product(*levels.values()):
        low, high = sorted((rng.random(), rng.random()))
        bounds[(arm,), (one, other)] = Bound(
            low / 2, (1 + high) / 2, low, high, rng.randrange(9999), RULE.name, RULE.name
        )
    return BoundTable(
        outcome="Kauf?",
        treatments=("Angebot",),
        context=names,
        levels=levels,
        outcome_range=(0.0, 1.0),
        bounds=bounds,
        rules={RULE.name: RULE},
        profile="sound",
        confidence=0.95,
    )


def worldly_graph() -> CausalGraph:
    """Forty nodes with names of the same kind."""
    table, rng = worldly_table(), random.Random(2)
    others = [f"customer_lifetime_purchase_amount_{2000 + i}" for i in range(20)]
    others += [f"день недели {i}" for i in range(8)] + [
        f"購買金額と最終来店日{i}" for i in range(8)
    ]
    arrows = [(rng.choice(others[:i]), others[i]) for i in range(1, len(others))]
    arrows += [(name, "Kauf?") for name in (*table.treatments, *table.context, others[-1])]
    return CausalGraph.of(directed=arrows, bidirected=[(others[0], "Kauf?")])


def truth_of(table: BoundTable, *, off: float = 0.0) -> dict[Key, float]:
    """A truth in the middle of every interval, or ``off`` it."""
    return {key: (b.lower + b.upper) / 2 + off for key, b in table.bounds.items()}


def curves(*names: str) -> list[Curve]:
    """Curves that end close to one another."""
    at = tuple(range(1, 101))
    return [
        Curve(
            name,
            at,
            tuple(5 + 0.1 * t + 0.05 * i for t in at),
            tuple(4 + 0.1 * t for t in at),
            tuple(6 + 0.1 * t for t in at),
        )
        for i, name in enumerate(names)
    ]
