"""Faults name what the user gave and what to do; models are looked for as the workflow does, never on the network."""

import importlib
import json
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pandas as pd
import pytest

from irpretrain import (
    Collection,
    CrossEncoder,
    Options,
    TermWeigher,
    finetune,
    load_predictor,
    own_groups,
    parse_wikitext,
    pretrain,
    read_documents,
    read_scores,
)
from irpretrain.command import main
from irpretrain.foundation.errors import ConfigError, InputError, IntegrityError, SetupError
from irpretrain.library.inputs import naming
from irpretrain.library.tables import ungraded_command

COMMIT = "1" * 40
PAIR = ("apple", ["apple pie", "pear"])


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache of the hub, and no way to it; HF_HUB_OFFLINE is not set."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the network is asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "load",
    [load_predictor, lambda name: ares_groups(name), read_scores],
    ids=["predictor", "ares", "scores"],
)
def test_what_is_not_there_is_said_to_be_missing(load: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"/nope: there is no such (folder|file)\n  Name ") as raised:
        load(tmp_path / "nope")
    assert "Delete" not in str(raised.value)
    with pytest.raises(InputError) as raised:
        load(tmp_path)
    assert "Delete" not in str(raised.value)


def ares_groups(predictor: Path) -> Any:
    options = Options(word_vectors={"minimum_count": 1, "dimensions": 4}, pseudo_queries={"minimum_count": 1})
    return Collection(["a pie of pears"], options).groups("ares", predictor=str(predictor))


@pytest.mark.parametrize("load", [CrossEncoder, TermWeigher, lambda name: Collection(["a"], encoder=name)])
def test_a_model_that_is_not_there_is_refused_with_the_command(load: Any, no_network: Path) -> None:
    with pytest.raises(InputError, match=r"there is no such folder\n.*\n.*`hf download me/model --include"):
        load("me/model")
    with pytest.raises(InputError, match="nope: there is no such folder"):
        load("nope")
    with pytest.raises(InputError, match="If it names a model of Hugging Face's hub: `hf download mdoels/a "):
        load("mdoels/a")


@pytest.mark.parametrize("load", [CrossEncoder, TermWeigher, lambda name: Collection(["a"], encoder=name)])
def test_a_model_of_the_cache_that_lacks_files_is_refused_with_the_command(
    load: Any, no_network: Path, tiny_encoder: Path
) -> None:
    snapshot = lay_in_cache(no_network, tiny_encoder)
    (snapshot / "model.safetensors").unlink()
    message = r"me/enc: there is no \*\.safetensors in .*\n  `hf download me/enc --include"
    with pytest.raises(InputError, match=message):
        load("me/enc")


def lay_in_cache(folder: Path, encoder: Path) -> Path:
    """Return the folder of an encoder in the hub's cache, where its name is me/enc."""
    cache = folder / "cache/models--me--enc"
    shutil.copytree(encoder, cache / "snapshots" / COMMIT)
    (cache / "refs").mkdir()
    (cache / "refs/main").write_text(COMMIT)
    return cache / "snapshots" / COMMIT


def test_the_record_names_the_encoder_of_the_cache(no_network: Path, tiny_encoder: Path) -> None:
    lay_in_cache(no_network, tiny_encoder)
    texts = ["word01 word02 word03 ab cd", "word01 ef gh", "word05 word06 word07 word01"]
    groups = Collection(texts, encoder="me/enc").groups("rop", minimum_count=1)
    pretrain(groups, "prop", steps=1, batch_groups=2, max_length=32, query_length=8)
    record = json.loads(Path("prop.meta.json").read_text())
    assert record["parameters"]["encoder"]["label"] == "me/enc"
    with pytest.raises(ConfigError, match=r"layers: should be greater than or equal to 1; given was 0"):
        pretrain(groups, "other", layers=0, steps=1, batch_groups=2)


@pytest.mark.parametrize(("language", "category"), [("de", "Kategorie"), ("zh", "分类")])
def test_categories_of_a_language_are_not_shown(language: str, category: str) -> None:
    page = parse_wikitext(f"Text.\n[[{category}:x]]", language=language)
    assert (page.body, len(page.links)) == ("Text.", 0)


def test_a_reranker_is_no_weigher(tmp_path: Path) -> None:
    from tiny_models import write_bert

    with pytest.raises(InputError, match="this is a sequence classifier, no token classifier"):
        TermWeigher(write_bert(tmp_path / "model", labels=1), max_length=32)


