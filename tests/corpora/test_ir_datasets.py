"""`ir_datasets:<id>`: documents, queries, judgements and candidates of the package ir_datasets.

A stand-in has its data sets; to use the package: pip install --no-deps --target FOLDER ir_datasets==0.6.3 lxml lz4, and
IR_DATASETS=FOLDER in the environment. Nothing is downloaded: a tiny Vaswani lies where ir_datasets keeps what it has
unpacked.
"""

import os
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

from base_config import configuration
from irpretrain import Collection, read_documents
from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.formats import ir_datasets
from irpretrain.corpora.formats.ir_datasets import (
    describe_part,
    downloads_text,
    read_records,
    text_of,
)
from irpretrain.corpora.registry import Kind, format_of
from irpretrain.corpora.sources import check_downloads, used_ir_datasets, write_shard
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError, InputError, IRPretrainError, SetupError

FOLDER = os.environ.get("IR_DATASETS")
TITLED = "titled"


class TitledDocument(NamedTuple):
    """A document of the registered data set."""

    doc_id: str
    title: str
    text: str

    def default_text(self) -> str:
        return f"{self.title} {self.text}"


def write_vaswani(home: Path, documents: int = 5) -> None:
    """Write a tiny Vaswani as ir_datasets unpacks it: document and query i are about word i."""
    folder = home / "vaswani"
    folder.mkdir(parents=True, exist_ok=True)
    docs = [f"{number}\nradio wave number{number} of a circuit\n   /\n" for number in range(1, documents + 1)]
    queries = [f"{number}\nnumber{number}\n/\n" for number in range(1, documents + 1)]
    qrels = [f"{number}\n {number}\n   /\n" for number in range(1, documents + 1)]
    for name, parts in (("docs", docs), ("queries", queries), ("qrels", qrels)):
        (folder / f"{name}.txt").write_text("".join(parts))


class StandInDataset:
    """A data set of ir_datasets by its parts."""

    def __init__(self, **parts: Any) -> None:
        self._parts = parts
        for part, records in parts.items():
            setattr(self, f"{part}_iter", records if callable(records) else lambda records=records: records)

    def has(self, part: str) -> bool:
        return part in self._parts

    def docs_store(self) -> None:
        return None

    def docs_count(self) -> int:
        return len(self._parts["docs"])


def stand_in() -> Any:
    """What is used of ir_datasets, with data sets of the same content as those of the fixture `library`."""
    package: Any = ModuleType("ir_datasets")
    package.__version__ = "stand-in"
    package.util = SimpleNamespace(home_path=lambda: "home")
    package.lazy_libs = SimpleNamespace(requests=lambda: None)
    plain_document = namedtuple("PlainDocument", "doc_id text")
    plain_document.default_text = lambda self: self.text
    topic = namedtuple("Topic", "query_id title description narrative")
    topic.default_text = lambda self: self.title
    judgement = namedtuple("Judgement", "query_id doc_id relevance")
    retrieved = namedtuple("Retrieved", "query_id doc_id score")
    texts = [(str(n), f"radio wave number{n} of a circuit") for n in range(1, 6)]
    vaswani = {
        "docs": lambda: (plain_document(*text) for text in texts),
        "queries": [topic(name, text, "", "") for name, text in texts],
        "qrels": [judgement(name, name, 1) for name, _ in texts],
    }
    parts = ("docs", "queries", "qrels")
    absent = StandInDataset(**dict.fromkeys(parts, lambda: package.lazy_libs.requests()))
    absent_when_read = StandInDataset(
        **dict.fromkeys(parts, lambda: (package.lazy_libs.requests() for _ in range(1)))
    )
    package.registry = {
        TITLED: StandInDataset(
            docs=[TitledDocument(f"d{n}", f"Title {n}", f"Text of document {n}.") for n in range(2500)],
            queries=[topic("q1", "short", "longer", "all")],
            qrels=[judgement("q1", "d3", 2), judgement("q1", "d4", 0)],
            scoreddocs=[retrieved("q1", "d3", 2.5), retrieved("q1", "d4", 1.5)],
        ),
        "vaswani": StandInDataset(**vaswani),
        "cranfield": absent_when_read,
        "msmarco-passage": StandInDataset(docs=absent.docs_iter),
        **dict.fromkeys(
            ("disks45/nocr/trec-robust-2004", "msmarco-passage/dev", "msmarco-passage/train"), absent
        ),
    }
    package.load = package.registry.__getitem__
    package.docs_parent_id = lambda identifier: identifier.partition("/")[0]
    return package


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """ir_datasets with a home of its own, in which lies Vaswani, and with a data set that has titles and candidates."""
    with pytest.MonkeyPatch.context() as patch:
        if FOLDER is None:
            patch.setitem(sys.modules, "ir_datasets", stand_in())
            yield sys.modules["ir_datasets"]
            return
        home = tmp_path_factory.mktemp("home")
        write_vaswani(home)
        patch.setenv("IR_DATASETS_HOME", str(home))
        patch.syspath_prepend(FOLDER)
        forget_package(patch)  # it reads where its home is when it is imported
        import ir_datasets

        register(ir_datasets, home / "own")
        yield ir_datasets
        forget_package(patch)


