from boundit.service.changes import hash_id
from boundit.service.store.base import Store
from tests.service.kit import SetClock, decide, make_config, reward, run_engine


def test_a_clock_set_back_never_reorders(store: Store, clock: SetClock) -> None:
    with run_engine(store, make_config()) as engine:
        before = decide(engine, "a")
        clock.move(-3600)
        after = decide(engine, "b")
        clock.move(7200)
        later = decide(engine, "c")

    assert after.decided_at < before.decided_at < later.decided_at
    assert [one.position for one in (before, after, later)] == [2, 3, 4]


def test_tallies_count_by_day_and_arm(store: Store, clock: SetClock) -> None:
    with run_engine(store, make_config()) as engine:
        for day in range(2):
            for i in range(6):
                decide(engine, f"{day} {i}")
                reward(engine, f"{day} {i}", 0.5)
            clock.move(86_400)
        rows = engine.list_daily_counts("ads")

    assert {row.day for row in rows} == {"2023-11-14", "2023-11-15"}
    assert sum(row.decisions for row in rows) == sum(row.rewards for row in rows) == 12
    assert sum(row.reward_sum for row in rows) == 6.0
    assert all(set(row.arm) == {"Ad"} for row in rows)


def test_ids_are_hashed_to_sixteen_bytes() -> None:
    assert len(bytes.fromhex(hash_id("visitor"))) == 16
    assert hash_id("visitor") != hash_id("visitors")