def test_a_weigher_refuses_keys_of_its_training(tmp_path: Path) -> None:
    from tiny_models import write_bert

    with pytest.raises(
        ConfigError, match=r"seed changes nothing here: .* inference, max_length, window_overlap"
    ):
        TermWeigher(write_bert(tmp_path / "model", labels=1), seed=2)


def test_the_parser_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)
    monkeypatch.delitem(sys.modules, "irpretrain.wikipedia.mwparserfromhell_parser", raising=False)
    dump = tmp_path / "dump.xml"
    dump.write_text('<mediawiki xml:lang="en"><page><title>A</title><ns>0</ns><id>1</id></page></mediawiki>')
    arguments = ["parse-dump", str(dump), str(tmp_path / "out"), "--set", "parser=mwparserfromhell"]
    assert main(arguments) == 2
    shown = capfd.readouterr().err
    assert (
        "the package mwparserfromhell, which is not installed.\n  In the clone: pip install '.[mwparserfromhell]'\n"
        in shown
    )
    assert "Traceback" not in shown


def test_faults_name_what_was_given(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^documents: no word outside the stop list occurs"):
        Collection(["a pie"]).groups("rop")
    file = tmp_path / "d.jsonl"
    file.write_text('{"id": "a", "text": "pie"}\n')
    collection = Collection.read(file)
    for compute in (
        lambda: collection.groups("rop"),
        lambda: collection.pseudo_queries(temperature=1),
    ):
        with pytest.raises(InputError) as raised:
            compute()
        assert str(raised.value).startswith(f"{file}: no word outside the stop list occurs")


def test_two_documents_of_a_file_share_no_identifier(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text('{"id": "a", "text": "pie"}\n{"id": "a", "text": "pear"}\n')
    with pytest.raises(InputError) as raised:
        Collection.read(file)
    places = f"in {file} (record 1) and in {file} (record 2)"
    assert str(raised.value).startswith(f"{file}: document id 'a' occurs 2 times: {places}\n")


def test_an_objective_without_a_group_is_named(tiny_encoder: Path, tmp_path: Path) -> None:
    collection = Collection(["one two three four five"], encoder=tiny_encoder)
    groups = [collection.groups("rop", minimum_count=1), collection.groups("ict")]
    message = r"^groups: objective ict made no group; documents skipped: 1 × [a-z ]+; leave it out$"
    with pytest.raises(ConfigError, match=message):
        pretrain(groups, tmp_path / "model", steps=1, batch_groups=1)


@pytest.mark.parametrize("error", [InputError, IntegrityError])
def test_messages_name_no_temporary_file(error: Any) -> None:
    names = {Path("/tmp/x/encoder"): "me/enc", Path("/tmp/x"): "d.jsonl"}
    with pytest.raises(error) as raised, naming(names):
        raise error("/tmp/x/a.parquet", "differs from /tmp/x/encoder/config.json", 3, "Delete it.")
    assert str(raised.value).startswith("d.jsonl:3: differs from me/enc\n")
    assert ("Delete" in str(raised.value)) == (error is InputError)
    with pytest.raises(ConfigError, match=r"^me/enc has 2 layers$"), naming(names):
        raise ConfigError("/tmp/x/encoder has 2 layers")
    with pytest.raises(InputError, match=r"^/data/a: Delete"), naming(names):
        raise error("/data/a", "Delete")


def test_progress_names_no_temporary_folder(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text('{"id": "a", "text": "pie"}\n{"id": "b", "text": " "}\n')
    collection = Collection.read(file)
    collection.ranks([("pie", "a")])
    collection.pseudo_queries(minimum_count=1, per_document=2)
    shown = capsys.readouterr().err
    assert "left out: 1 × empty document" in shown
    assert "irpretrain-" not in shown
    assert "shard" not in shown


def test_a_remedy_is_no_second_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises((ConfigError, SetupError)) as raised:
        Collection.read("ir_datasets:vaswani")
    assert "2 faults" not in str(raised.value)
    assert "pip install ir_datasets" in str(raised.value)


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


@pytest.mark.parametrize("malformed", ["refuse", {"skip": 0.01}])
@pytest.mark.parametrize(
    ("form", "content", "remedy"),
    [
        (
            "jsonl",
            '{"id": "a", "text": "crème"}\n{"id": "b", "text": "apple pie"}\n',
            r"Save the file as UTF-8 \(iconv -f windows-1252 -t utf-8; in Excel: CSV UTF-8\)\.",
        ),
        ("csv", "id,text\na,crème\nb,apple pie\n", r".*, or set encoding: windows-1252 in the options\."),
        ("smart", ".I 1\n.W\ncrème\n.I 2\n.W\npie\n", r".*, or set encoding: windows-1252 in the options\."),
        (
            "trectext",
            "<DOC><DOCNO>a</DOCNO>crème</DOC>\n<DOC><DOCNO>b</DOCNO>pie</DOC>\n",
            r"Give the corpus its encoding in options, such as latin-1\.",
        ),
    ],
)
def test_in_another_encoding_the_file_is_to_be_mended_not_its_records_skipped(
    tmp_path: Path, form: str, content: str, remedy: str, malformed: Any
) -> None:
    documents = tmp_path / "d"
    documents.write_bytes(content.encode("windows-1252"))
    with pytest.raises(InputError, match=rf"not valid (UTF|utf)-8: .*\n  {remedy}$"):
        Collection.read(documents, format=form, malformed=malformed)


def test_a_fault_of_the_file_is_told_before_one_of_a_record(tmp_path: Path) -> None:
    documents = tmp_path / "d.jsonl"
    documents.write_bytes('{\n{"id": "a", "text": "crème"}\n{"id": "b", "text": "pie"}\n'.encode("latin-1"))
    with pytest.raises(InputError, match=r"d\.jsonl:2: not valid UTF-8.*\n  Save the file"):
        Collection.read(documents, malformed={"skip": 0.01})
    Collection.read(documents, malformed="skip")


def test_malformed_records_are_left_out_where_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    documents, output = tmp_path / "d.jsonl", tmp_path / "out.jsonl"
    lines = [json.dumps({"id": name, "text": text}) for name, text in (("a", "apple pie"), ("b", " "))]
    documents.write_text("\n".join([*lines, "{", ""]))
    arguments = ("groups", "rop", documents, output, "--set", "minimum_count=1")
    assert run(*arguments) == 2
    assert "or add --option 'malformed={skip: 0.4}' to leave such records out" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"or set malformed: \{skip: 0\.4\} to leave such records out"):
        Collection.read(documents)
    for option in ("--set", "--option"):
        assert run(*arguments, option, "malformed={skip: 0.4}") == 0
    shown = capsys.readouterr().err
    assert "1 malformed records of 3 are left out" in shown
    assert "left out: 1 × empty document, first" in shown
    assert len(Collection.read(documents, malformed="skip")) == 1


def test_a_table_without_a_header_is_told_with_its_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "d.tsv").write_text("1\tApples are a fruit.\n")
    for options in ({}, {"columns": ["id", "text"]}):
        assert [document.document_id for document in read_documents(tmp_path / "d.tsv", **options)] == ["1"]
        note = "d.tsv] NOTE: its first line is no header; read as tsv; columns: id, text\n"
        assert (note in capsys.readouterr().err) == (not options)


def test_an_encoder_of_another_language_is_warned_of(
    tmp_path: Path, tiny_encoder: Path, capsys: pytest.CaptureFixture
) -> None:
    shutil.copytree(tiny_encoder, tmp_path / "encoder")
    (tmp_path / "encoder/README.md").write_text("---\nlanguage: fr\n---\n")
    Collection(["a"], encoder=tmp_path / "encoder")
    assert "was trained on French texts, and text.language is english" in capsys.readouterr().err


def test_nobody_is_told_to_leave_out_everything(tmp_path: Path) -> None:
    documents = tmp_path / "d.jsonl"
    documents.write_text('{"id": "a"}\n{"id": "b"}\n{"id": "c", "text": " "}\n')
    for options in ({}, {"malformed": {"skip": 0.01}}):
        with pytest.raises(InputError, match=r"no text: .*\n  Mend .*, or give another format") as raised:
            Collection.read(documents, **options)
        assert "skip" not in str(raised.value)


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda: Collection.read(5), "path: a file or a folder is needed, not 5"),  # type: ignore[arg-type]
        (lambda: Collection.read(None), "path: a file or a folder is needed, not None"),  # type: ignore[arg-type]
        (lambda: Collection.read("x" * 5000), "x: File name too long\n  Check the path."),
        (lambda: Collection(["x"], encoder="x" * 5000), "x: there is no such folder"),
        (lambda: Collection(["x"]).groups("ares", predictor="none"), "none: there is no such folder"),
        (
            lambda: Collection(["x"]).groups(["rop"]),
            r"objective: one type is needed, .* not \['rop'\]",
        ),  # type: ignore[arg-type]
        (
            lambda: Collection([{"id": "a", "text": "b", 2: "x", None: 3}]),
            "document 0: 2 is unknown",
        ),  # type: ignore[dict-item]
        (lambda: Options(text={"fields": ["body", "body"]}), r"text\.fields: body is listed twice"),
        (
            lambda: Collection(["a"], {"preset": "paper"}),
            r"options: write Options\(preset=.*, not \{",
        ),  # type: ignore[arg-type]
        (lambda: Options(presett="paper"), r"^Options: 1 fault .*\n  - presett: unknown key"),
        (lambda: Collection(["a"]).pseudo_queries(per_document=0), r"^pseudo_queries: .*\n  - per_doc"),
        (
            lambda: Options(word_vectors={"files": {"documents": "vec.txt"}}),
            r"word_vectors\.files: .* vectors=FILE",
        ),
        *(
            (lambda groups=groups: pretrain(groups, "m", steps=1), r"groups: give own_groups\(.*, not \[")
            for groups in ([], [5], ["rop"])
        ),
        (
            lambda: pretrain([own_groups([PAIR]), own_groups([PAIR])], "m"),
            "groups of one collection; make one",
        ),
        (lambda: finetune([PAIR], "m"), r"groups: give own_groups\(.*, not \["),  # type: ignore[arg-type]
        (lambda: parse_wikitext(None), "wikitext: a text is needed, not None"),  # type: ignore[arg-type]
        (lambda: parse_wikitext("a", language="plum"), "language: no Wikipedia is known in 'plum'"),
        (lambda: parse_wikitext("a", language=None), "language: no Wikipedia is known in None"),  # type: ignore[arg-type]
    ],
)
def test_faults_of_arguments_have_one_message(compute: Any, message: str) -> None:
    with pytest.raises((ConfigError, InputError), match=message):
        compute()


