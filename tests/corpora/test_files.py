"""Files of a source, compression, and lines."""

import errno
import gzip
import io
import lzma
import os
import random
import re
import tarfile
from pathlib import Path

import pytest
from packings import PACKINGS, zstandard

from irpretrain.corpora.file_lists import document_files, files_of_sources, list_files, require_file
from irpretrain.foundation import files, records
from irpretrain.foundation.characters import (
    clean_line,
    clean_text,
    displayed_names,
    identifier_fault,
    unescaped,
)
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.files import Line, open_bytes, read_lines
from irpretrain.foundation.records import Malformed, Share

COMPRESS = {
    **PACKINGS,
    "zstandard-skippable": lambda data: b"\x50\x2a\x4d\x18\x04\0\0\0size" + zstandard(data),
}


def test_files_of_a_folder_in_code_point_order(tmp_path):
    names = "b.jsonl a/z.jsonl.gz B.jsonl .hidden.jsonl notes.txt .git/x.jsonl part-10.json"
    for name in names.split():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = [p.relative_to(tmp_path).as_posix() for p in list_files(tmp_path, (".jsonl", ".json"))]
    assert found == ["B.jsonl", "a/z.jsonl.gz", "b.jsonl", "part-10.json"]
    notes = tmp_path / "notes.txt"
    assert list_files(notes, (".jsonl",)) == [notes], "a file counts whatever its name"


@pytest.mark.parametrize("ending", [".jsonl", ".xml", ".xml-p1p10"])
@pytest.mark.parametrize(
    "packing",
    [".zip", ".7z", ".lz4", ".tar.gz", ".GZIP", ".tar.xz", ".tbz2", ".br", ".gz.gz", ".1", ".gz.00", ".part"],
)
def test_a_file_that_would_be_left_out_for_its_packing_is_refused(tmp_path, ending, packing):
    for name in (f"a{ending}", f"a{ending}{packing}"):
        (tmp_path / name).write_text("{}")
    suffixes = (".jsonl", ".xml")
    assert list_files(tmp_path, suffixes) == [tmp_path / f"a{ending}"]
    (tmp_path / f"b{ending}{packing}").write_text("{}")
    fault = rf"b{re.escape(ending + packing)}: files whose names end like this one are not read"
    with pytest.raises(InputError, match=fault):
        list_files(tmp_path, suffixes)
    assert list_files(tmp_path, suffixes, [f"a{ending}"]) == [tmp_path / f"a{ending}"]


