"""CORD-19: its table with quotes and line ends in cells, and repeated papers."""

import csv
import gzip
import io

import pytest

from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import Document, Malformed, Skipped

MAY = (
    "cord_uid", "sha", "source_x", "title", "doi", "pmcid", "abstract", "has_pdf_parse", "has_pmc_xml_parse",
    "full_text_file", "url",
)  # fmt: skip


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
    Skipped(3, "empty document", location="document le0ogx1s, line 7", document_id="le0ogx1s"),
    Document(4, "fy4w7xz8", "", "", "No title."),
]


def test_titles_and_abstracts(read):
    content = table(ROWS).encode()
    for packed in (content, b"\xef\xbb\xbf" + content, gzip.compress(content)):
        assert read("documents", "cord19", packed) == EXPECTED


def test_a_repeated_paper_is_known_to_every_share(read):
    shares = [read("documents", "cord19", table(ROWS), lambda n, own=own: n == own) for own in range(5)]
    assert [record for share in shares for record in share] == EXPECTED


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no table of CORD-19: there is no column cord_uid; there are none"),
        ("id,title\n", "no table of CORD-19: there is no column cord_uid; there are id, title"),
        ("cord_uid,title,abstract,title\n", "the header names a column twice: title"),
    ],
)
def test_other_tables_are_refused(read, text, fault):
    with pytest.raises(InputError, match=f":1: {fault}"):
        read("documents", "cord19", text)


@pytest.mark.parametrize(
    ("text", "fault", "line"),
    [
        ("a,b\n", "wrong number of columns: 2 instead of 3", 2),
        ('a,b,"c\nnever closed\n', "quotation mark is not closed", 2),
        ("a b,c,d\n", "bad identifier", 2),
        ('a,b,"c\nabcdefg1,b,c\n"\n', "several records in one: 1 record, but 2 ×", 2),
        (b"abcdefg1,b,Sec\xff\n", "not valid UTF-8", 2),
    ],
)
def test_broken_rows(read, text, fault, line):
    header = "cord_uid,title,abstract\n"
    content = header + text if isinstance(text, str) else header.encode() + text
    [found] = read("documents", "cord19", content)
    assert isinstance(found, Malformed)
    assert str(found).startswith(fault)
    assert found.line == line


def test_a_damaged_archive_is_to_be_fetched_again(read):
    *_, fault = read("documents", "cord19", gzip.compress(table(ROWS).encode())[:-9])
    assert (fault.reason, fault.remedy) == ("damaged archive", "Get the file again and compare its checksum")
