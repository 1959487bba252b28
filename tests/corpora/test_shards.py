"""Shards: every document in exactly one, the same whatever their number; malformed records."""

import json
import re
from pathlib import Path

import pytest
from sound_files import SOUND, parquet_file

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.collection import check_collection
from irpretrain.corpora.policy import MAX_EXAMPLES, RecordTally, malformed_excess
from irpretrain.corpora.registry import FORMATS
from irpretrain.corpora.sources import write_shard
from irpretrain.foundation import pieces, records
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.provenance import sidecar_path
from irpretrain.foundation.records import Skipped, parts_of_shard


def corpus(**changes):
    return CorpusConfig(**{"format": "jsonl", "path": "unused", **changes})


def write_documents(path, count, prefix="d"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(json.dumps({"id": f"{prefix}{n}", "text": f"text {n}"}) + "\n" for n in range(count))
    )


def shard_all(source, output, shards, **changes):
    config = corpus(shards=shards, **changes)
    paths = [output / f"documents-{n}.parquet" for n in range(shards)]
    counts = [
        write_shard(config, source, n, path, path.with_suffix(".redirects")) for n, path in enumerate(paths)
    ]
    return paths, counts


def in_order(paths):
    rows = [row for path in paths for row in DOCUMENTS.read(path).to_pylist()]
    return sorted(rows, key=lambda row: (row["part"], row["position"]))


@pytest.mark.parametrize("files", [1, 2, 5])
@pytest.mark.parametrize("shards", [1, 2, 4])
def test_the_number_of_shards_changes_nothing(tmp_path, files, shards):
    for part in range(files):
        write_documents(tmp_path / f"in/{part}.jsonl", 2500, f"{part}-")
    (tmp_path / "in/readme.jsonl").write_text("This is no document.")
    whole, _ = shard_all(tmp_path / "in", tmp_path / "whole", 1, files=["?.jsonl"])
    paths, counts = shard_all(tmp_path / "in", tmp_path / "shards", shards, files=["?.jsonl"])
    assert in_order(paths) == DOCUMENTS.read(whole[0]).to_pylist()
    assert sum(c["written"] for c in counts) == sum(c["read"] for c in counts) == files * 2500
    assert sum(c["redirects"] for c in counts) == 0
    for path in paths:
        locations = [(row["part"], row["position"]) for row in DOCUMENTS.read(path).to_pylist()]
        assert locations == sorted(locations)


FOURTH = {
    "jsonl": (b'"d3"', b"[]"),
    "tsv": (b"d3\t", b""),
    "csv": (b"d3;", b""),
    "squad": (b'"one 3"', b"3"),
    "wikipedia-dump": (b"<id>13<", b"<id><"),
    "trectext": (b" A3 ", b" A 3 "),
    "trecweb": (b">A3<", b">A 3<"),
    "smart": (b".I 3", b".I d 3"),
    "warc": (b"a-3", b"a 3"),
    "car-paragraphs": (f"{3:040}".encode(), f"{3:39} ".encode()),
    "cord19": (b"abcdefg3", b"abcdef 3"),
}
"""What makes the fourth document of a sound file malformed: what stands there, and what then does."""


def write_with_a_fault(folder, name):
    """Write seven documents, the fourth malformed; return the file, or the folder of files."""
    if name == "lecard":
        (folder / "cases/q").mkdir(parents=True)
        for n in range(7):
            case = {"ajName": "", "qw": f"text {n}"}
            (folder / f"cases/q/{'d 3' if n == 3 else n}.json").write_text(json.dumps(case))
        return folder / "cases"
    content = parquet_file([f"d{n}" if n != 3 else None for n in range(7)])
    if name != "parquet":
        content = SOUND["documents", name].replace(*FOURTH[name])
    (folder / "file").write_bytes(content)
    return folder / "file"


@pytest.mark.parametrize("name", [name for name in FORMATS["documents"] if name != "ir_datasets"])
def test_every_format_is_spread_over_shards_without_loss(tmp_path, monkeypatch, name):
    monkeypatch.setattr(records, "BLOCK_RECORDS", 2)
    monkeypatch.setattr(pieces, "PIECE", 100)
    file, config = write_with_a_fault(tmp_path, name), {"format": name, "malformed": "skip"}
    whole, _ = shard_all(file, tmp_path / "whole", 1, **config)
    paths, counts = shard_all(file, tmp_path / "shards", 3, **config)
    assert in_order(paths) == DOCUMENTS.read(whole[0]).to_pylist()
    assert sum(sum(c["malformed"].values()) for c in counts) == 1
    if name != "wikipedia-dump":  # which is shared by size
        # By files, by ranges of rows, and by lines of which the first is a header; else blocks of two in turn.
        written = {"lecard": [2, 2, 2], "parquet": [2, 1, 3], "tsv": [3, 2, 1]}
        assert [c["written"] for c in counts] == written.get(name, [3, 1, 2])
    assert all(c["written"] for c in counts)
    assert sum(c["written"] for c in counts) == 6


def owner(part, position, files, shards):
    """The shard that reads a record."""
    (owner,) = [
        shard
        for shard in range(shards)
        for number, _, share in parts_of_shard(range(files), shard, shards)
        if number == part and share(position)
    ]
    return owner


def test_the_rule_of_ownership():
    assert [owner(0, position, 1, 4) for position in (0, 1023, 1024, 2048, 4096)] == [0, 0, 1, 2, 0]
    assert [owner(part, 0, 3, 4) for part in range(3)] == [0, 1, 2]
    assert [owner(part, 5000, 5, 4) for part in range(5)] == [0, 1, 2, 3, 0]


