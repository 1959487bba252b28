"""Which queries of a data set are used, where not all are."""

from pathlib import Path

from irpretrain.config.corpora import DatasetConfig
from irpretrain.corpora.records import Query
from irpretrain.errors import ConfigError
from irpretrain.randomness import stream_key


def sample(
    usable: list[Query],
    dataset: DatasetConfig,
    seed: int,
    source: str | Path,
    having: str = "a relevant document",
) -> list[Query]:
    """Return the sample of a data set's queries, in the order of the source.

    Args:
        usable: the queries that can be used, in the order of the source.
        source: the file of the queries, for messages.
        having: what makes a query usable, for messages.

    Raises:
        ConfigError: more queries are asked for than there are.
    """
    count = dataset.sample_queries
    if count is not None and count > len(usable):
        raise ConfigError(
            f"datasets ({dataset.label}).sample_queries: {count} queries are asked for, but {source} has {len(usable)} "
            f"with {having}; lower it, or give null for all"
        )
    names = (query.query_id for query in usable)
    drawn = set(sorted(names, key=lambda name: (stream_key(seed, "sample-queries", name), name))[:count])
    return [query for query in usable if query.query_id in drawn]
