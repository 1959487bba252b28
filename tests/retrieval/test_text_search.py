"""A search of documents without an index ranks as the workflow's Lucene does: the same runs, byte for byte."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_lucene import OPTIONS, TEXT, stored_length

from irpretrain import Collection, Options
from irpretrain.axioms.rank_engine.bm25 import in_one_byte
from irpretrain.command import main
from irpretrain.config.text import TextConfig
from irpretrain.foundation.errors import ConfigError
from irpretrain.library.formats import read_topics
from irpretrain.retrieval import lucene, text_search
from small_documents import write_documents, write_queries


def lucene_run(folder: Path, collection: Collection, queries: dict[str, str], **changes: Any) -> bytes:
    """The run of the workflow's functions, unpacked."""
    options = collection.options.retrieval.model_copy(update={"memory_mb": 256, **changes})
    lucene.index([collection.documents], options, collection.options.text, folder / "index")
    table = write_queries(folder / "queries.parquet", queries)
    lucene.search(folder / "index", table, "bm25", options, folder / "workflow.run.gz")
    return gzip.decompress((folder / "workflow.run.gz").read_bytes())


def write_jsonl(path: Path, texts: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()))
    return path


def command_run(folder: Path, documents: Any, queries: dict[str, str], *more: str) -> bytes:
    topics = write_jsonl(folder / "topics.jsonl", queries)
    assert main(["search", str(documents), str(topics), str(folder / "run"), *more]) == 0
    return (folder / "run").read_bytes()


def test_the_command_writes_the_workflow_s_run(tmp_path: Path) -> None:
    queries = dict(list(read_topics("embedded:squad-dev").items())[:400])
    collection = Collection.read("embedded:squad-dev")
    expected = lucene_run(tmp_path, collection, queries, depth=100)
    assert command_run(tmp_path, "embedded:squad-dev", queries, "--depth", "100") == expected


def test_ties_stand_in_the_order_of_identifiers(tmp_path: Path) -> None:
    """The case: equal documents, the later identifier first in the file; the workflow finds d1."""
    names = ("d2", "d10", "d1", "ä", "Z")
    documents = write_jsonl(tmp_path / "documents.jsonl", dict.fromkeys(names, "apple pie"))
    assert command_run(tmp_path, documents, {"q": "apple"}, "--depth", "1").split()[2] == b"Z"
    found = Collection.read(documents).search(["apple"])
    assert found["doc_id"].tolist() == ["Z", "d1", "d10", "d2", "ä"]
    expected = lucene_run(tmp_path, Collection.read(documents), {"q": "apple"}, depth=10)
    assert command_run(tmp_path, documents, {"q": "apple"}, "--depth", "10") == expected


@pytest.mark.parametrize(
    "retrieval",
    [{"bm25": {"k1": 3.8, "b": 0.87}}, {"stemmer": "none", "stop_list": "none"}, {"bm25": {"b": 0.0}}],
)
def test_parameters_and_analysis_are_options(tmp_path: Path, retrieval: dict[str, Any]) -> None:
    bodies = {f"d{i}": "the running dog " * i + "and a cat's pie " * (i % 3) for i in range(1, 40)}
    collection = Collection(bodies, Options(retrieval=retrieval))
    queries = {"a": "running dogs", "b": "the cat", "c": "pie pie", "d": "zebra"}
    expected = lucene_run(tmp_path, collection, queries, depth=50).decode().split("\n")
    found = collection.search(queries)
    rows = [line.split()[:4] for line in expected if line]
    ours = [[row.query_id, "Q0", row.doc_id, str(row.rank)] for row in found.itertuples()]
    assert rows == ours


@pytest.mark.parametrize(
    ("language", "bodies", "query"),
    [
        ("german", {"b": "Die Häuser am Fluss", "a": "Das Haus am See", "c": "Ein Fluss"}, "Häusern"),
        ("chinese", {"b": "北京大学", "a": "北京的大学", "c": "大学"}, "北京大学"),
    ],
)
def test_another_language_has_lucene_s_analyser(
    tmp_path: Path, language: str, bodies: dict[str, str], query: str
) -> None:
    collection = Collection(bodies, Options(text={"language": language}))
    expected = lucene_run(tmp_path, collection, {"0": query}, depth=10).decode().split("\n")
    found = collection.search([query])["doc_id"].tolist()
    assert found == [line.split()[2] for line in expected if line]
    assert found