@pytest.fixture
def groups(tiny_encoder: Path) -> Any:
    texts = ["word01 word02 word03 ab cd", "word01 ef gh", "word05 word06 word07 word01"]
    return Collection(texts, encoder=tiny_encoder).groups("rop", minimum_count=1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mlm_head_steps": 2}, "mlm_head_steps 2 and steps 2 the MLM loss would train the MLM head alone"),
        ({"masking": {"ratio": 0}}, r"masking\.ratio 0 masks nothing to predict"),
        ({"optimiser": {"learning_rate": float("inf")}}, r"learning_rate: should be a finite number"),
        ({"margin": float("inf")}, r"margin: should be a finite number"),
        ({"steps": None, "epochs": 1, "epochs_of": "srr"}, "epochs_of: 'srr' is not in tasks"),
    ],
    ids=["head", "ratio", "rate", "margin", "epochs"],
)
def test_the_library_refuses_what_the_workflow_refuses(
    changes: dict[str, Any], message: str, groups: Any, tmp_path: Path
) -> None:
    options = {"steps": 2, "batch_groups": 2, "max_length": 32, "query_length": 8} | changes
    with pytest.raises(ConfigError, match=message):
        pretrain(groups, tmp_path / "model", **options)
    assert not any(tmp_path.iterdir())


