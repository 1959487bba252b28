"""Integer weights in Lucene: BM25 and QL by hand, the tf index's own scores; shares of weights by rank."""

import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_lucene import OPTIONS, TEXT, scores_by_formula, write_vectors

from irpretrain.config.retrieval import LUCENE_WORDS, RankingModel
from irpretrain.evaluation.runs import read_run
from irpretrain.foundation.errors import InputError, IntegrityError, SetupError
from irpretrain.retrieval import analysis, lucene
from irpretrain.retrieval.analysis import Analyser, one_line_each
from irpretrain.retrieval.weighted_index import RANK_COUNT, Shares, index_weights, measure_distribution
from small_documents import write_documents, write_queries

WEIGHTS = {
    "d/1": {"running": 40, "runs": 25, "the": 90, "zoo": 3},
    "d2": {"zoo": 200, "été": 1},
    "é'3": {"cat": 7},
    "none": {},
    "stops": {"the": 5, "of": 1},
    "cut": {"1,000.5": 2, "east-west": 30},
}
TERMS = {
    "d/1": {"run": 65, "zoo": 3},
    "d2": {"zoo": 200, "été": 1},
    "é'3": {"cat": 7},
    "cut": {"1,000.5": 2, "east": 30, "west": 30},
}
"""The same after analysis, by hand: stems add up, stop words go, what Lucene cuts counts in each piece."""
QUERIES = {"q1": "The runs of zoos", "q2": "zoo cat", "q3": "Été!", "q4": "zoo zoo running", "q5": "west"}
ASKED = {
    "q1": ["run", "zoo"],
    "q2": ["zoo", "cat"],
    "q3": ["été"],
    "q4": ["zoo", "zoo", "run"],
    "q5": ["west"],
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    halves = [dict(list(WEIGHTS.items())[:3]), dict(list(WEIGHTS.items())[3:])]
    shards = [write_vectors(folder / f"{i}.parquet", half) for i, half in enumerate(halves)]
    counts = index_weights(shards, "lucene", OPTIONS, folder / "index")
    assert counts == {
        "documents": 6, "documents_without_terms": 2, "words": 11, "words_without_terms": 3, "terms": 8, "weight": 338
    }  # fmt: skip
    record = json.loads((folder / "index" / lucene.RECORD).read_text())
    assert record == counts | {"query_words": "lucene", "stemmer": "porter", "stop_list": "lucene"}
    assert not list(folder.glob(".*"))
    return folder / "index"


GRIDS = {
    "bm25": {"k1": [0.9, 10.0, 0.0, 18.0], "b": [0.4, 0.9, 0.0, 1.0]},
    "ql": {"mu": [2.0, 100.0]},
    "ql-jm": {"smoothing": [0.1, 0.6]},
}


@pytest.mark.parametrize("method", GRIDS)
def test_scores_over_weights_are_the_formula(index: Path, tmp_path: Path, method: str) -> None:
    grid = GRIDS[method]
    points = list(lucene.search_grid(index, QUERIES, method, grid, OPTIONS, 10))
    assert len(points) == math.prod(map(len, grid.values()))
    for parameters, run in points:
        assert run.keys() == ASKED.keys()
        for query, terms in ASKED.items():
            expected = scores_by_formula(method, TERMS, terms, *parameters.values())
            assert dict(run[query]) == pytest.approx(expected, abs=2e-4), query


SENTENCES = [
    "Don't the U.S. John's running 1,000 cats; cats' 3.5% naïve — 東京 東京 𝒳",
    "generations generalize generalization; relational conditional, rationally",
    "The quick-brown fox's e-mail: fox@example.org http://example.org/x?y=z",
    "it's its it ITS It’s dogs dog DOGS",
    "",
    "the of and",
    "x" * 300,
]


def random_bodies() -> dict[str, str]:
    random = np.random.default_rng(3)
    words = " ".join(SENTENCES[:4]).split()
    drawn = {f"r{i}": " ".join(random.choice(words, random.integers(1, 90))) for i in range(60)}
    return {**{f"s{i}": sentence for i, sentence in enumerate(SENTENCES)}, **drawn}


@pytest.mark.parametrize(
    ("stemmer", "stops", "methods"),
    [
        ("porter", "lucene", ("bm25",)),
        pytest.param("porter", "lucene", ("bm25", "ql", "ql-jm"), marks=pytest.mark.deep),
        pytest.param("krovetz", "none", ("bm25", "ql", "ql-jm"), marks=pytest.mark.deep),
    ],
    ids=["porter-bm25", "porter", "krovetz"],
)
def test_frequencies_as_weights_reproduce_the_tf_index(
    tmp_path: Path, stemmer: str, stops: str, methods: tuple[RankingModel, ...]
) -> None:
    options = OPTIONS.model_copy(update={"stemmer": stemmer, "stop_list": stops, "depth": 100})
    bodies = random_bodies()
    documents = write_documents(tmp_path / "documents.parquet", bodies)
    lucene.index([documents], options, TEXT, tmp_path / "tf")
    tokens = Analyser.words_only().terms(list(bodies.values()))
    vectors = {name: Counter(words) for name, words in zip(bodies, tokens, strict=True)}
    shard = write_vectors(tmp_path / "vectors.parquet", vectors)
    index_weights([shard], "lucene", options, tmp_path / "weights")
    queries = write_queries(tmp_path / "queries.parquet", bodies)
    for method in methods:
        for name in ("tf", "weights"):
            lucene.search(tmp_path / name, queries, method, options, tmp_path / f"{name}.run.gz")
        assert (tmp_path / "tf.run.gz").read_bytes() == (tmp_path / "weights.run.gz").read_bytes()
        assert len(read_run(tmp_path / "tf.run.gz")) > 60


def test_queries_are_cut_as_the_texts_were(tmp_path: Path) -> None:
    """Where documents were cut into letters and digits, "don't" is two words, in a query too."""
    shard = write_vectors(tmp_path / "vectors.parquet", {"a": {"don": 3, "t": 2}, "b": {"dog": 1}})
    queries = write_queries(tmp_path / "queries.parquet", {"q": "Don't!", "none": "?!"})
    index_weights([shard], "alphanumeric", OPTIONS, tmp_path / "index")
    path = tmp_path / "index" / lucene.RECORD
    record = json.loads(path.read_text())
    found = {}
    for words in (record["query_words"], "lucene"):
        path.write_text(json.dumps({**record, "query_words": words}))
        lucene.search(tmp_path / "index", queries, "bm25", OPTIONS, tmp_path / "run.gz")
        run = read_run(tmp_path / "run.gz")
        found[words] = {query: [name for name, _ in ranking] for query, ranking in run.items()}
    assert found == {"alphanumeric": {"q": ["a"]}, "lucene": {}}
    assert one_line_each(["Don't 2!"], "letters") == ["don t"]


def test_faults(tmp_path: Path) -> None:
    empty = write_vectors(tmp_path / "empty.parquet", {"a": {}, "b": {"the": 4}})
    with pytest.raises(InputError, match="no document has a term"):
        index_weights([empty], "lucene", OPTIONS, tmp_path / "index")
    large = write_vectors(tmp_path / "large.parquet", {"a": {"cat": 2_000_000_000}})
    with pytest.raises(InputError, match="document 'a' add up to 2,000,000,000"):
        index_weights([large], "lucene", OPTIONS, tmp_path / "index")
    with pytest.raises(IntegrityError, match="this is not a table of term_vectors"):
        index_weights([write_queries(tmp_path / "q", {})], "lucene", OPTIONS, tmp_path / "index")
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("words", ["lucene", "french:letters"])
def test_an_analyser_keeps_a_limited_number_of_words(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "MAX_CACHED_WORDS", 3)
    analyser = Analyser.of(OPTIONS, words)
    for part in (["nation", "table"], ["nation", "porte", "table", "place"], ["fable"]):
        analyser.learn(part)
        assert all(analyser.terms_of_word(word) for word in part)
    with pytest.raises(KeyError):
        analyser.terms_of_word("porte")


def test_analysis_of_words_and_of_texts_that_hold_the_mark() -> None:
    from irpretrain.retrieval.analysis import SEPARATOR

    analyser = Analyser("porter", "lucene")
    texts = [f"cats {SEPARATOR} dogs", "", "The runs", "\u0301", f"{SEPARATOR}"]
    assert analyser.terms(texts) == [["cat", SEPARATOR, "dog"], [], ["run"], [], [SEPARATOR]]
    assert analyser.terms(texts[1:4]) == [[], ["run"], []]
    assert analyser.terms([]) == []
    analyser.learn(["running", "the", "running", "east-west"])
    learned = [analyser.terms_of_word(word) for word in ("running", "the", "east-west")]
    assert learned == [("run",), (), ("east", "west")]
    assert Analyser.words_only().terms(["The Dog's generations"]) == [["the", "dog", "generations"]]


def test_long_texts_are_analysed_in_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["apples and pies", "", "a much longer text of pears", "figs", "plums"]
    analyser = Analyser("porter", "lucene")
    together, calls, call_java = analyser.terms(texts), list[str](), analyser._call
    monkeypatch.setattr(analyser, "_call", lambda *given: calls.append(given[1]) or call_java(*given))
    monkeypatch.setattr(analysis, "CHARACTERS_AT_ONCE", 15)
    assert analyser.terms(texts) == together
    assert len(calls) == 3


def test_a_text_that_java_has_no_memory_for_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    from jnius import JavaException

    def fails(*given: Any) -> None:
        raise JavaException("no heap", "java.lang.OutOfMemoryError")

    analyser = Analyser("porter", "lucene")
    monkeypatch.setattr(analyser, "_call", fails)
    with pytest.raises(SetupError, match="512 MB of memory over a text of 5 characters; cut long documents"):
        analyser.terms(["pears"])


PASSAGES = {
    "zoo cat": {"zoo": 3, "cat": 1},
    "dog": {"dog": 7},
    "lost": {},
    "stop words": {"the": 5, "of": 1},
    "stems": {"fish": 4, "running": 3, "runs": 2, "the": 90},
}
"""Sorted and divided: 3/4, 1/4; 1; nothing; nothing; run 5/9, fish 4/9."""


def measure(folder: Path, **weightings: list[Path]) -> dict[str, dict]:
    counts = measure_distribution(weightings, OPTIONS, LUCENE_WORDS, folder / "shares.json")
    found = json.loads((folder / "shares.json").read_text())
    assert found["ranks"] == RANK_COUNT == 10
    assert list(counts) == [row["weighting"] for row in found["weightings"]] == list(weightings)
    return {row["weighting"]: row for row in found["weightings"]}


def test_shares_by_hand(tmp_path: Path) -> None:
    row = measure(tmp_path, few=[write_vectors(tmp_path / "0.parquet", PASSAGES)])["few"]
    assert (row["passages"], row["passages_without_terms"], row["mean_terms"]) == (5, 2, 5 / 3)
    assert row["shares"][:2] == pytest.approx([(3 / 4 + 1 + 5 / 9) / 3, (1 / 4 + 0 + 4 / 9) / 3], rel=1e-15)
    assert row["shares"][2:] == [0.0] * 8
    assert row["passages_reaching"] == [3, 2, *[0] * 8]


def test_shards_change_no_byte(tmp_path: Path) -> None:
    names = list(PASSAGES)
    whole = write_vectors(tmp_path / "whole.parquet", PASSAGES)
    parts = [
        write_vectors(tmp_path / f"{number}.parquet", {name: PASSAGES[name] for name in some})
        for number, some in enumerate((names[3:], names[:1], [], names[1:3]))
    ]
    measure_distribution({"few": [whole]}, OPTIONS, LUCENE_WORDS, tmp_path / "one.json")
    measure_distribution({"few": parts}, OPTIONS, LUCENE_WORDS, tmp_path / "several.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "several.json").read_bytes()


def test_a_weighting_that_leaves_no_term_has_no_shares(tmp_path: Path) -> None:
    row = measure(tmp_path, none=[write_vectors(tmp_path / "0.parquet", {"a": {}, "b": {"the": 1}})])["none"]
    assert row["shares"] == [None] * 10
    assert (row["passages_without_terms"], row["mean_terms"]) == (2, None)


passages = st.lists(st.lists(st.integers(1, 1_000_000), max_size=15), max_size=12)


@given(passages, st.randoms())
def test_means_are_those_of_exact_fractions_in_any_order(weights: list[list[int]], random) -> None:
    shares, shuffled = Shares(), Shares()
    for passage in weights:
        shares.add(passage)
    for passage in random.sample(weights, len(weights)):
        shuffled.add(random.sample(passage, len(passage)))
    assert shuffled.means() == shares.means()
    retained = [sorted(passage, reverse=True) for passage in weights if passage]
    if not retained:
        assert shares.means() == [None] * RANK_COUNT
        return
    exact = [
        sum((Fraction(p[rank], sum(p)) for p in retained if rank < len(p)), Fraction(0)) / len(retained)
        for rank in range(RANK_COUNT)
    ]
    assert shares.means() == pytest.approx([float(share) for share in exact], rel=1e-14)
    assert shares.means() == sorted(shares.means(), reverse=True)
