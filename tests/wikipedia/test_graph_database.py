"""The database works within its limits, leaves nothing behind, and says plainly when it cannot."""

from __future__ import annotations

import pyarrow as pa
import pytest

from irpretrain.foundation.contracts import SEE_ALSO
from irpretrain.foundation.errors import SetupError
from irpretrain.wikipedia.graph import database, parquet


def test_rows_in_and_out(tmp_path):
    with database(tmp_path, 256, 1) as base:
        base.run("CREATE TABLE edges (source INTEGER, target INTEGER)")
        base.insert("edges", [pa.table({"target": [5, 4], "source": [1, 0]})])
        assert base.row(
            "SELECT count(*) AS n, sum(target) AS s, sum(target) FILTER (false) AS z FROM edges"
        ) == {
            "n": 2,
            "s": 9,
            "z": 0,
        }
        assert base.write("SELECT * FROM edges ORDER BY source", SEE_ALSO, tmp_path / "edges.parquet") == 2
    assert SEE_ALSO.read(tmp_path / "edges.parquet").to_pylist()[0] == {"source": 0, "target": 4}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.parquet"]


def test_paths_with_quotes_are_paths(tmp_path):
    path = tmp_path / "it's [1].parquet"
    SEE_ALSO.write(path, [{"source": 1, "target": 2}])
    with database(tmp_path, 256, 1) as base:
        assert base.row(f"SELECT sum(target) AS s FROM {parquet([path])}") == {"s": 2}


def test_too_little_memory_is_one_message(tmp_path):
    with pytest.raises(SetupError, match=r"graph.memory_mb: 16 MB are too few .*; raise it"):
        with database(tmp_path, 16, 2) as base:
            base.run("CREATE TABLE t AS SELECT list(range) AS everything FROM range(4000000)")
