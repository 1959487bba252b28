"""The library gives what the workflow's own functions write, called as its scripts call them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irpretrain import Collection, CrossEncoder, Options, TermWeigher, parse_wikitext, pretrain
from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.load import apply_preset
from irpretrain.config.objectives import OBJECTIVES, read_options
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation.contracts import GROUPS, TERM_WEIGHTS
from irpretrain.foundation.errors import ConfigError
from irpretrain.objectives.shard import Shard, write_groups

LETTERS = "abcdefghij"
TEXT = TextConfig(words="alphanumeric")


def body(number: int) -> str:
    """Sentences of words that the tiny tokenizer cuts into letters or knows whole."""
    words = [
        f"{LETTERS[(number + n) % 10]}{LETTERS[n % 10]} word{number * 7 % 80 + n:02d}" for n in range(20)
    ]
    return " ".join(f"{' '.join(words[n : n + 5]).capitalize()}." for n in range(0, 20, 5))


DOCUMENTS = [{"document_id": f"d{n}", "title": f"title{n}", "body": body(n)} for n in range(8)]


def workflow_shard(folder: Path, encoder: Path) -> Shard:
    """Make what rule build_groups reads: documents, tokens, statistics, graph."""
    from irpretrain.config.text import GraphConfig
    from irpretrain.text.statistics import count_words, merge_counts
    from irpretrain.text.token_store import write_token_store
    from irpretrain.wikipedia.build_graph import build_graph
    from irpretrain.wikipedia.links import extract_links

    source = folder / "documents.jsonl"
    lines = [json.dumps({"_id": d["document_id"], "title": d["title"], "text": d["body"]}) for d in DOCUMENTS]
    source.write_text("\n".join(lines) + "\n")
    documents, redirects = folder / "documents.parquet", folder / "redirects.parquet"
    corpus = CorpusConfig(format="jsonl", path=str(source))
    write_shard(corpus, source, 0, documents, redirects)
    write_token_store(documents, encoder, TEXT, folder / "tokens", positions=True)
    count_words(documents, TEXT, folder / "counts.parquet")
    merge_counts([folder / "counts.parquet"], folder / "statistics.parquet")
    extract_links(documents, GraphConfig(), folder / "sources.parquet", folder / "links.parquet")
    tables = ([[folder / f"{name}.parquet"]] for name in ("sources", "links", "redirects"))
    build_graph(*tables, GraphConfig(), folder / "graph")
    return Shard(
        documents,
        TEXT,
        seed=5,
        tokens=folder / "tokens",
        statistics=folder / "statistics.parquet",
        graph=folder / "graph",
        collection=(documents,),
        collection_tokens=(folder / "tokens",),
    )


@pytest.mark.parametrize(
    ("kind", "changes"), [("rop", {"minimum_count": 1}), ("ict", {"negatives": 2}), ("bfs", {})]
)
def test_groups(kind: str, changes: dict[str, Any], tmp_path: Path, tiny_encoder: Path) -> None:
    objectives = apply_preset({"objectives": {kind: {"type": kind, **changes}}})["objectives"]
    shard = workflow_shard(tmp_path, tiny_encoder)
    counts = write_groups(shard, read_options(kind, objectives[kind]), tmp_path / "groups.parquet")
    groups = Collection(DOCUMENTS, Options(seed=5), tiny_encoder).groups(kind, **changes)
    assert groups.counts == counts
    assert groups.counts["groups"]
    assert GROUPS.read(groups.table).equals(GROUPS.read(tmp_path / "groups.parquet"))
    assert len(groups) == len(list(groups))


def test_texts_of_groups_have_the_word_pieces_that_models_are_trained_on(tiny_encoder: Path) -> None:
    from irpretrain.text.token_store import TokenStore
    from irpretrain.text.word_pieces import load_tokenizer
    from irpretrain.training.batches import BatchBuilder
    from irpretrain.training.group_table import GroupTable

    collection = Collection(DOCUMENTS, Options(seed=5), tiny_encoder)
    groups = collection.groups("ict")
    store, tokenizer = TokenStore.open([collection.tokens]), load_tokenizer(tiny_encoder)
    table = GroupTable(groups.table, store, 1, 1, "order")
    builder = BatchBuilder(store, tokenizer, 64, 20)
    assert len(groups)
    for number, group in enumerate(groups):
        trained = builder.build(table.take(np.array([number]))).input_ids[0]
        [query], document = tokenizer.encode(group.queries), tokenizer.encode(group.documents)[0]
        pieces = np.concatenate([query[:20], document])
        assert trained[1 : 1 + len(query[:20])].tolist() == query[:20].tolist()
        assert set(trained[trained > 4]) <= set(pieces)


@pytest.mark.parametrize("kind", ["ict", "bfs"])
def test_a_sentence_that_ends_its_document_is_left_out_of_its_passage(kind: str, tiny_encoder: Path) -> None:
    """Two documents of two sentences: a passage without one of them is the other one."""
    others = {
        "Word01 word02 ab.": "Word03 word04 cd.",
        "Word05 word06 ef.": "Word07 word08 gh.",
    }
    others |= {second: first for first, second in others.items()}
    collection = Collection([" ".join(pair) for pair in list(others.items())[:2]], encoder=tiny_encoder)
    groups = list(collection.groups(kind, groups_per_document=None))
    assert {group.queries[0] for group in groups} & {"Word03 word04 cd.", "Word07 word08 gh."}
    for group in groups:
        assert group.documents[0] == others[group.queries[0]]
        assert set(group.documents) <= others.keys()


def test_texts_of_groups_end_where_the_token_store_ends(tiny_encoder: Path) -> None:
    """`ij` is two word pieces, so the first seven of the page end inside it; the other document has seven."""
    page = parse_wikitext("word01 word02\n== word03 ==\nword04 ij word06\n== word07 ==\nword08", "word00")
    assert page.body == "word01 word02\nword03\nword04 ij word06\nword07\nword08"
    other = "word09 word10 word11 word12 word13 word14 word15"
    for most, sections, whole in (
        (None, ["word01 word02", "word04 ij word06", "word08"], f"word00. {page.body}"),
        (7, ["word01 word02", "word04 i"], "word00. word01 word02\nword03\nword04 i"),
    ):
        text = {"max_word_pieces": most}
        collection = Collection([page, other], Options(text=text), tiny_encoder)
        [group] = collection.groups("ati")
        assert group.documents == sections
        assert {group.documents[0] for group in collection.groups("rop", minimum_count=1)} == {
            whole,
            other,
        }


def test_pseudo_queries_and_axioms(tmp_path: Path, tiny_encoder: Path) -> None:
    from irpretrain.axioms.axiom_values import compute_axiom_values
    from irpretrain.axioms.batch import open_collection
    from irpretrain.axioms.pseudo_queries import sample_pseudo_queries
    from irpretrain.axioms.rank_engine import write_postings
    from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig, WordVectorsConfig
    from irpretrain.foundation.contracts import AXIOM_VALUES
    from irpretrain.text.terms import read_terms
    from irpretrain.text.word_store import WordStore, write_word_store
    from irpretrain.text.word_vectors import make_word_vectors

    shard, drawn = workflow_shard(tmp_path, tiny_encoder), {"minimum_count": 1, "temperature": 0.1}
    vectors = WordVectorsConfig(minimum_count=1, dimensions=4)
    words, statistics, options = tmp_path / "words", shard.statistics, AxiomsConfig()
    write_word_store(shard.documents, statistics, TEXT, words)
    queries = tmp_path / "queries.parquet"
    sample_pseudo_queries(words, statistics, PseudoQueriesConfig(**drawn), 5, queries)
    terms = read_terms(statistics, options.stop_list, options.stemming)
    stores, postings = [[WordStore(words)]], tmp_path / "postings"
    write_postings(stores, terms.term_of, len(terms.names), postings, options.bm25)
    make_word_vectors(vectors, [[words]], statistics, 5, tmp_path / "vectors")
    known = open_collection(statistics, tmp_path / "postings", tmp_path / "vectors", options)
    compute_axiom_values(queries, [words], known, TEXT, tmp_path / "values.parquet")
    expected = AXIOM_VALUES.read(tmp_path / "values.parquet").to_pandas()

    collection = Collection(DOCUMENTS, Options(seed=5, word_vectors=vectors))
    found = collection.pseudo_queries(**drawn)
    assert found["query"].tolist() == expected["query"].tolist()
    pairs = list(zip(found["query"], found["document_id"], strict=True))
    values = collection.axioms(pairs)
    undefined = {"rank": 0, "prox_1": np.inf, "prox_2": np.inf}  # as the workflow's table writes it
    for column in values.columns:
        filled = values[column].fillna(undefined[column]) if column in undefined else values[column]
        np.testing.assert_array_equal(filled, expected[column])
    assert collection.ranks(pairs, depth=options.rank_depth).tolist() == expected["rank"].tolist()


def test_scores_of_a_model_that_was_pre_trained(tmp_path: Path, tiny_encoder: Path) -> None:
    from irpretrain.retrieval.rerank import CorpusTexts, score_candidates

    lengths = {"max_length": 48, "query_length": 8}
    collection = Collection(DOCUMENTS, Options(seed=5), tiny_encoder)
    groups = [collection.groups("rop", minimum_count=1), collection.groups("ict")]
    counts = pretrain(groups, tmp_path / "model", steps=2, batch_groups=2, **lengths)
    assert counts["groups"] == {"rop": 4, "ict#1": 4}
    assert len((tmp_path / "model.metrics.jsonl").read_text().splitlines()) == 2
    texts = collection.texts()
    run = {"q": [(name, 0.0) for name in texts]}
    options = RerankingConfig(**lengths)
    tokens = CorpusTexts([collection.tokens])
    expected = dict(score_candidates(tmp_path / "model", tokens, {"q": "ab cd"}, run, options)["q"])
    pairs = [("ab cd", text) for text in texts.values()]
    scores = CrossEncoder(tmp_path / "model", **lengths).predict([*pairs, pairs[0]])
    np.testing.assert_allclose(scores, [*(expected[name] for name in texts), expected["d0"]], atol=1e-6)


def test_weights_of_words(tmp_path: Path, tiny_encoder: Path) -> None:
    from irpretrain.models.term_weight_regressor import TermWeightRegressor
    from irpretrain.retrieval.term_weights.infer import infer_documents

    TermWeightRegressor.from_encoder(tiny_encoder).save(tmp_path / "weigher")
    options = TermWeightsConfig(label="DeepCT", dataset="any", max_length=32)
    collection = Collection(DOCUMENTS)
    infer_documents(
        tmp_path / "weigher", collection.documents, options, TEXT, tmp_path / "weights.parquet", tmp_path
    )
    rows = TERM_WEIGHTS.read(tmp_path / "weights.parquet").to_pylist()
    expected = [{term["term"]: term["weight"] for term in row["terms"]} for row in rows]
    weigher = TermWeigher(tmp_path / "weigher", max_length=32)
    assert weigher.weigh(list(collection.texts().values())) == expected


def test_what_needs_an_encoder_says_so(tmp_path: Path) -> None:
    collection = Collection(["a b c"])
    for kind in OBJECTIVES.keys() - {"rop", "ares"}:
        with pytest.raises(ConfigError, match=f"objective {kind}: cuts documents by .* pieces of an encoder"):
            collection.groups(kind)
    released = Collection(["a b c"], Options(preset="released"))
    with pytest.raises(ConfigError, match=r"^objective rop: short_document_pieces counts the word pieces"):
        released.word_sets(minimum_count=1)
    assert len(released.word_sets(minimum_count=1, short_document_pieces=0))
    with pytest.raises(ConfigError, match="their collection has no encoder"):
        pretrain(collection.groups("rop", minimum_count=1), tmp_path / "model", steps=1, batch_groups=1)
    assert list(tmp_path.iterdir()) == []


def wiki_pages() -> list[Any]:
    """Six pages in a ring of links, each with a section and a See Also list."""
    return [
        parse_wikitext(
            f"Lead [[T{(n + 1) % 6}]] word{n:02d} ab cd. Ab cd here is [[T{(n + 2) % 6}|some text]].\n"
            f"== Use ab ==\nCd ef [[T{(n + 1) % 6}]] gh. More words come.\n== See also ==\n* [[T{(n + 3) % 6}]]\n",
            f"T{n}",
        )
        for n in range(6)
    ]


def test_every_objective_makes_groups_of_pages(tiny_encoder: Path) -> None:
    """Whatever it needs is made: graph, anchors, statistics, axiom values with a calibrated temperature."""
    options = Options(
        graph={"segment_words": 8},
        word_vectors={"minimum_count": 1, "dimensions": 4},
        pseudo_queries={"minimum_count": 1},
    )
    collection = Collection(wiki_pages(), options, tiny_encoder)
    changes = {"rop": {"minimum_count": 1}, "ares": {"agreement": "strict"}}
    counts = {}
    for kind in OBJECTIVES:
        groups = collection.groups(kind, **changes.get(kind, {}))
        counts[kind] = len(list(groups))
        assert counts[kind] == len(groups) == groups.counts["groups"]
    made = {kind for kind, count in counts.items() if count}
    assert made >= {"rop", "ares", "ati", "ltm", "ict", "wlp", "qdm"}
