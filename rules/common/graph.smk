"""Graphs of links."""

LINK_OPTIONS = {"segment_words", "title_case", "mentions", "mention_characters", "mention_lower"}


def link_options():
    """What decides the links of a shard; the rest of `graph` matters to the whole graph only."""
    return CFG.graph.model_dump(mode="json", include=LINK_OPTIONS)


def redirects_of(corpora):
    return [f"results/corpora/{corpus}/redirects-{shard}.parquet" for corpus, shard in shards_of(corpora)]


def collection_redirects(wildcards):
    return redirects_of(CFG.collections[wildcards.collection])


def titled_documents(wildcards):
    """All documents of a collection, where their titles are looked for in each of its texts."""
    return collection_documents(wildcards) if CFG.graph.mentions == "titles" else []


def collection_links(kind):
    """The shards of a collection's links, or of their sources."""

    def files(wildcards):
        shards = shards_of(CFG.collections[wildcards.collection])
        return [
            f"results/links/{wildcards.collection}/{kind}/{corpus}-{shard}.parquet"
            for corpus, shard in shards
        ]

    return files