def forget_package(patch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "ir_datasets"]:
        patch.delitem(sys.modules, name)


def register(library: ModuleType, folder: Path) -> None:
    folder.mkdir()
    rows = [f"d{number}\tTitle {number}\tText of document {number}." for number in range(2500)]
    (folder / "docs.tsv").write_text("\n".join(rows) + "\n")
    (folder / "topics.txt").write_text(
        "<top>\n<num> Number: q1\n<title> short\n<desc> Description:\nlonger\n<narr> Narrative:\nall\n</top>\n"
    )
    (folder / "qrels.txt").write_text("q1 0 d3 2\nq1 0 d4 0\n")
    (folder / "run.txt").write_text("q1 Q0 d3 1 2.5 x\nq1 Q0 d4 2 1.5 x\n")
    at = lambda name: library.util.LocalDownload(folder / name)  # noqa: E731
    parts = (
        library.formats.TsvDocs(at("docs.tsv"), doc_cls=TitledDocument),
        library.formats.TrecQueries(at("topics.txt")),
        library.formats.TrecQrels(at("qrels.txt"), {}),
        library.formats.TrecScoredDocs(at("run.txt")),
    )
    library.registry.register(TITLED, library.Dataset(*parts))


def records(folder: Path, kind: Kind, part: str, identifier: str = TITLED, **options: Any) -> list[Any]:
    module = format_of(kind, "ir_datasets")
    describe_part(identifier, part, False, folder / "part.json")
    return list(module.read(folder / "part.json", module.options(**options)))


def shard_rows(folder: Path, shards: int) -> list[dict[str, Any]]:
    config = CorpusConfig(path=f"ir_datasets:{TITLED}", shards=shards)
    describe_part(TITLED, "docs", shards > 1, folder / "docs.json")
    rows: list[dict[str, Any]] = []
    for shard in range(shards):
        out = folder / f"{shards}-{shard}"
        write_shard(config, folder / "docs.json", shard, f"{out}.parquet", f"{out}-redirects.parquet")
        rows += pq.read_table(f"{out}.parquet").to_pylist()
    return rows


def test_a_document_has_its_title_apart_from_its_text(library, tmp_path):
    first = records(tmp_path, "documents", "docs")[0]
    assert (first.document_id, first.title, first.body) == ("d0", "Title 0", "Text of document 0.")
    untitled = records(tmp_path, "documents", "docs", "vaswani")[1]
    assert (untitled.document_id, untitled.title) == ("2", "")
    assert untitled.body == "radio wave number2 of a circuit"


@pytest.mark.parametrize(
    ("title", "text", "fields", "body"),
    [
        ("Pear", "Pear A fruit.", None, "A fruit."),
        ("Pear", "Pear", None, ""),
        ("Pear ", "Pear A fruit.", None, "A fruit."),
        ("A", "An apple", None, "An apple"),
        ("Pear", "Pear pie", ["text"], "Pear pie"),
        ("Pear", "A fruit.", ["title", "text"], "Pear A fruit."),
    ],
)
def test_only_a_whole_title_is_cut_off_a_default_text(monkeypatch, title, text, fields, body):
    document = namedtuple("Plain", "doc_id title text")("d0", title, text)
    type(document).default_text = lambda self: self.text
    monkeypatch.setattr(ir_datasets, "read_description", lambda path: (TITLED, "docs", None))
    monkeypatch.setattr(ir_datasets, "read_records", lambda *arguments: [document])
    reader = ir_datasets.DOCUMENTS
    [found] = reader.read(Path("docs.json"), reader.options(fields=fields))
    assert (found.title, found.body) == (title.strip(), body)


def test_shards_have_slices_that_together_are_the_corpus(library, tmp_path):
    whole = shard_rows(tmp_path, 1)
    assert [row["document_id"] for row in whole] == [f"d{number}" for number in range(2500)]
    assert shard_rows(tmp_path, 3) == whole
    assert [DOCUMENTS.count(tmp_path / f"3-{shard}.parquet") for shard in range(3)] == [833, 833, 834]
    assert [record.doc_id for record in read_records("vaswani", "docs", 1, 3)] == ["2", "3"]


def test_queries_judgements_and_candidates(library, tmp_path):
    assert [(q.query_id, q.text) for q in records(tmp_path, "topics", "queries")] == [("q1", "short")]
    [document, *_] = records(tmp_path, "documents", "docs", fields=["text", "doc_id"])
    assert document.body == "Text of document 0. d0"
    with pytest.raises(InputError, match="Name some of a, b by option fields"):
        text_of(namedtuple("Bare", "a b")("x", "y"), None, TITLED)
    [both] = records(tmp_path, "topics", "queries", fields=["title", "description"])
    assert both.text == "short longer"
    with pytest.raises(InputError, match="there is no field descripton; did you mean description"):
        records(tmp_path, "topics", "queries", fields=["descripton"])
    judged = records(tmp_path, "judgements", "qrels")
    assert [(j.query_id, j.document_id, j.relevance) for j in judged] == [("q1", "d3", 2), ("q1", "d4", 0)]
    run = records(tmp_path, "runs", "scoreddocs")
    assert [(r.document_id, r.score, r.rank) for r in run] == [("d3", 2.5, None), ("d4", 1.5, None)]