def test_a_malformed_line_is_refused_with_its_location(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "b"}\n{"id": \n')
    with pytest.raises(InputError) as caught:
        write_shard(
            corpus(), tmp_path / "a.jsonl", 0, tmp_path / "out.parquet", tmp_path / "redirects.parquet"
        )
    assert str(caught.value).startswith(f"{tmp_path / 'a.jsonl'}:2: not valid JSON: Expecting value")
    assert "malformed: {skip: 0.5}" in str(caught.value)
    assert not (tmp_path / "out.parquet").exists()


def test_malformed_lines_are_skipped_and_counted_once_whatever_the_shards(tmp_path):
    lines = ['{"id": "a", "text": "b"}', "{", "[]", "\x00", '{"id": "b", "text": ""}', '{"id": "\\ud800"}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    for shards in (1, 3):
        _, counts = shard_all(tmp_path / "a.jsonl", tmp_path / str(shards), shards, malformed="skip")
        total = counts[0]
        assert total["malformed"] == {"bad identifier": 1, "a JSON list": 1, "not valid JSON": 2}
        assert total["skipped"] == {"empty document": 1}
        assert (total["read"], total["written"]) == (6, 1)
        assert total["malformed_examples"][0].startswith(f"{tmp_path / 'a.jsonl'}:2: not valid JSON")
        json.dumps(total).encode("utf-8")
        assert [c["read"] for c in counts[1:]] == [0] * (shards - 1)


def test_parts_beyond_a_damaged_one_are_still_read(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jsonl.gz").write_bytes(b"\x1f\x8b broken")
    write_documents(tmp_path / "in/b.jsonl", 3)
    _, (counts,) = shard_all(tmp_path / "in", tmp_path / "out", 1, malformed="skip")
    assert (counts["malformed"], counts["written"]) == ({"damaged archive": 1}, 3)


def test_a_shard_that_does_not_exist_is_a_fault_of_the_caller(tmp_path):
    with pytest.raises(ValueError, match="shard 1 of 1"):
        write_shard(corpus(), tmp_path, 1, tmp_path / "out", tmp_path / "redirects")


def write_with_faults(folder, number, faults):
    """Files of `number` documents in all, of which the lines in `faults` are broken."""
    folder.mkdir()
    lines = [f'{{"id": "d{n}", "text": "x"}}' if n not in faults else "{" for n in range(number)]
    for part in range(3):
        (folder / f"{part}.jsonl").write_text("\n".join(lines[part::3]))
    return folder


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize(("faults", "refused"), [(2, False), (3, True)])
def test_a_budget_of_malformed_records_holds_for_the_whole_corpus(tmp_path, shards, faults, refused):
    """All of them stand in one file: a shard by itself would have another share than the corpus."""
    source = write_with_faults(tmp_path / "in", 1000, {3 * n for n in range(faults)})

    def read():
        config = corpus(malformed={"skip": 0.002}, shards=shards)
        paths = [tmp_path / f"out/{n}.parquet" for n in range(shards)]
        for n, path in enumerate(paths):
            counts = write_shard(config, source, n, path, path.with_suffix(".redirects"))
            sidecar_path(path).write_text(json.dumps({"counts": counts}))
        return check_collection(paths)

    if not refused:
        assert read()["documents"] == 998
        return
    with pytest.raises(InputError, match=r"0\.jsonl:1: not valid JSON") as caught:
        read()
    assert "3 of 1,000 records are malformed, more than the share of 0.002 that is allowed" in str(
        caught.value
    )
    assert re.search(r"or set (corpora\.\w+\.)?malformed: \{skip: 0\.003\}", str(caught.value))


def test_words_are_short_for_shares():
    assert [corpus(malformed=word).malformed.skip for word in ("refuse", "skip")] == [0, 1]
    assert corpus().malformed.skip == 0.001
    with pytest.raises(ValueError, match="must be refuse, skip, or"):
        corpus(malformed="drop")


@pytest.mark.parametrize(
    ("share", "read", "most"), [(0.29, 100, 29), (0.07, 100, 7), (1e-05, 300_000, 3), (0.001, 1999, 1)]
)
def test_the_budget_is_counted_exactly(share, read, most):
    for malformed in (most, most + 1):
        parts = [(read - malformed, 0), *[(1, 1)] * malformed]
        counts = [
            {"read": number, "malformed": {"why": faults} if faults else {}, "malformed_allowed": share}
            for number, faults in parts
        ]
        whole = [{"read": read, "malformed": {"why": malformed}, "malformed_allowed": share}]
        assert (malformed_excess(counts) is None) == (malformed_excess(whole) is None) == (malformed <= most)


@pytest.mark.parametrize(
    ("malformed", "skipped", "suggestion"),
    [(90, 0, "{skip: 0.9}"), (91, 0, "skip"), (91, 8, "skip"), (91, 9, ""), (100, 0, "")],
)
def test_a_share_is_suggested_that_leaves_some_record(malformed, skipped, suggestion):
    counts = {"read": 100, "malformed": {"why": malformed}, "skipped": {"empty": skipped}}
    assert malformed_excess([counts | {"malformed_allowed": 0.001}]).suggested_skip == suggestion


def test_what_is_left_out_with_a_detail_is_named_and_the_rest_counted():
    skips = [Skipped(0, "comment"), *(Skipped(n, "spam", f"page {n}") for n in range(1, 100))]
    tally = RecordTally(corpus().malformed, "malformed")
    assert not list(tally.sound(Path("a"), skips))
    counts = tally.counts()
    assert counts["skipped"] == {"comment": 1, "spam": 99}
    assert counts["first_left_out"] == {"comment": "a (record 1)", "spam": "a (page 1)"}
    assert counts["skipped_examples"] == [f"a: spam: page {n}" for n in range(1, MAX_EXAMPLES + 1)]
