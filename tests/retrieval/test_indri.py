"""Indri's query likelihood: by hand, against Lucene's own Indri classes, and windows against a plain search."""

import itertools
import json
import math
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_lucene import OPTIONS, TEXT, write_weights

from irpretrain.config.retrieval import IndriOptions
from irpretrain.evaluation.runs import read_run
from irpretrain.foundation.errors import InputError, IntegrityError
from irpretrain.retrieval import lucene
from irpretrain.retrieval.analysis import Analyser
from irpretrain.retrieval.indri import Positions, build_positions, read_weighted_queries, search_weighted
from irpretrain.retrieval.java import java_class
from small_documents import write_documents, write_queries

BODIES = {
    "d1": "apple pie of apple",
    "d2": "pie apple banana",
    "d3": "apple and pie",
    "d4": "banana",
    "d5": "the of",
    "d6": "",
}
"""In terms: a p _ a | p a b | a _ p | b | | ; nine in all: apple 4, pie 3, banana 2."""
MU = 10.0
INQUERY = Path(__file__).parents[2] / "resources/stopwords/inquery.txt"
PLAIN = IndriOptions(stemmer="porter", stop_list="lucene", mu=MU)
"""What the numbers by hand are for."""
DEPENDENT = PLAIN._replace(dependence=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("positions")
    halves = [dict(list(BODIES.items())[:2]), dict(list(BODIES.items())[2:])]
    shards = [write_documents(folder / f"{i}.parquet", half) for i, half in enumerate(halves)]
    counts = build_positions(shards, PLAIN, TEXT, folder / "positions")
    assert counts == {"documents": 6, "terms": 3, "occurrences": 9}
    return folder


def test_positions_do_not_depend_on_how_many_fit_in_memory(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("irpretrain.retrieval.indri.OCCURRENCES_AT_ONCE", 2)
    build_positions([folder / "0.parquet", folder / "1.parquet"], PLAIN, TEXT, tmp_path / "positions")
    in_pieces, whole = (
        {path.name: path.read_bytes() for path in (parent / "positions").iterdir()}
        for parent in (tmp_path, folder)
    )
    assert in_pieces == whole


def retrieve(folder: Path, tmp_path: Path, texts, weights=None, indri: IndriOptions = PLAIN, depth: int = 10):
    queries = write_queries(tmp_path / "queries.parquet", texts)
    given = None if weights is None else write_weights(tmp_path / "weights.parquet", weights)
    counts = search_weighted(
        Positions.open(folder / "positions", indri, "alphanumeric"),
        read_weighted_queries(queries, given, "alphanumeric", Analyser.of(indri)),
        indri,
        depth,
        tmp_path / "run.gz",
        "indri",
    )
    run = read_run(tmp_path / "run.gz")
    return {query: dict(ranking) for query, ranking in run.items()}, counts


def belief(count: float, collection: float, length: int, mu: float = MU) -> float:
    return math.log((count + mu * collection / 9) / (length + mu))


def test_a_weighted_bag_of_words_by_hand(folder: Path, tmp_path: Path) -> None:
    """#weight(0.8 apple 0.4 pie): the mean of both beliefs, two parts to one."""
    found, counts = retrieve(folder, tmp_path, {"q": "apple pie"}, {"q": {"apple": 0.8, "pie": 0.4}})
    assert found["q"] == pytest.approx(
        {
            "d1": 2 / 3 * belief(2, 4, 3) + 1 / 3 * belief(1, 3, 3),
            "d2": 2 / 3 * belief(1, 4, 3) + 1 / 3 * belief(1, 3, 3),
            "d3": 2 / 3 * belief(1, 4, 2) + 1 / 3 * belief(1, 3, 2),
        },
        abs=1e-12,
    )
    assert {name: count for name, count in counts.items() if count} == {"queries": 1, "candidates": 3}


def test_terms_that_a_document_lacks_count_too(folder: Path, tmp_path: Path) -> None:
    found, _ = retrieve(folder, tmp_path, {"q": "bananas pie zoo"})
    both = {"d1": (0, 1, 3), "d2": (1, 1, 3), "d3": (0, 1, 2), "d4": (1, 0, 1)}
    wanted = {
        name: (belief(b, 2, length) + belief(p, 3, length) + belief(0, 0.5, length)) / 3
        for name, (b, p, length) in both.items()
    }
    assert found["q"] == pytest.approx(wanted, abs=1e-12)


def test_weights_of_one_stem_add_up_and_others_are_dropped(folder: Path, tmp_path: Path) -> None:
    weights = {
        "stems": {"apple": 0.25, "apples": 0.5, "pie": 0.25, "the": 9.0},
        "same": {"apple": 0.75, "pie": 0.25},
        "dropped": {"apple": -1.0, "pie": 0.5, "banana": 0.0},
        "alone": {"pie": 3.0},
        "nothing": {"apple": -0.1},
    }
    texts = {name: " ".join(given) for name, given in weights.items()}
    found, counts = retrieve(folder, tmp_path, texts, weights)
    assert found["stems"] == found["same"]
    assert found["dropped"] == found["alone"]
    assert "nothing" not in found
    assert (counts["queries_without_weights"], counts["queries_without_candidates"]) == (1, 1)


CUT = {
    "abbreviation": ("U.S.", ["u", "s"]),
    "apostrophe": ("don't", ["don", "t"]),
    "possessive": ("the dog's", ["dog", "s"]),
    "number": ("1,000.5", ["1", "000", "5"]),
    "hyphen": ("e-mail", ["e", "mail"]),
}
"""What Lucene's tokeniser cuts otherwise than `text.words`, and its words by hand (without stop words)."""


@pytest.mark.parametrize("name", CUT)
def test_documents_and_queries_are_cut_alike(tmp_path: Path, name: str) -> None:
    """With weights and without them every word of the query is found; equal weights are the frequencies' run."""
    written, words = CUT[name]
    documents = write_documents(tmp_path / "d.parquet", {"d": written, "other": "zoo"})
    counts = build_positions([documents], PLAIN, TEXT, tmp_path / "positions")
    assert counts["occurrences"] == len(words) + 1
    weights = {"q": dict.fromkeys(words, 0.5)}
    for indri in (PLAIN, DEPENDENT):
        weighted, _ = retrieve(tmp_path, tmp_path, {"q": written}, weights, indri)
        plain, _ = retrieve(tmp_path, tmp_path, {"q": written}, None, indri)
        assert list(weighted["q"]) == ["d"]
        assert weighted["q"] == pytest.approx(plain["q"], abs=1e-12)
    bag, _ = retrieve(tmp_path, tmp_path, {"q": written}, weights)
    length, total = len(words), len(words) + 1
    assert bag["q"]["d"] == pytest.approx(math.log((1 + MU / total) / (length + MU)), abs=1e-12)


def test_a_contraction_of_the_stop_list_is_no_term_however_it_is_cut(tmp_path: Path) -> None:
    """INQUERY's "doesn't" is one word of Lucene's, and "doesn" and "t" of `text.words`."""
    indri = IndriOptions()
    documents = write_documents(tmp_path / "d.parquet", {"d": "It doesn't, zoo", "other": "zoos"})
    assert build_positions([documents], indri, TEXT, tmp_path / "positions")["occurrences"] == 2
    assert Analyser.of(indri).terms(["doesn't doesn t zoos cherries"]) == [["zoo", "cherry"]]
    found, _ = retrieve(tmp_path, tmp_path, {"q": "Doesn't the zoo?", "stops": "doesn't"}, indri=indri)
    assert list(found) == ["q"]


def test_words_that_lucene_cuts_further_have_a_position_for_each_piece(tmp_path: Path) -> None:
    """A run of ideographs is one word of ours and as many terms as ideographs."""
    documents = write_documents(tmp_path / "d.parquet", {"d": "東京 zoo", "other": "京東"})
    assert build_positions([documents], PLAIN, TEXT, tmp_path / "positions")["occurrences"] == 5
    opened = Positions.open(tmp_path / "positions", PLAIN, "alphanumeric")
    assert opened.ordered("東", "京").tolist() == [0]
    assert opened.ordered("京", "zoo").tolist() == [1]


def test_sequential_dependence_by_hand(folder: Path, tmp_path: Path) -> None:
    """One pair: #od1(apple pie) in d1 alone, as a stop word parts the two in d3; #uw8 in d1 twice, in d2 and in d3."""
    weights = {"q": {"apple": 0.9, "pie": 0.1}}
    found, _ = retrieve(folder, tmp_path, {"q": "apple pie"}, weights, DEPENDENT)
    rows = {"d1": (2, 1, 1, 2, 3), "d2": (1, 1, 0, 1, 3), "d3": (1, 1, 0, 1, 2)}
    wanted = {
        name: 0.8 * (0.9 * belief(a, 4, length) + 0.1 * belief(p, 3, length))
        + 0.1 * belief(ordered, 1, length)
        + 0.1 * belief(unordered, 4, length)
        for name, (a, p, ordered, unordered, length) in rows.items()
    }
    assert found["q"] == pytest.approx(wanted, abs=1e-7)  # weights are single precision


def test_a_query_of_one_term_is_a_bag_of_words(folder: Path, tmp_path: Path) -> None:
    plain, _ = retrieve(folder, tmp_path, {"q": "the apples"})
    structured, _ = retrieve(folder, tmp_path, {"q": "the apples"}, indri=DEPENDENT)
    assert structured["q"] == pytest.approx(plain["q"], abs=1e-12)


def test_depth_and_ties_and_queries_without_terms(folder: Path, tmp_path: Path) -> None:
    texts = {"q": "pie", "stops": "the", "none": "zoo", "empty": ""}
    found, counts = retrieve(folder, tmp_path, texts, depth=2)
    assert list(found) == ["q"]
    assert list(found["q"]) == ["d3", "d1"]  # d1 and d2 tie: the first by identifier stays
    assert counts["queries_without_candidates"] == 3


@pytest.mark.parametrize(
    ("stemmer", "stop_list"),
    [("porter", "lucene"), ("krovetz", "inquery"), ("none", "none")],
)
def test_lucene_s_own_indri_similarity_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stemmer: str, stop_list: str
) -> None:
    """Lucene's IndriDirichletSimilarity has the belief of one term; lengths up to 39 are exact in its index. (Lucene's
    IndriAndQuery over such terms gives every document the score 0, so the mean of beliefs is taken here.) Anserini
    reads INQUERY's list from the file.
    """
    random = np.random.default_rng(5)
    indri = IndriOptions(stemmer=stemmer, stop_list=stop_list, mu=25.0)
    words = ["apple", "pie", "banana", "cherries", "runs", "zoos", "the", "however", "amounted"]
    if stop_list == "inquery":  # other lists keep it: two words here, one of Lucene's
        words.append("doesn't")
    bodies = {f"d{i:02}": " ".join(random.choice(words, random.integers(1, 39))) for i in range(40)}
    documents = write_documents(tmp_path / "documents.parquet", bodies)
    build_positions([documents], indri, TEXT, tmp_path / "positions")
    stops = {"none": ["-keepStopwords"], "lucene": [], "inquery": ["-stopwords", str(INQUERY)]}[stop_list]
    monkeypatch.setattr(lucene, "_analyser_arguments", lambda options, words: ["-stemmer", stemmer, *stops])
    lucene.index([documents], OPTIONS, TEXT, tmp_path / "index")
    weights = {
        "q1": {"apple": 0.5, "runs": 0.25},
        "q2": {"pie": 1.0, "zoos": 2.0, "cherries": 0.5},
        "q3": {"amounted": 1.0, "however": 0.5, "the": 0.25},
    }
    texts = {name: " ".join(words) for name, words in weights.items()}
    found, _ = retrieve(tmp_path, tmp_path, texts, weights, indri=indri, depth=100)
    reader = java_class("io.anserini.index.IndexReaderUtils").getReader(str(tmp_path / "index"))
    retained = {
        document: [word for word in body.split() if word not in STOPPED[stop_list]]
        for document, body in bodies.items()
    }
    for name, given_weights in weights.items():
        requested = {word: weight for word, weight in given_weights.items() if word not in STOPPED[stop_list]}
        scores = {
            word: lucene_beliefs(reader, word, STEMS[stemmer].get(word, word), retained, 25.0)
            for word in requested
        }
        held = [document for document, words in retained.items() if set(requested) & set(words)]
        wanted = {
            document: sum(requested[word] * scores[word][document] for word in requested)
            / sum(requested.values())
            for document in held
        }
        assert found[name] == pytest.approx(wanted, abs=1e-5)
        assert len(held) > 10
    reader.close()


STEMS: dict[str, dict[str, str]] = {
    "porter": {"runs": "run", "zoos": "zoo", "apple": "appl", "cherries": "cherri", "amounted": "amount"}
    | {"however": "howev"},
    "krovetz": {"zoos": "zoo", "cherries": "cherry", "amounted": "amount"},
    "none": {},
}
STOPPED = {"none": set(), "lucene": {"the"}, "inquery": {"the", "however", "doesn't"}}


def lucene_beliefs(
    reader, word: str, stem: str, documents: Mapping[str, list[str]], mu: float
) -> dict[str, float]:
    """The belief in a word of every document, those without it too; counts of the collection are the index's."""
    searcher = java_class("org.apache.lucene.search.IndexSearcher")(reader)
    term = java_class("org.apache.lucene.index.Term")("contents", stem)
    counts = reader.docFreq(term), reader.totalTermFreq(term)
    name = "org.apache.lucene.search.similarities.IndriDirichletSimilarity"
    similarity = java_class(name)(java_class(f"{name}$IndriCollectionModel")(), mu)
    statistics = searcher.collectionStatistics("contents"), searcher.termStatistics(term, *counts)
    scored = similarity.scorer(1.0, *statistics)
    return {name: scored.score(float(words.count(word)), len(words)) for name, words in documents.items()}


def plain_windows(documents: list[list[str]], first: str, second: str, window: int) -> list[tuple[int, int]]:
    """(document, place) of each occurrence of one that the other's next occurrence follows within the window."""
    found = set()
    for number, words in enumerate(documents):
        for one, two in {(first, second), (second, first)}:
            for position, word in enumerate(words):
                later = [n for n in range(position + 1, len(words)) if words[n] == two]
                if word == one and later and later[0] - position < window:
                    found.add((number, position, one))
    return sorted((number, position) for number, position, _ in found)


@given(
    documents=st.lists(st.lists(st.sampled_from("abc-"), max_size=12), min_size=1, max_size=4),
    window=st.integers(2, 9),
)
def test_windows_are_those_of_a_plain_search(documents: list[list[str]], window: int) -> None:
    positions = in_memory(documents)
    for first, second in itertools.product("abc", repeat=2):
        ordered = positions.ordered(first, second)
        assert windows_of(positions, ordered) == [
            (number, position)
            for number, words in enumerate(documents)
            for position in range(len(words) - 1)
            if (words[position], words[position + 1]) == (first, second)
        ]
        unordered = positions.unordered(first, second, window)
        assert windows_of(positions, unordered) == plain_windows(documents, first, second, window)


def windows_of(positions: Positions, found: np.ndarray) -> list[tuple[int, int]]:
    owners = positions.documents_of(found)
    return [(int(d), int(p - positions.starts[d])) for d, p in zip(owners, found, strict=True)]


def in_memory(documents: list[list[str]]) -> Positions:
    starts = np.cumsum([0, *map(len, documents)])
    flat = np.array([word for words in documents for word in words], dtype="U1")
    by_term = [np.flatnonzero(flat == term) for term in "abc"]
    bounds = np.cumsum([0, *map(len, by_term)])
    lengths = np.array([sum(word != "-" for word in words) for words in documents], np.int32)
    names = [f"d{i}" for i in range(len(documents))]
    return Positions(names, starts, lengths, {"a": 0, "b": 1, "c": 2}, bounds, np.concatenate(by_term))


def test_faults(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"query 'q2' of .* has no weights here"):
        retrieve(folder, tmp_path, {"q1": "apple", "q2": "pie"}, {"q1": {"apple": 1.0}})
    with pytest.raises(IntegrityError, match="these are not positions"):
        retrieve(tmp_path, tmp_path, {"q1": "apple"})
    with pytest.raises(IntegrityError, match="made with stemmer porter, the configuration has none"):
        Positions.open(folder / "positions", PLAIN._replace(stemmer="none"), "alphanumeric")
    with pytest.raises(IntegrityError, match="made with words alphanumeric, the configuration has letters"):
        Positions.open(folder / "positions", PLAIN, "letters")
    record = json.loads((folder / "positions/names.json").read_text())
    (tmp_path / "positions").mkdir()
    (tmp_path / "positions/names.json").write_text(json.dumps({**record, "words": None}))
    with pytest.raises(IntegrityError, match="made with words"):
        Positions.open(tmp_path / "positions", PLAIN, "alphanumeric")
    shutil.rmtree(tmp_path / "positions")
    empty = write_documents(tmp_path / "empty.parquet", {"a": "the"})
    with pytest.raises(InputError, match="these documents have no terms"):
        build_positions([empty], PLAIN, TEXT, tmp_path / "positions")
    assert not (tmp_path / "positions").exists()
