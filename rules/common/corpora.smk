"""Corpora: their shards, and the tables made of them."""


def corpus_soundness(wildcards):
    return sound_entries([CFG.corpora[wildcards.corpus]])


def corpus_aid_states(wildcards):
    """Size and time of files that the options name: of 15 GB of spam rankings each shard would make a hash, were they inputs."""
    from irpretrain.catalogue.states import fingerprint

    return {path: fingerprint(path) for path in corpus_aids(CFG, wildcards.corpus) if Path(path).exists()}


def corpus_options(wildcards):
    return described(CFG.corpora[wildcards.corpus])


def described(section):
    """A section as plain values, without the entry of the catalogue that it comes from, and without what only
    estimates of cost read."""
    return without(dump(section), {"entry", "about"})


def without(values, keys):
    """Plain values without some keys, at any depth."""
    if not isinstance(values, dict):
        return values
    return {key: without(value, keys) for key, value in values.items() if key not in keys}


def expected_records(corpora):
    """How many records corpora must have, for those of which it is known."""
    return {corpus: CFG.corpora[corpus].expected for corpus in corpora if CFG.corpora[corpus].expected}


def expected_of_collection(wildcards):
    return expected_records(CFG.collections[wildcards.collection])


def corpus_source(wildcards):
    return source(CFG.corpora[wildcards.corpus].path)


def corpus_inputs(wildcards):
    """The corpus's files, so that a changed one reruns what is made of it."""
    path = CFG.corpora[wildcards.corpus].path
    return source(path) if is_embedded(path) else corpus_files(CFG, wildcards.corpus)


def corpus_documents(wildcards):
    return documents_of([wildcards.corpus])


def shard_number(wildcards):
    return int(wildcards.shard)


def shards_of(corpora):
    """Every (corpus, shard) of some corpora, in their order."""
    return [(corpus, shard) for corpus in corpora for shard in range(CFG.corpora[corpus].shards)]


def documents_of(corpora):
    return [f"results/corpora/{corpus}/documents-{shard}.parquet" for corpus, shard in shards_of(corpora)]


def tokens_of(corpora):
    return [f"results/tokens/{corpus}/{shard}" for corpus, shard in shards_of(corpora)]
