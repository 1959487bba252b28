"""Identifiers are unique in a collection."""

import json

import pytest

from irpretrain.corpora import collection
from irpretrain.corpora.collection import check_collection
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import InputError


def shard(path, *names, part=0):
    rows = (
        {"document_id": name, "part": part, "position": n, "title": "", "url": "", "body": "x"}
        for n, name in enumerate(names)
    )
    DOCUMENTS.write(path, rows)
    return path


def write_sidecar(path, record):
    path.with_name(f"{path.name}.meta.json").write_text(json.dumps(record))


def test_unique_identifiers(tmp_path):
    paths = [shard(tmp_path / "a/0", "d1", "d2"), shard(tmp_path / "a/1"), shard(tmp_path / "b/0", "e1")]
    counts = check_collection(paths, tmp_path / "check.json")
    assert counts["documents"] == 3
    assert counts["corpora"] == {str(tmp_path / "a"): 2, str(tmp_path / "b"): 1}
    assert json.loads((tmp_path / "check.json").read_text()) == counts


def test_a_repeated_identifier_names_both_locations(tmp_path):
    paths = [shard(tmp_path / "a/0", "d1", "d2", "d3"), shard(tmp_path / "b/0", "e1", "d2", "d1", part=4)]
    with pytest.raises(InputError) as caught:
        check_collection(paths, tmp_path / "check.json")
    message = str(caught.value)
    assert "'d1' occurs 2 times" in message
    assert f"file 0 of {tmp_path / 'a/0'} (record 1)" in message
    assert f"file 4 of {tmp_path / 'b/0'} (record 3)" in message
    assert "1 more ids are repeated" in message
    assert "Two corpora of a collection share identifiers" in message
    assert not (tmp_path / "check.json").exists()


@pytest.mark.parametrize(("passage_words", "record"), [(None, 2), (100, 1)])
def test_a_repeated_identifier_names_the_file_and_record_that_were_read(tmp_path, passage_words, record):
    path = shard(tmp_path / "a/0", "d1", "d1", part=1)
    parameters = {"source": "data/", "corpus": {"format": "jsonl", "passage_words": passage_words}}
    inputs = {"data/2.jsonl": "", "data/1.jsonl": "", "catalogue/web.sound.json": ""}
    write_sidecar(path, {"inputs": inputs, "parameters": parameters})
    with pytest.raises(InputError, match=rf"data/2\.jsonl \(record {record}\)\n"):
        check_collection([path])


def test_of_files_that_are_dealt_to_shards_a_repeated_identifier_names_the_right_one(tmp_path):
    path = shard(tmp_path / "a/1", "d1", "d1", part=3)
    parameters = {"source": "data", "corpus": {"format": "jsonl", "shards": 2}}
    inputs = {"data/2.jsonl": "", "data/4.jsonl": ""}  # the second and the fourth of four
    write_sidecar(path, {"inputs": inputs, "parameters": parameters, "counts": {"files": 4}})
    with pytest.raises(InputError, match=r"data/4\.jsonl \(record 2\)\n"):
        check_collection([path])


@pytest.mark.parametrize("examples", [["a.jsonl:3: broken JSON"], []])
@pytest.mark.parametrize("unreadable", [0, 1])
def test_too_many_malformed_records_are_reported_without_the_sidecar_of_a_shard(
    tmp_path, examples, unreadable
):
    paths = [shard(tmp_path / "a/0", "d1"), shard(tmp_path / "a/1", "d2")]
    counts = {"read": 4, "malformed": {"broken JSON": 3}, "malformed_allowed": 0.5}
    write_sidecar(paths[1 - unreadable], {"counts": {**counts, "malformed_examples": examples}})
    paths[unreadable].with_name(f"{unreadable}.meta.json").write_text("{")
    reported = "".join(f": {example}" for example in examples)
    with pytest.raises(InputError, match=rf"the share of 0\.5 that is allowed{reported}\n  Mend the files"):
        check_collection(paths)


def test_shards_in_another_encoding_are_to_be_mended(tmp_path):
    path = shard(tmp_path / "a/0", "d1")
    counts = {"read": 2, "malformed": {"not valid UTF-8": 1}, "malformed_allowed": 0.1}
    write_sidecar(path, {"counts": {**counts, "remedy_of_files": "Save the file as UTF-8."}})
    with pytest.raises(InputError, match=r"\n  Save the file as UTF-8\. The \.meta\.json of its documents"):
        check_collection([path])


def test_repeated_within_one_corpus(tmp_path):
    with pytest.raises(InputError, match="must be unique: delete all but one of these documents, or rename"):
        check_collection([shard(tmp_path / "a/0", "d1", "d1")])


def test_equal_hashes_of_different_identifiers_are_no_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(collection, "hash", lambda name: 0, raising=False)
    assert check_collection([shard(tmp_path / "a/0", "d1", "d2")])["documents"] == 2
    with pytest.raises(InputError, match="'d2' occurs 3 times"):
        check_collection([shard(tmp_path / "a/0", "d1", "d2", "d2", "d2")])


def test_empty_collections_and_corpora(tmp_path):
    with pytest.raises(InputError, match="no shards"):
        check_collection([])
    with pytest.raises(InputError, match=r"b: the corpus has no documents"):
        check_collection([shard(tmp_path / "a/0", "d1"), shard(tmp_path / "b/0"), shard(tmp_path / "b/1")])


def test_a_corpus_with_another_number_of_records_is_refused(tmp_path):
    paths = [
        shard(tmp_path / "a/0", "d1", "d2"),
        shard(tmp_path / "a/1", "d3"),
        shard(tmp_path / "b/0", "e1"),
    ]
    for path, read in zip(paths, (4, 1, 9), strict=True):  # one of four was left out
        write_sidecar(path, {"counts": {"read": read}})
    check_collection(paths, expected={"a": 5, "elsewhere": 7})
    with pytest.raises(InputError, match=r"/a: the corpus has 5 records, expected 6\n  Files are missing"):
        check_collection(paths, expected={"a": 6})
