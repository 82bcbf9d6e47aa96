"""Spark counts on its own cluster, here one thread of this machine."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from boundit.bounds.derive import derive_bounds
from boundit.counts.log import read_log
from boundit.simulation.environments import paper_environment
from tests.counts.backends import arrow, shown
from tests.counts.test_frames import ASKED, mixed_rows
from tests.missing import need_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def spark() -> Iterator["SparkSession"]:
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    need_java()
    builder = pyspark.SparkSession.builder.master("local[1]")
    options = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.codegen.wholeStage": "false",
    }
    session = builder.config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_a_cluster_makes_the_same_tables(spark: "SparkSession") -> None:
    table = arrow(mixed_rows(60))
    frame = spark.createDataFrame(table)

    for opened, asked in ASKED[1:4]:
        expected = read_log(table.to_pydict(), **opened).count(**asked)
        assert shown(read_log(frame, **opened).count(**asked)) == shown(expected)


def test_a_cluster_tells_how_many_levels_columns_have(spark: "SparkSession") -> None:
    frame = spark.createDataFrame(arrow({"X": [0, 1, 1, 2], "Z": ["a", "a", "a", "b"]}))

    assert read_log(frame).count_levels(["X", "Z"]) == {"X": 3, "Z": 2}


def test_a_cluster_gives_the_identical_bound_table(spark: "SparkSession") -> None:
    world = paper_environment()
    rows = world.model.sample_log(3_000, np.random.default_rng(0))
    columns = {name: column.tolist() for name, column in rows.items()}
    frame = spark.createDataFrame(pa.table(columns))

    assert derive_bounds(world.graph, world.query, frame) == derive_bounds(
        world.graph, world.query, columns
    )
