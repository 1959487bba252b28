"""Words of documents that are anywhere in the collection: drawn in one pass over all its shards."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.contracts import DOCUMENTS
from irpretrain.objectives.anchors import WordDraws
from irpretrain.objectives.draws import by_document
from irpretrain.objectives.shard import Shard

ROWS = 4096


def draw_page_words(
    shard: Shard, wanted: Iterable[tuple[str, str]], draws: WordDraws, objective: str
) -> dict[int, list[str]]:
    """Draw words of some documents.

    Only bodies of wanted documents are looked at, one at a time, so memory holds the drawn words alone; the pass itself
    costs reading the collection's tables once.

    Args:
        shard: its `collection` is read.
        wanted: the document of each draw, by identifier, and the name of the draw's random stream; a document may be
            wanted often.
        draws: draws the words of a body.
        objective: of the random streams.

    Returns:
        The words by the place of the draw. Documents that the collection lacks are not in it.
    """
    places, streams = by_document(wanted)
    names = pa.array(sorted(places), pa.string())
    words_by_place = {}
    for documents in shard.collection:
        for batch in DOCUMENTS.stream(documents, ["document_id", "body"], ROWS):
            for row in batch.filter(pc.is_in(batch.column("document_id"), value_set=names)).to_pylist():
                for place in places[row["document_id"]]:
                    rng = shard.stream(f"{objective} page", streams[place])
                    words_by_place[place] = draws.draw(rng, draws.words(row["body"]), draws.size(rng))
    return words_by_place
