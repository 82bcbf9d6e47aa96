"""The pharmacy of the examples: reminders to refill a prescription, and their biased log."""

from collections.abc import Iterator
from random import Random

QUERY = "Refill | do(Reminder), Age"
PATIENTS, SEED = 20_000, 7
AGES, ILLNESSES = ("younger", "older"), ("mild", "serious")
REMINDERS = ("letter", "text", "call")

# Probabilities, as the README of the example states them.
OLDER = 0.5
SERIOUS = {"younger": 0.3, "older": 0.6}
CHOSEN = {"mild": (0.35, 0.45, 0.2), "serious": (0.2, 0.2, 0.6)}
ANSWERED = {"younger": (0.1, 0.6, 0.7), "older": (0.1, 0.2, 0.7)}
FAMILY, ANSWERS_MORE = 0.5, 0.2
REFILLS, IF_ANSWERED, IF_FAMILY, IF_SERIOUS = 0.2, 0.5, 0.1, -0.2
KEPT = {"mild": 0.4, "serious": 0.9}

COLUMNS = ("Age", "Illness", "Reminder", "Answered", "Refill")

GRAPH = """\
# A pharmacy reminds patients to refill their prescriptions. Which reminder works, for whom?
# One statement a line. An edge says: may cause. What is not written is assumed to be absent:
# Age, for example, has no edge to Reminder.

Age -> Illness              # older patients are more often seriously ill
Illness -> Reminder         # pharmacists see how ill a patient is, and call serious cases
Age -> Answered             # hardly any older patient reads texts
Reminder -> Answered        # a reminder works by being answered
Answered -> Refill          # the outcome: 1 if the prescription is refilled
Illness -> Refill           # serious cases refill less often, whatever the reminder

# '<->': an unmeasured common cause. Here it is family at home.
Answered <-> Refill

# '[...]' marks the selection node: what decides whether a row was logged.
Illness -> [Kept]           # files of serious cases are kept more carefully
"""


def draw_kept_rows() -> Iterator[tuple[str, str, str, int, int]]:
    """Draw the patients of the example one by one; return the rows that are logged."""
    rng = Random(SEED)
    for _ in range(PATIENTS):
        draws = [rng.random() for _ in range(7)]
        age = AGES[draws[0] < OLDER]
        illness = ILLNESSES[draws[1] < SERIOUS[age]]
        family = draws[2] < FAMILY
        letter, text, _ = CHOSEN[illness]
        sent = (draws[3] >= letter) + (draws[3] >= letter + text)
        answered = draws[4] < ANSWERED[age][sent] + ANSWERS_MORE * family
        refills = REFILLS + IF_ANSWERED * answered + IF_FAMILY * family
        refill = draws[5] < refills + IF_SERIOUS * (illness == "serious")
        if draws[6] < KEPT[illness]:
            yield age, illness, REMINDERS[sent], int(answered), int(refill)
