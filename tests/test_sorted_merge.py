from collections.abc import Iterator

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.foundation.out_of_core import merge_rounds


def blocks(values: list[int], size: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(values), size):
        yield pa.RecordBatch.from_pydict({"value": values[start : start + size]})
    yield pa.RecordBatch.from_pydict({"value": pa.array([], pa.int64())})


@given(
    st.lists(st.sets(st.integers(0, 60)), max_size=5),
    st.integers(1, 7),
)
def test_rounds_sorted_one_by_one_make_the_sorted_whole(streams: list[set[int]], size: int) -> None:
    rounds = merge_rounds([blocks(sorted(stream), size) for stream in streams], ["value"])
    merged = [value for table in rounds for value in table["value"].to_pylist()]
    assert merged == sorted(value for stream in streams for value in stream)