def test_missing_and_wrong_sources(tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        list_files(tmp_path / "none", (".tsv",))
    with pytest.raises(InputError, match=r"holds no file that ends in \.tsv, \.tab"):
        list_files(tmp_path, (".tsv", ".tab"))
    with pytest.raises(InputError, match=r"the folder holds no file\n"):
        list_files(tmp_path, ("", ".tab"))
    with pytest.raises(InputError, match="this is a folder; a file is needed here"):
        files_of_sources(tmp_path, ())
    with pytest.raises(InputError, match="no such file"):
        require_file(tmp_path / "none")
    with pytest.raises(InputError, match="cannot be opened"):
        open_bytes(tmp_path / "none")


@pytest.mark.parametrize("compression", COMPRESS)
def test_compression_is_known_by_content(tmp_path, compression):
    path = tmp_path / "no-suffix"
    path.write_text("BZh is a compression")
    assert list(read_lines(path)) == [Line(1, "BZh is a compression")]
    path.write_bytes(COMPRESS[compression](b"one\n\ntwo"))
    assert list(read_lines(path)) == [Line(1, "one"), Line(3, "two")]


@pytest.mark.parametrize("compression", ["gzip", "bzip2", "xz", "zstandard"])
def test_a_truncated_archive_gives_its_lines_and_then_the_fault(tmp_path, compression):
    text = "".join(f"line {n}\n" for n in range(40_000)).encode()
    packed = COMPRESS[compression](text)
    (tmp_path / "cut").write_bytes(packed[: len(packed) - 5])
    *lines, last = read_lines(tmp_path / "cut")
    assert all(isinstance(line, Line) and line.text == f"line {line.number - 1}" for line in lines)
    assert isinstance(last, Malformed)
    assert last.reason == "damaged archive"
    assert last.line == len(lines) + 1


def test_line_ends_marks_and_bad_bytes(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n  \ntw\xffo\nthree\x0c\xe2\x80\xa8three")
    first, second, third = read_lines(path)
    assert (first, third) == (Line(1, "one"), Line(4, "three\x0c\u2028three"))
    assert (second.reason, second.detail, second.line, second.position) == (
        "not valid UTF-8",
        "byte 3 of the line",
        3,
        2,
    )


@pytest.mark.parametrize("share", [Share(), Share(0, 2), Share(1, 2)])
def test_utf16_is_refused_with_what_to_do(tmp_path, share):
    (tmp_path / "a.txt").write_text("one\n" * 2000, encoding="utf-16")
    with pytest.raises(InputError, match=r"this is UTF-16, not UTF-8\n  Save the file .*iconv -f utf-16 "):
        list(read_lines(tmp_path / "a.txt", share=share))


def test_a_line_too_long_is_passed_over_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "max_record_bytes", lambda: 10)
    (tmp_path / "a.txt").write_bytes(
        b"a" * 10 + b"\n" + b"b" * 11 + b"\n" + b"c" * 3_000_000 + b"\n" + b"d" * 10
    )
    lines = list(read_lines(tmp_path / "a.txt"))
    assert lines[0] == Line(1, "a" * 10)
    assert [line.reason for line in lines[1:3]] == ["record too large"] * 2
    assert lines[3] == Line(4, "d" * 10)


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("cut", [0, 5, 200])
def test_shares_have_each_line_once_and_each_fault(tmp_path, monkeypatch, compression, cut):
    """Blank, long and unreadable lines, with and without an end, in whole archives and in such that break off."""
    monkeypatch.setattr(records, "BLOCK_RECORDS", 3)
    monkeypatch.setattr(files, "max_record_bytes", lambda: 100)
    draw = random.Random(f"{compression} {cut}")
    kinds = [b"", b" \r", b"one\r", b"tw\xffo", b"c" * 101, b"d" * 9000, b"\xef\xbb\xbfthree"]
    for lines in [0, 1, 2, 3, 4, 30, 700]:
        text = b"\n".join(draw.choice(kinds) + b" %d" % number for number in range(lines))
        packed = COMPRESS[compression](text)
        if compression != "plain":
            packed = packed[: max(len(packed) - cut, 30)]
        (tmp_path / "file").write_bytes(packed)
        whole = list(read_lines(tmp_path / "file"))
        for of in (2, 3, 5):
            shares = [list(read_lines(tmp_path / "file", share=Share(number, of))) for number in range(of)]
            for number, share in enumerate(shares):
                assert all(line.position // 3 % of == number for line in share)
            assert (
                sorted((line for share in shares for line in share), key=lambda line: line.position) == whole
            )


class BreaksOff(io.FileIO):
    """A file on a disk that fails beyond its first 30,000 bytes."""

    def readinto(self, buffer):
        if self.tell() >= 30_000:
            raise OSError(errno.EIO, "Input/output error")
        return super().readinto(buffer)


def test_a_disk_that_fails_is_no_damaged_archive_for_any_share(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("".join(f"line {number}\n" for number in range(4000)))
    monkeypatch.setattr(files, "open_bytes", lambda path: io.BufferedReader(BreaksOff(path)))
    for number in range(3):
        with pytest.raises(InputError, match="reading failed: Input/output error"):
            list(read_lines(tmp_path / "a.txt", share=Share(number, 3)))


def test_characters():
    assert clean_text("a\r\nb\rc\x00d\te\x85f") == "a\nb\nc d\te f"
    assert clean_text("\ud800x") == "\ufffdx"
    assert clean_text("e\u0301  \u00a0") == "e\u0301  \u00a0"
    assert clean_line(" a\n\x07 b ") == "a b"


def test_a_record_may_be_as_large_as_its_bounds():
    size, parts = records.max_record_bytes(), records.max_record_parts()
    assert [
        records.is_too_large(size + more_bytes, parts + more_parts)
        for more_bytes, more_parts in ((0, 0), (1, 0), (0, 1))
    ] == [False, True, True]


def test_a_message_has_the_first_names_and_each_cut():
    assert displayed_names(["a" * 40, "b" * 41]) == f"{'a' * 40}, {'b' * 40}…"
    assert displayed_names("0123456789a") == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1 more"


@pytest.mark.parametrize("number", ["1" * 5000, "0" * 5000, "99999999"])
def test_a_reference_to_no_character_is_no_traceback(number):
    assert unescaped(f"a &#{number}; &#{'0' * 5000}98;&#99; &amp;") == "a \ufffd bc &"


@pytest.mark.parametrize(
    ("identifier", "is_sound"),
    [
        *((name, True) for name in ("Super_Bowl_50/12", "FBIS3-1", "Beyoncé/0", "0")),
        *(
            (name, False)
            for name in ("", "a b", "a\tb", "a\u00a0b", "a\x00", "\ud800", "\ufeffa", "\ufffe28", "a" * 4097)
        ),
    ],
)
def test_an_identifier_must_not_break_files_of_trec(identifier, is_sound):
    assert (identifier_fault(identifier) is None) == is_sound


def test_patterns_choose_the_files_of_a_folder(tmp_path):
    names = "FT/ft911/ft911_1 ft/FT922/FT922_10 FT/readmeft CR/cr/cr1 FT/.hidden/ft1 FBIS/fb396001"
    for name in names.split():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    patterns = ["ft/*/ft*", "**/FBIS/FB*"]
    found = [path.relative_to(tmp_path).as_posix() for path in list_files(tmp_path, (".x",), patterns)]
    assert found == ["FBIS/fb396001", "FT/ft911/ft911_1", "ft/FT922/FT922_10"]
    with pytest.raises(InputError, match=r"holds no file that fits la\*\*/\?"):
        list_files(tmp_path, (".x",), ["la**/?"])


def test_folders_behind_links_count_and_circles_end(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.x").write_text("")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/link").symlink_to(tmp_path / "real")
    (tmp_path / "real/back").symlink_to(tmp_path / "data")
    assert list_files(tmp_path / "data", (".x",)) == [tmp_path / "data/link/a.x"]


def test_a_folder_that_cannot_be_read_is_refused(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.x").write_text("")
    scandir = os.scandir

    def refuse_closed(folder):  # tests may run as root, who reads every folder
        if str(folder).endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse_closed)
    with pytest.raises(InputError, match=r"closed: the folder cannot be read: Permission denied\n  Make it"):
        list_files(tmp_path, (".x",))


def test_a_link_to_nothing_is_refused_where_its_name_fits(tmp_path):
    (tmp_path / "a.x").write_text("")
    (tmp_path / "b.txt").symlink_to(tmp_path / "none")
    assert list_files(tmp_path, (".x",)) == [tmp_path / "a.x"]
    (tmp_path / "b.x").symlink_to(tmp_path / "none")
    with pytest.raises(InputError, match=r"b\.x: this link leads nowhere\n  Mend the link"):
        list_files(tmp_path, (".x",))


@pytest.mark.parametrize("backwards", [False, True])
def test_the_first_name_of_a_folder_counts_in_any_order_of_the_file_system(tmp_path, monkeypatch, backwards):
    (tmp_path / "b").mkdir()
    (tmp_path / "b/a.x").write_text("")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    walk = os.walk

    def walk_in_order(*arguments, **choices):
        for location, folders, names in walk(*arguments, **choices):
            folders.sort(reverse=backwards)
            yield location, folders, names

    monkeypatch.setattr(os, "walk", walk_in_order)
    assert list_files(tmp_path, (".x",)) == [tmp_path / "a/a.x"]


@pytest.mark.parametrize(
    ("format", "names"),
    [
        ("jsonl", ["nfcorpus/corpus.jsonl", "nfcorpus/queries.jsonl"]),  # BEIR
        ("jsonl", ["a-docs.jsonl", "a-qrels.jsonl"]),
        ("jsonl", ["passages/part-1.jsonl", "passages/queries.jsonl"]),
        ("jsonl", ["abstracts.jsonl", "AdhocQuery.jsonl"]),
        ("jsonl", ["data.jsonl", "testquery.jsonl"]),
        ("jsonl", ["answers.jsonl", "questions.jsonl"]),
        ("jsonl", ["articles.jsonl", "judgments-2019.jsonl"]),
        ("tsv", ["collection/0.tsv", "collection/queries/dev.tsv"]),
        ("tsv", ["corpus/collection.tsv", "corpus/top1000.dev.tsv"]),
        ("trectext", ["hindi/doc1", "hindi-topics/t1"]),
        ("smart", ["cacm", "query.text"]),
        ("smart", ["LISA.ALL", "LISA.QUE"]),
        ("smart", ["LISA0.001", "LISA.REL"]),
        ("smart", ["CISI.ALL.gz", "CISI.QRY.gz"]),
        ("cord19", ["metadata.csv", "topics-rnd5.csv"]),
    ],
)
def test_a_folder_with_topics_beside_documents_is_refused(
    tmp_path: Path, format: str, names: list[str]
) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    message = rf"{names[1]} is named like topics, judgements or a run, {names[0]} is not\n  .*files=\["
    with pytest.raises(InputError, match=message):
        document_files(tmp_path, format)
    assert document_files(tmp_path, format, [names[0]]) == [tmp_path / names[0]]
    assert document_files(tmp_path / names[1], format) == [tmp_path / names[1]]


@pytest.mark.parametrize(
    "names",
    [
        "questions-1 questions-2",  # all alike, so nothing says which are topics
        "topics/corpus topics/documents",
        "conquerors textbook jquery questionnaire irrelevance",
        "topical biotopic top10 judges unrelated part.rels",
    ],
)
def test_folders_of_documents_alone(tmp_path: Path, names: str) -> None:
    for name in names.split():
        (tmp_path / f"{name}.jsonl").parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.jsonl").touch()
    assert len(document_files(tmp_path, "jsonl")) == len(names.split())


def test_files_and_folders_of_topics(tmp_path):
    for name in ("b.json", "a.json", "c.txt"):
        (tmp_path / name).write_text("")
    assert files_of_sources(str(tmp_path / "c.txt"), ()) == [tmp_path / "c.txt"]
    several = [tmp_path / "c.txt", tmp_path]
    assert files_of_sources(several, (".json",)) == [
        tmp_path / name for name in ("c.txt", "a.json", "b.json")
    ]


@pytest.mark.parametrize("compression", COMPRESS)
def test_a_tar_archive_is_refused_by_name(tmp_path, compression):
    (tmp_path / "a.txt").write_text("<DOC></DOC>")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(tmp_path / "a.txt", "a.txt")
    archive = tmp_path / "documents"
    archive.write_bytes(COMPRESS[compression](packed.getvalue()))
    with pytest.raises(InputError, match=r"this is a tar archive; .*\n  Unpack it into a folder"):
        open_bytes(archive)


@pytest.mark.parametrize(
    ("start", "name", "remedy"),
    [
        (b"7z\xbc\xaf\x27\x1c\x00\x04", "a 7z archive", "Unpack it"),
        (b"PK\x03\x04\x14\x00", "a zip archive", "Unpack it"),
        (b"\x04\x22\x4d\x18\x64", "packed by lz4", "Unpack it"),
        (b"Rar!\x1a\x07\x00", "a RAR archive", "Unpack it"),
        (b"PK\x07\x08PK\x03\x04", "a part of a zip archive in several files", "Join the parts"),
        (b"LZIP\x01\x14", "packed by lzip", "Unpack it"),
        (lzma.compress(b"text", lzma.FORMAT_ALONE), "packed by lzma", "Unpack it"),
        (b"\xff\x06\x00\x00sNaPpY", "packed by snappy", "Unpack it"),
        (b"PK\x05\x06\x00\x00", "a zip archive without files", "Get the file again"),
        (b"PAR1\x15\x04", "a Parquet file", "The format parquet"),
        (b"\x1f\x9d\x90", r"packed by Unix compress \(\.Z\), which gunzip unpacks", "Unpack it"),
    ],
)
def test_archives_that_are_not_read_are_called_by_their_names(tmp_path, start, name, remedy):
    for pack in (bytes, gzip.compress):
        (tmp_path / "a").write_bytes(pack(start + bytes(300)))
        with pytest.raises(InputError, match=f"this is {name}; such files are not read\n  {remedy}"):
            open_bytes(tmp_path / "a")


def test_a_window_that_is_too_large_is_no_damage(tmp_path):
    """`zstd --long=31 < FILE`: the frame asks for 2 GB, whatever it holds."""
    block = b"a\tapple\n"
    header = b"\x28\xb5\x2f\xfd\x00" + bytes([31 - 10 << 3]) + (len(block) << 3 | 1).to_bytes(3, "little")
    (tmp_path / "a.tsv.zst").write_bytes(header + block)
    with pytest.raises(InputError, match=r"window of more than 128 MB\n.*zstd -dc --long=31"):
        list(read_lines(tmp_path / "a.tsv.zst"))


@pytest.mark.parametrize("inner", ["gzip", "bzip2", "xz", "zstandard", "zstandard-skippable"])
def test_what_is_packed_twice_is_refused(tmp_path, inner):
    (tmp_path / "a").write_bytes(gzip.compress(COMPRESS[inner](b"text")))
    with pytest.raises(InputError, match=r"this is packed twice, .*\n  Unpack it"):
        open_bytes(tmp_path / "a")


def contents(path):
    """What can be read of a packed file, and whether its end was reached."""
    lines = list(read_lines(path))
    damaged = [line for line in lines if isinstance(line, Malformed)]
    return [line.text for line in lines if isinstance(line, Line)], not damaged


BETWEEN = {
    "nothing": b"",
    "zeros": bytes(4),  # padding of xz, and what tapes leave
    "a newline": b"\n",
    "other bytes": b"garbage",
    "a damaged header": None,
}


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz"])
def test_streams_one_behind_the_other_are_read_whole_or_called_damaged(tmp_path, packing, between):
    first, second = COMPRESS[packing](b"one\n" * 9), COMPRESS[packing](b"two\n")
    if BETWEEN[between] is None:
        second = bytes([second[0] ^ 1]) + second[1:]
    (tmp_path / "f").write_bytes(first + (BETWEEN[between] or b"") + second)
    texts, whole = contents(tmp_path / "f")
    assert texts[:9] == ["one"] * 9
    assert whole == (between in ("nothing", "zeros"))
    assert texts[9:] == (["two"] if whole else [])


@pytest.mark.parametrize("streams_end", [1, 4, 8, 400])
@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz"])
def test_zeros_around_the_end_of_what_is_read_at_once_lose_no_stream(tmp_path, packing, streams_end):
    """Whatever share of the zeros comes with the end of the first stream, and however many reads they take."""
    first, second = COMPRESS[packing](b"one\n"), COMPRESS[packing](b"two\n")
    for reads in (1, 2):
        zeros = bytes(reads * (1 << 16) - len(first) - 8 + streams_end // 4 * 4)
        (tmp_path / "f").write_bytes(first + zeros[len(zeros) % 4 :] + second)
        assert contents(tmp_path / "f") == (["one", "two"], True)
        (tmp_path / "f").write_bytes(first + zeros[len(zeros) % 4 :] + second[:-9])
        assert not contents(tmp_path / "f")[1]


@pytest.mark.parametrize(("zeros", "whole"), [(3, False), (8, True), (10, False)])
def test_the_padding_of_xz_is_a_multiple_of_four_zeros(tmp_path, zeros, whole):
    (tmp_path / "f").write_bytes(lzma.compress(b"a\n") + bytes(zeros))
    assert contents(tmp_path / "f") == (["a"], whole)


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz"])
def test_no_changed_byte_loses_a_line_without_a_word(tmp_path, packing):
    """But for the first bytes of a file, by which its packing is known. Zstandard's checksums are optional."""
    lines = [[f"{stream}{number}" for number in range(30)] for stream in "abc"]
    packed = b"".join(COMPRESS[packing]("".join(f"{line}\n" for line in part).encode()) for part in lines)
    path, draw = tmp_path / "f", random.Random(7)
    for _ in range(400):
        location = draw.randrange(10, len(packed))
        path.write_bytes(
            packed[:location] + bytes([packed[location] ^ 1 << draw.randrange(8)]) + packed[location + 1 :]
        )
        texts, whole = contents(path)
        assert not whole or texts == lines[0] + lines[1] + lines[2]


def test_a_file_is_not_chosen_by_patterns(tmp_path: Path) -> None:
    (tmp_path / "wiki.jsonl").write_text("")
    assert list_files(tmp_path, (".jsonl",), ["wiki*"]) == [tmp_path / "wiki.jsonl"]
    with pytest.raises(InputError, match="it is a file, and `files` chooses files of a folder"):
        list_files(tmp_path / "wiki.jsonl", (".jsonl",), ["wiki*"])