def test_a_file_that_grows_too_large_is_one_message(groups: Any, tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    groups.collection.tokens  # noqa: B018 - made now
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, before[1]))
        with pytest.raises(SetupError, match=r"larger than the disk or `ulimit -f` allows .* make room"):
            pretrain(groups, tmp_path / "m", steps=1, batch_groups=2, max_length=32, query_length=8)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert not (tmp_path / "m").exists()


def test_an_output_below_a_file_is_one_message(groups: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file/m: .*/file is no folder, so nothing can lie in it"):
        pretrain(groups, tmp_path / "file/m", steps=1, batch_groups=2, max_length=32, query_length=8)


def test_what_a_notebook_shows_says_what_an_object_is(tiny_encoder: Path) -> None:
    fruit = Collection({"a": "apple pie", "b": "pear pie with apple"}, Options(seed=3), tiny_encoder)
    assert repr(fruit) == f"<Collection: 2 documents, preset paper, seed 3, encoder {tiny_encoder}>"
    groups = fruit.groups("rop", minimum_count=1)
    assert repr(groups).startswith(f"<Groups: {len(groups)} of rop, <Collection: 2 documents")


def test_pyterrier_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyterrier", None)
    monkeypatch.delitem(sys.modules, "irpretrain.pyterrier", raising=False)
    with pytest.raises(SetupError, match="pip install python-terrier"):
        importlib.import_module("irpretrain.pyterrier")


# What documents are → the file that holds them.
OF_ANOTHER_SHAPE = {
    "a list": ("d.json", '[{"id": "a", "text": "pear"}, {"id": "b", "text": "plum"}]'),
    "objects by identifier": ("d.json", '{"a": {"text": "pear"}, "b": {"text": "plum"}}'),
    "an object over several lines": ("d.json", '{\n "a": {"text": "pear"},\n "b": {"text": "plum"}\n}\n'),
    "texts by identifier": ("d.json", '{"a": "pear", "b": "plum"}'),
    "texts in parts": ("d.jsonl", '{"id": "a", "text": ["pear"]}\n{"id": "b", "text": ["plum", "plum"]}\n'),
    "texts in parts, the first without one": (
        "d.jsonl",
        '{"id": "0", "text": []}\n{"id": "a", "text": ["pear"]}\n{"id": "b", "text": ["plum"]}\n',
    ),
    "texts in objects": (
        "d.jsonl",
        '{"id": "a", "contents": [{"content": "pear", "type": "title"}, {"type": "image"}, null]}\n'
        '{"id": "b", "contents": [{"content": "plum"}, {"content": "plum"}]}\n',
    ),
    "Elasticsearch's bulk requests": (
        "d.ndjson",
        '{"index": {"_id": "a"}}\n{"text": "pear"}\n{"create": {"_index": "x", "_id": "b"}}\n{"text": "plum"}\n',
    ),
    "Elasticsearch's hits": (
        "d.jsonl",
        '{"_id": "a", "_score": 1, "_source": {"text": "pear"}}\n{"_id": "b", "_source": {"text": "plum"}}\n',
    ),
    "Elasticsearch's response": (
        "d.json",
        '{"took": 1, "hits": {"total": 2, "hits": [{"_id": "a", "_source": {"text": "pear"}}, '
        '{"_id": "b", "_source": {"text": "plum"}}]}}',
    ),
    "Solr's response": (
        "d.json",
        '{"responseHeader": {"status": 0}, "response": {"docs": [{"id": "a", "text": "pear"}, '
        '{"id": "b", "text": "plum"}]}}',
    ),
    "tags with identifiers": (
        "d.sgml",
        '<DOC id="a" type="story" >\n<TEXT>\n<P>\npear\n</P>\n</TEXT>\n</DOC>\n'
        '<DOC id="b" type="other" >\n<TEXT>\nplum\n</TEXT>\n</DOC>\n',
    ),
    "tags in small letters": (
        "d.sgml",
        "<doc>\n<docno>a</docno>\n<text>pear</text>\n</doc>\n<doc>\n<docno>b</docno>\n<text>plum</text>\n</doc>\n",
    ),
    "a text in each line": ("d.txt", "pear\nplum\n"),
    "a header, and colons": ("d.csv", "id:text\na:pear\nb: plum pie: red\n"),
    "a header, and a colon with blanks": ("d.txt", "Doc ID: Text\na: pear pie\nb: plum\n"),
    "a header, and blanks": ("d.txt", "id text\na pear pie\nb  plum\n"),
    "bars without a header": ("d.txt", "d1|pear\nd2 | plum\n"),
    "a text in each file": ("a.txt", "pear\n"),
}


@pytest.mark.skipif(not shutil.which("jq"), reason="jq, which the advice names, is not installed")
@pytest.mark.parametrize("case", OF_ANOTHER_SHAPE)
def test_documents_of_another_shape_come_with_the_command_that_converts(case: str, tmp_path: Path) -> None:
    name, text = OF_ANOTHER_SHAPE[case]
    (tmp_path / name).write_text(text)
    advice = (
        r"for f in [^.]*\.txt; .* done"
        if case == "a text in each file"
        else r"(?:jq|awk|sed) [^']*'[^']*'|jq -c \. "
    )
    source = tmp_path / name
    for conversion in range(2):
        with pytest.raises(InputError) as refused:
            list(read_documents(source))
        command = re.search(advice, refused.value.remedy)[0]
        kind = {"awk": "tsv", "sed": "sgml"}.get(command.split()[0], "jsonl")
        if "> documents.tsv" in refused.value.remedy:
            kind = "tsv"
        files = "" if command.endswith("done") else f" {shlex.quote(source.name)}"
        source = tmp_path / f"{conversion}.{kind}"
        subprocess.run(f"{command}{files} > {source.name}", shell=True, check=True, cwd=tmp_path)
        if case != "an object over several lines":
            break
    texts = [document.body.split()[0] for document in read_documents(source)]
    assert texts == (["pear"] if case == "a text in each file" else ["pear", "plum"])


# A suffix → documents without identifiers.
NUMBERED = {
    ".jsonl": '{"title": "A", "text": "pear"}\n{"title": "B", "text": "plum"}',
    ".csv": 'title;text\nA;"pear\npie"\n"NA";plum\n',
    ".tsv": "title\ttext\nA\tpear\nB\tplum\n",
    ".parquet": "",
}


@pytest.mark.skipif(not shutil.which("jq"), reason="jq, which the advice names, is not installed")
@pytest.mark.parametrize("suffix", NUMBERED)
def test_documents_without_identifiers_come_with_the_command_that_numbers_them(
    suffix: str, tmp_path: Path
) -> None:
    source = tmp_path / f"FILE{suffix}"
    source.write_text(NUMBERED[suffix])
    if suffix == ".parquet":
        pd.DataFrame({"title": ["A", "B"], "text": ["pear", "plum"]}, index=[7, 7]).to_parquet(source)
    with pytest.raises(InputError) as refused:
        list(read_documents(source))
    command = (
        refused.value.remedy.partition("number the rows: ")[2]
        or re.search("number the records: (jq [^']*'[^']*' FILE)", refused.value.remedy)[1]
        + " > documents.jsonl"
    )
    command = command.removeprefix("python ").replace("FILE", source.name)
    program = f"{sys.executable} " if suffix in (".csv", ".parquet") else ""
    subprocess.run(program + command, shell=True, check=True, cwd=tmp_path)
    documents = list(read_documents(tmp_path / f"documents{suffix}"))
    assert [document.body.split()[0] for document in documents] == ["pear", "plum"]
    assert len({document.document_id for document in documents}) == 2
    assert all(document.title for document in documents)


# What judgements or a run are → the file that holds them; of both queries the document d1 is relevant, and first.
JUDGEMENTS_OF_ANOTHER_SHAPE = {
    "a list": '[{"query": "1", "document": "d1", "relevance": 1}, {"query": "2", "document": "d1", "relevance": 1}]',
    "objects": '{"Query ID": 1, "Doc ID": "d1", "label": 1}\n{"Query ID": 2, "Doc ID": "d1", "label": 1}\n',
    "documents of queries": '{"1": ["d1"], "2": ["d1"]}',
    "relevant documents": "1\td1\n2\td1\n",
    "relevant documents, by commas": '\ufeff"1","d1"\r\n\r\n"2","d1"\r\n',
    "relevant documents, by a header and commas": "query_id,doc_id\n1,d1\n2,d1\n",
    "relevant documents, by Excel": "\ufeffsep=;\r\nQuery ID;Doc ID;Why\r\n1;d1;so\r\n2;d1;so\r\n\r\n",
    "relevant documents, by a header and tabs": "query_id\tdoc_id\n1\td1\n2\td1\n",
    "relevant documents, by a header and blanks": "query_id doc_id\n1 d1\n2 d1\n",
    "relevant documents in objects": '{"query_id": 1, "doc_id": "d1"}\n{"query_id": 2, "doc_id": "d1"}\n',
    "lists of pairs": '[["1", "d1"], ["2", "d1"]]',
    "lists of three": '[["1", "d1", 1], ["2", "d1", 1]]',
    "lists of four": '["1", "0", "d1", 1]\n["2", "0", "d1", 1]\n',
}
RUNS_OF_ANOTHER_SHAPE = {
    "a list of ranks": '[{"qid": 1, "docid": "d1", "rank": 1}, {"qid": 1, "docid": "d2", "rank": 2}, '
    '{"qid": 2, "docid": "d1", "rank": 1}]',
    "objects with scores": '{"qid": 1, "docid": "d2", "score": 1}\n{"qid": 1, "docid": "d1", "score": 1.5}\n'
    '{"qid": 2, "docid": "d1", "score": 3}\n',
    "documents of queries": '{"1": ["d1", "d2"], "2": ["d1"]}',
    "lists of ranks": '[["1", "d1", 1], ["1", "d2", 2], ["2", "d1", 1]]',
    "lists of scores": '["1", "d2", 1.0]\n["1", "d1", 1.5]\n["2", "d1", 3.0]\n',
}


@pytest.mark.skipif(not shutil.which("jq"), reason="jq, which the advice names, is not installed")
@pytest.mark.parametrize(
    ("kind", "text"),
    [("judgements", text) for text in JUDGEMENTS_OF_ANOTHER_SHAPE.values()]
    + [("runs", text) for text in RUNS_OF_ANOTHER_SHAPE.values()],
    ids=[*JUDGEMENTS_OF_ANOTHER_SHAPE, *RUNS_OF_ANOTHER_SHAPE],
)
def test_judgements_and_runs_of_another_shape_come_with_the_command_that_converts(
    kind: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("judgements").write_text("1 0 d1 1\n2 0 d1 1\n")
    Path("runs").write_text("1 Q0 d1 1 2 x\n1 Q0 d2 2 1 x\n2 Q0 d1 1 1 x\n")
    Path(kind).write_text(text)
    command = ["evaluate", "judgements", "runs", "--measure", "RR", "--csv"]
    assert main(command) == 2
    refusal = capsys.readouterr().err
    conversion = re.search("((?:jq|awk) .*) FILE (?:makes TREC's columns of it|adds a column of 1)", refusal)[
        1
    ]
    is_graded = kind == "runs" or bool(re.search(r"relevance|label|, 1\]", text))
    assert ("needs a grade" in refusal) != is_graded
    subprocess.run(f"{conversion} {kind} > converted && mv converted {kind}", shell=True, check=True)
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines()[1].split(",")[3] == "1.0"


def test_topics_of_ntcir_come_with_the_command_that_converts(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("documents.tsv").write_text("id\ttext\nd1\tpear\n")
    topic = "<query>\n<qid>0001</qid>\n<content>ripe &amp; red\npear</content>\n</query>\n"
    Path("topics.xml").write_text(f"<queries>\n{topic}</queries>\n")
    assert main(["search", "documents.tsv", "topics.xml"]) == 2
    command = re.search("write a table of them: python (.*) > topics.tsv", capsys.readouterr().err)[1]
    command = command.replace("FILE", "topics.xml")
    subprocess.run(f"{sys.executable} {command} > topics.tsv", shell=True, check=True)
    assert Path("topics.tsv").read_text() == "0001\tripe & red pear\n"
    assert main(["search", "documents.tsv", "topics.tsv"]) == 0


@pytest.mark.parametrize(
    "text",
    [
        '["1", "d1", "relevant"]',
        '["1", "0", "d1", 1, 1]',
        '["1"]',
        '["1", ["d1"], 1]',
        '{"qid": "1", "label": 1}',
    ],
)
def test_what_no_command_converts_is_refused_without_one(text: str, tmp_path: Path, call) -> None:
    (tmp_path / "sound").write_text("1 0 d1 1\n")
    (tmp_path / "other").write_text(f"[{text}]")
    for files in (("other", "sound"), ("sound", "other")):
        refused = call("evaluate", *(tmp_path / name for name in files))
        assert (refused.status, "makes TREC's columns" in refused.err) == (2, False)
        assert "\n  Give a file of one of these formats: trec, tsv, " in refused.err
    assert "awk" in ungraded_command("1,d1\n2,d1\n")
    assert ungraded_command("1,d1\n2,\n") == ""


def test_topics_and_judgements_in_parquet_come_with_the_command_that_converts(
    tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("documents.tsv").write_text("id\ttext\nd1\tpear\n")
    pd.DataFrame({"qid": ["1"], "text": ['red, "ripe" pear']}).to_parquet("topics.parquet")
    grades = pd.DataFrame({"qid": ["1"], "docno": ["d1"], "label": [1.0]})
    grades.set_index("qid").to_parquet("qrels.parquet")
    for role in ("topics", "qrels"):
        assert main(["init", ".", "--output", "-"]) == 2
        command = re.search("make CSV: python (.*) FILE FILE.csv", capsys.readouterr().err)[1]
        subprocess.run(f"{sys.executable} {command} {role}.parquet {role}.csv", shell=True, check=True)
        Path(f"{role}.parquet").unlink()
    assert main(["init", ".", "--output", "-"]) == 0
