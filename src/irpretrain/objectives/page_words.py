"""Words of documents anywhere in the collection, and which sections count as text about the subject.

Words of documents that are anywhere in the collection: drawn in one pass over all its shards.
"""

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
    """Draw words of documents in one pass over the collection's tables; memory holds the drawn words alone.

    Args:
        wanted: identifier and name of the random stream of each draw; a document may occur often.
        objective: of the random streams.

    Returns:
        The words by the index of the draw, without documents that the collection lacks.
    """
    positions, streams = by_document(wanted)
    names = pa.array(sorted(positions), pa.string())
    words_by_position = {}
    for documents in shard.collection:
        for batch in DOCUMENTS.stream(documents, ["document_id", "body"], ROWS):
            for row in batch.filter(pc.is_in(batch.column("document_id"), value_set=names)).to_pylist():
                for position in positions[row["document_id"]]:
                    rng = shard.stream(f"{objective} page", streams[position])
                    words_by_position[position] = draws.draw(rng, draws.words(row["body"]), draws.size(rng))
    return words_by_position
