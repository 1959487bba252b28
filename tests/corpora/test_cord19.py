"""CORD-19: its table with quotes and line ends in cells, repeated papers, and full texts that stay in their folder."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest

from irpretrain.corpora.formats import cord19
from irpretrain.corpora.formats.cord19 import Cord19DocumentOptions, read
from irpretrain.corpora.records import Document, Malformed, Skipped

MAY = (
    "cord_uid", "sha", "source_x", "title", "doi", "pmcid", "abstract", "has_pdf_parse", "has_pmc_xml_parse",
    "full_text_file", "url",
)  # fmt: skip
FULL = Cord19DocumentOptions(text="full")


def table(rows: list[dict[str, str]], columns: tuple[str, ...] = MAY) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


ROWS = [
    {
        "cord_uid": "xqhn0vbp", "sha": "1e1286; f4fb", "title": 'Airborne "rhinovirus"\n detection', "pmcid": "PMC1",
        "abstract": "BACKGROUND: Rhinovirus, the most common cause,\r\nof ümlauts.", "has_pdf_parse": "True",
        "has_pmc_xml_parse": "True", "full_text_file": "custom_license", "url": "https://doi.org/1; https://x.org",
    },
    {"cord_uid": "gi6uaa83", "sha": "8ae13", "title": "Second", "has_pdf_parse": "True", "full_text_file": "comm_use"},
    {"cord_uid": "xqhn0vbp", "title": "Airborne rhinovirus detection", "source_x": "WHO"},
    {"cord_uid": "le0ogx1s"},
    {"cord_uid": "fy4w7xz8", "abstract": "No title."},
]  # fmt: skip


def write(folder: Path, text: str | None = None) -> Path:
    path = folder / "metadata.csv"
    path.write_text(table(ROWS) if text is None else text, newline="")
    return path


def parse(folder: Path, name: str, *paragraphs: tuple[str, str]) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    body = [{"section": section, "text": text} for section, text in paragraphs]
    (folder / name).write_text(json.dumps({"body_text": body}))


EXPECTED = [
    Document(
        0,
        "xqhn0vbp",
        'Airborne "rhinovirus" detection',
        "https://doi.org/1",
        "BACKGROUND: Rhinovirus, the most common cause,\nof ümlauts.",
    ),
    Document(1, "gi6uaa83", "Second", "", ""),
    Skipped(2, "repeated identifier"),
    Skipped(3, "empty document", location="document le0ogx1s"),
    Document(4, "fy4w7xz8", "", "", "No title."),
]


def test_titles_and_abstracts(tmp_path):
    path = write(tmp_path)
    assert list(read(path, Cord19DocumentOptions())) == EXPECTED
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert list(read(path, Cord19DocumentOptions())) == EXPECTED
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read(path, Cord19DocumentOptions())) == EXPECTED


def test_a_repeated_paper_is_known_to_every_share(tmp_path):
    path = write(tmp_path)
    found = [list(read(path, Cord19DocumentOptions(), lambda n, own=own: n == own)) for own in range(5)]
    assert [one for share in found for one in share] == EXPECTED


def test_full_texts_of_the_release_of_1_may(tmp_path):
    path = write(tmp_path)
    parse(
        tmp_path,
        "custom_license/pmc_json/PMC1.xml.json",
        ("Intro", "One."),
        ("Intro", "Two."),
        ("", "Three."),
    )
    parse(tmp_path, "comm_use/pdf_json/8ae13.json", ("", "PDF."))
    found = list(read(path, FULL))
    assert found[0].body.endswith("of ümlauts.\nIntro\nOne.\nTwo.\nThree.")
    assert found[1].body == "PDF."
    assert found[2:] == EXPECTED[2:]


def test_full_texts_of_later_releases(tmp_path):
    columns = ("cord_uid", "title", "abstract", "pdf_json_files", "pmc_json_files")
    row = {
        "cord_uid": "a",
        "title": "T",
        "pdf_json_files": "document_parses/pdf_json/1.json; document_parses/pdf_json/2.json",
    }
    path = write(tmp_path, table([row], columns))
    parse(tmp_path, "document_parses/pdf_json/1.json", ("", "First."))
    assert next(iter(read(path, FULL))).body == "First."


@pytest.mark.parametrize("name", ["../secret.json", "/etc/passwd", "link/secret.json", "a\0b"])
def test_paths_stay_in_their_folder(tmp_path, name):
    folder = tmp_path / "cord"
    folder.mkdir()
    parse(tmp_path, "secret.json", ("", "secret"))
    (folder / "link").symlink_to(tmp_path)
    path = write(
        folder,
        table(
            [{"cord_uid": "a", "title": "T", "pdf_json_files": name}],
            ("cord_uid", "title", "abstract", "pdf_json_files"),
        ),
    )
    [found] = read(path, FULL)
    assert isinstance(found, Malformed)
    assert found.reason in ("no full text", "broken CSV")
    assert "secret" not in str(found) or "leads out of the folder" in str(found)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "there is no file"),
        ("{", "Expecting property name"),
        ("[]", "has no list body_text"),
        ('{"body_text": [{"section": "x"}]}', "has a paragraph without text"),
        ('{"body_text": [5]}', "has a paragraph without text"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_broken_parses(tmp_path, content, fault):
    path = write(tmp_path, table([ROWS[1]]))
    if content is not None:
        (tmp_path / "comm_use/pdf_json").mkdir(parents=True)
        (tmp_path / "comm_use/pdf_json/8ae13.json").write_text(content)
    [found] = read(path, FULL)
    assert isinstance(found, Malformed)
    assert found.line == 2
    assert fault in str(found)


@pytest.mark.parametrize(
    ("text", "fault", "line"),
    [
        ("", "no table of CORD-19: the file is empty", 1),
        ("id,title\n", "no table of CORD-19: there is no column cord_uid; there are id, title", 1),
        (
            "cord_uid,title,abstract,title\na,b,c,d\n",
            "no table of CORD-19: its header names a column twice: title",
            1,
        ),
        ("cord_uid,title,abstract\na,b\n", "wrong number of columns: 2 instead of 3", 2),
        ('cord_uid,title,abstract\na,b,"c\nnever closed\n', "broken CSV: unexpected end of data", 4),
        ('cord_uid,title,abstract\na,b,"c"d\n', "broken CSV", 3),
        ("cord_uid,title,abstract\na b,c,d\n", "bad identifier", 2),
    ],
)
def test_broken_tables(tmp_path, text, fault, line):
    *_, found = read(write(tmp_path, text), Cord19DocumentOptions())
    assert isinstance(found, Malformed)
    assert str(found).startswith(fault)
    assert found.line == line


def test_bytes_that_are_no_text(tmp_path):
    path = write(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"Second", b"Sec\xff"))
    *_, found = read(path, Cord19DocumentOptions())
    assert found.reason == "not valid UTF-8"
    path.write_bytes(gzip.compress(table(ROWS).encode())[:-9])
    *_, found = read(path, Cord19DocumentOptions())
    assert found.reason == "damaged archive"


def test_a_cell_without_end_costs_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(cord19, "most_bytes", lambda: 1000)
    path = write(tmp_path, 'cord_uid,title,abstract\na,b,"' + "x" * 5000 + '"\n')
    [found] = read(path, Cord19DocumentOptions())
    assert str(found) == "broken CSV: field larger than field limit (1000)"