def test_without_lucene_another_language_has_snowball_s_stems_and_a_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(text_search.importlib.util, "find_spec", lambda name: None)
    collection = Collection({"a": "Das Haus"}, Options(text={"language": "german"}))
    assert collection.search(["Häuser der Stadt", "das"])["query_id"].tolist() == ["0"]  # das is a stop word
    assert "german: Lucene's analyser is not installed, so stems are Snowball's" in capsys.readouterr().err


def test_krovetz_needs_an_index() -> None:
    with pytest.raises(ConfigError, match=r"retrieval\.stemmer: krovetz needs an index"):
        Collection(["pie"], Options(retrieval={"stemmer": "krovetz"})).search(["pie"])


def test_ares_s_bm25_is_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """ares-bm25 saturates later: five apples stand above one apple in a short text."""
    bodies = {"long": "apple apple apple apple apple pie tart", "short": "apple"}
    documents = write_jsonl(tmp_path / "documents.jsonl", bodies)
    run = command_run(tmp_path, documents, {"q": "apple"})
    assert [row.split()[2] for row in run.splitlines()] == [b"long", b"short"]
    run = command_run(tmp_path, documents, {"q": "apple"}, "--model", "ares-bm25")
    assert run.split()[5] == b"ares-bm25"
    collection = Collection.read(documents)
    found = collection.search(["apple"], model="ares-bm25")
    pairs = [("apple", name) for name in found["doc_id"]]
    assert collection.ranks(pairs).tolist() == [1, 2]
    with pytest.raises(ConfigError, match="model: there is no 'ql'; there are bm25, ares-bm25"):
        collection.search(["apple"], model="ql")  # type: ignore[arg-type]
    capsys.readouterr()
    for setting, fault in (
        ("axioms.bm25.k1=2", "changes nothing in this search by bm25. It reads text.language, "),
        ("retrieval.bm25.k1=2 --model ares-bm25", "search by ares-bm25. It reads text.language, "),
        ("retrieval.depth=5", "retrieval.depth changes nothing in this search by bm25. Give --depth."),
        ("text.max_word_pieces=9", "--set text.max_word_pieces changes nothing"),
        ("axioms.rank_depth=9 --model ares-bm25", "--set axioms.rank_depth changes nothing"),
        ("axioms.plum=9 --model ares-bm25", "axioms.plum: unknown key"),
        ("axioms=9 --model ares-bm25", "axioms: should be"),
        ("retrieval.sweep.k1=[1,2]", "--set retrieval.sweep changes nothing"),
        ("pseudo_queries.seed=1", "--set pseudo_queries.seed changes nothing"),
    ):
        search = ["search", str(documents), str(tmp_path / "topics.jsonl"), "--set", *setting.split()]
        assert main(search) == 2
        assert fault in capsys.readouterr().err
    read = ["--model", "ares-bm25", "--set", "axioms.bm25.k1=2", "--set", "text.words=letters"]
    assert main(["search", str(documents), str(tmp_path / "topics.jsonl"), *read]) == 0


def test_an_index_refuses_the_model_of_documents(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    table = write_documents(tmp_path / "documents.parquet", {"a": "apple"})
    lucene.index([table], OPTIONS, TEXT, tmp_path / "index")
    (tmp_path / "topics.tsv").write_text("1\tapple\n")
    search = ["search", str(tmp_path / "index"), str(tmp_path / "topics.tsv")]
    assert main([*search, "--model", "ares-bm25"]) == 2
    assert "--model ares-bm25 is of documents, and this is an index." in capsys.readouterr().err
    assert main([*search, "--set", "retrieval.stemmer=none"]) == 2
    assert (
        "retrieval.stemmer changes nothing in this search by bm25. It reads retrieval.bm25,"
        in capsys.readouterr().err
    )
    assert main([*search, "--set", "retrieval.bm25.k1=0.5"]) == 0


def test_documents_without_terms_are_found_by_nothing() -> None:
    text = TextConfig(words="alphanumeric")
    for bodies in ([], ["the", ""]):
        found = Collection(bodies, Options(text=text.model_dump())).search(["the pie", ""])
        assert list(found) == ["query_id", "doc_id", "rank", "score"]
        assert not len(found)


def test_lengths_are_lucene_s() -> None:
    lengths = np.array([*range(3000), 10**6, 2**31 - 1], np.int32)
    assert in_one_byte(lengths).tolist() == list(map(stored_length, lengths.tolist()))
