"""How large the corpora and data sets of a configuration are, as far as it says so. None: it does not."""

from irpretrain.config.root import Config

Size = float | None
"""A number of something; None where it is not known."""


def product(*sizes: Size) -> Size:
    """Return the product of sizes, which is not known where one of them is not."""
    result = 1.0
    for size in sizes:
        if size is None:
            return None
        result *= size
    return result


def total(*sizes: Size) -> Size:
    """Return the sum of sizes, which is not known where one of them is not."""
    known_sizes = [size for size in sizes if size is not None]
    return sum(known_sizes) if len(known_sizes) == len(sizes) else None


def inverse(size: Size) -> Size:
    """Return 1 / size, which is not known where the size is not, or is 0."""
    return 1 / size if size else None


def records(config: Config, corpus: str) -> Size:
    """Return how many records the files of a corpus hold."""
    section = config.corpora[corpus]
    return section.about or section.expected


def documents(config: Config, corpus: str) -> Size:
    """Return how many documents a corpus has; how many passages records are cut into is not known."""
    return records(config, corpus) if config.corpora[corpus].passage_words is None else None


def documents_of_shard(config: Config, corpus: str) -> Size:
    """Return how many documents one shard of a corpus has, on average."""
    return product(documents(config, corpus), 1 / config.corpora[corpus].shards)


def documents_of_collection(config: Config, collection: str) -> Size:
    """Return how many documents a collection has."""
    return total(*(documents(config, corpus) for corpus in config.collections[collection]))


def queries(config: Config, dataset: str) -> Size:
    """Return how many queries a data set has."""
    section = config.datasets[dataset]
    number = section.queries.about or section.queries.expected
    return section.sample_queries if number is None else min(number, section.sample_queries or number)


def relevant(config: Config, dataset: str) -> Size:
    """Return how many (query, relevant document) pairs a data set has; `expected` counts other judgements too."""
    section = config.datasets[dataset]
    if section.sample_queries is None:
        return section.qrels.about
    return product(section.qrels.about, section.sample_queries, inverse(section.queries.about))