@pytest.mark.parametrize("identifier", ["cranfield", "msmarco-passage", "disks45/nocr/trec-robust-2004"])
def test_what_is_not_downloaded_is_refused_with_the_command_that_downloads_it(library, identifier, tmp_path):
    with pytest.raises(InputError) as caught:
        describe_part(identifier, "docs", False, tmp_path / "docs.json")
    assert not (tmp_path / "docs.json").exists()
    assert f"ir_datasets:{identifier}: its docs are not in {ir_datasets.home()}" in str(caught.value)
    assert f"`ir_datasets export {identifier} docs > /dev/null` downloads them" in str(caught.value)


def test_all_that_is_not_downloaded_comes_at_once(library):
    experiment = {"dataset": "ir_datasets:cranfield", "models": ["control"], "regimes": ["zero-shot"]}
    with pytest.raises(ConfigError) as caught:
        check_downloads(configuration(experiments={"one": experiment}))
    assert str(caught.value).count("ir_datasets export cranfield") == 3
    there = configuration(experiments={"one": {**experiment, "dataset": "ir_datasets:vaswani"}})
    check_downloads(there)
    assert downloads_text(used_ir_datasets(there)).splitlines() == [
        f"ir_datasets, in {ir_datasets.home()}",
        *(f"  vaswani {part}: present" for part in ("docs", "queries", "qrels")),
    ]
    missing = "  cranfield docs: missing; ir_datasets export cranfield docs > /dev/null"
    assert missing in downloads_text([("cranfield", "docs")])


@pytest.mark.parametrize(
    ("identifier", "message"),
    [
        ("vaswanni", "did you mean vaswani?"),
        ("msmarco-passage", "has no queries; ir_datasets:msmarco-passage/dev, "),
    ],
)
def test_an_identifier_that_leads_nowhere_is_refused_with_what_is_near(library, identifier, message):
    with pytest.raises(IRPretrainError) as caught:
        configuration(experiments={"one": {"dataset": f"ir_datasets:{identifier}", "models": []}})
    assert message in str(caught.value)


def test_a_name_stands_for_corpus_data_set_and_candidates(library):
    config = configuration(
        collections={"pretraining": [f"ir_datasets:{TITLED}"]},
        corpora={"ir-datasets-titled": {"shards": 3}},
        experiments={
            "one": {"dataset": f"ir_datasets:{TITLED}", "candidates": f"ir_datasets:{TITLED}", "models": []}
        },
    )
    assert config.collections["pretraining"] == ["ir-datasets-titled"]
    assert (config.corpora["ir-datasets-titled"].format, config.corpora["ir-datasets-titled"].shards) == (
        "ir_datasets",
        3,
    )
    assert config.experiments["one"].candidates == "ir-datasets-titled"
    assert config.datasets["ir-datasets-titled"].label == TITLED
    assert config.first_stages["ir-datasets-titled"].runs["ir-datasets-titled"].paths == [
        "ir_datasets:titled"
    ]


def test_candidates_without_a_data_set_are_an_unknown_name(library):
    with pytest.raises(ConfigError, match="'ir_datasets:titled' is not in first_stages"):
        configuration(
            first_stages={
                "own": {
                    "label": "own",
                    "training_candidates": "ir_datasets:titled",
                    "runs": {"squad": {"path": "run"}},
                }
            },
            experiments={"one": {"dataset": "squad", "first_stages": ["own"]}},
        )


def test_without_the_package_one_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(SetupError, match="python -m pip install ir_datasets=="):
        configuration(experiments={"one": {"dataset": "ir_datasets:vaswani", "models": []}})
    with pytest.raises(ConfigError, match=r"corpora\.c\.path: ir_datasets:… needs the package"):
        configuration(corpora={"c": {"path": "ir_datasets:vaswani"}})


@pytest.mark.parametrize(
    "entry",
    [{"format": "jsonl", "path": "ir_datasets:vaswani"}, {"format": "ir_datasets", "path": "docs.jsonl"}],
    ids=["another format", "another path"],
)
def test_path_and_format_must_fit(entry):
    with pytest.raises(ConfigError, match=r"is not of format .*; ir_datasets reads ir_datasets:<id>"):
        configuration(corpora={"c": entry})


def test_the_library_reads_it_without_a_workflow(library: ModuleType) -> None:
    identifiers = [document.doc_id for document in library.load("vaswani").docs_iter()]
    assert [document.document_id for document in read_documents("ir_datasets:vaswani")] == identifiers
    assert list(Collection.read("ir_datasets:vaswani").texts()) == identifiers


def test_an_open_reader_leaves_the_network_to_others(library: ModuleType) -> None:
    requests = library.lazy_libs.requests
    readers = [read_records(TITLED, "docs") for _ in range(2)]
    for reader in readers:
        next(reader)
        assert library.lazy_libs.requests is requests
    for reader in readers:
        reader.close()
    assert library.lazy_libs.requests is requests
