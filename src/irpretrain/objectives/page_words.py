"""Words of documents that are anywhere in the collection: drawn in one pass over all its shards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROWS = 4096


def draw_page_words(
    collection: Sequence[str | Path],
    wanted: Iterable[str],
    draw: Callable[[int, str], list[str]],
) -> dict[int, list[str]]:
    """Draw words of some documents.

    Only bodies of wanted documents are looked at, one at a time, so memory holds the drawn words alone; the pass itself
    costs reading the collection's tables once.

    Args:
        collection: DOCUMENTS tables of all shards of the collection.
        wanted: documents, by identifier; the place in this list names a draw, and a document may be wanted often.
        draw: returns the words for a draw, given its place and the document's body.

    Returns:
        The words by place. Documents that the collection lacks are not in it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from irpretrain.contracts import DOCUMENTS

    places: dict[str, list[int]] = defaultdict(list)
    for place, document_id in enumerate(wanted):
        places[document_id].append(place)
    names = pa.array(sorted(places), pa.string())
    found = {}
    for shard in collection:
        for batch in DOCUMENTS.stream(shard, ["document_id", "body"], ROWS):
            for row in batch.filter(pc.is_in(batch.column("document_id"), value_set=names)).to_pylist():
                for place in places[row["document_id"]]:
                    found[place] = draw(place, row["body"])
    return found
