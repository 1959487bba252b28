"""Relevance judgements in TREC's format and as TSV."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.corpora.formats import trec
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.records import Judgement, Malformed, Skipped


def test_trec(read):
    found = read(
        "judgements", "trec", "q1 0 d1 1\nq1\tQ0\td2\t-2\n\nq2 0 d1\nq2 0 d1 x\nq2 0 d1 1.5\nq2 0 d3 2 9\n"
    )
    assert found[:2] == [Judgement(0, "q1", "d1", 1, 1), Judgement(1, "q1", "d2", -2, 2)]
    assert [(f.reason, f.line) for f in found[2:]] == [
        ("wrong number of columns", 4),
        ("relevance is not a whole number", 5),
        ("relevance is not a whole number", 6),
        ("wrong number of columns", 7),
    ]


LOCATIONS = {"qrels": (2, 3), "prels": (1, 2), "weighted": (2, 3)}


@given(
    layout=st.sampled_from(sorted(LOCATIONS)),
    numbered=st.booleans(),
    iteration=st.sampled_from(["0", "Q0", "1"]),
    queries=st.integers(1, 4),
    documents=st.integers(2, 5),
    separator=st.sampled_from([" ", "\t", "   "]),
    seed=st.integers(0, 99),
)
def test_columns_are_decided_once_a_file(
    tmp_path_factory, layout, numbered, iteration, queries, documents, separator, seed
):
    draw, rows = random.Random(seed), []
    for query in range(queries):
        for document in draw.sample(range(3 * documents), documents):
            name, relevance = str(document) if numbered else f"doc{document}", str(draw.randint(0, 3))
            method, weight = str(draw.randint(0, 2)), draw.choice(["1", "2.5"])
            if layout == "prels":
                rows.append((str(query), name, relevance, method, draw.choice(["1", "0.25"])))
            else:
                rows.append((str(query), iteration, name, relevance, *[weight] * (layout == "weighted")))
    path = tmp_path_factory.mktemp("qrels") / "q"
    path.write_text("# a comment\n" + "".join(separator.join(row) + "\n" for row in rows))
    document, relevance = LOCATIONS[layout]
    expected = [(row[0], row[document], int(row[relevance])) for row in rows]
    found = list(trec.JUDGEMENTS.read(path, trec.JUDGEMENTS.options()))
    assert isinstance(found[0], Skipped)
    assert [(j.query_id, j.document_id, j.relevance) for j in found[1:]] == expected


@pytest.mark.parametrize(
    ("text", "document", "relevance", "last_column"),
    [
        ("1 0 5 1\n1 0 7 1 0.5\n", "5", 1, ""),
        ("1 0 5 1\n1 0 7 1 0.5\n1 0 8 x\n1 0 9 1 0.5\n1 0 7 1 0.5\n", None, None, "weight"),
        ("1 0 5 1 0.5\n1 0 7 NS 0.5\n", "5", 1, "weight"),
        ("1 0 5 1 0.5\n1 0 7 NS 0.5\n1 0 8 NS 0.5\n", "0", 5, "chance"),
    ],
    ids=["half of five columns", "most of five columns", "half are both", "most can be prels alone"],
)
def test_the_kind_of_lines_is_that_of_most(read, capsys, text, document, relevance, last_column):
    first, *_ = read("judgements", "trec", text)
    assert bool(last_column) == bool(said := capsys.readouterr().err)
    assert said.endswith(f"{last_column}\n" if last_column else "")
    assert (getattr(first, "document_id", None), getattr(first, "relevance", None)) == (document, relevance)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("query-id\tcorpus-id\tscore\nq1\td1\t1\n", "give format: tsv"),
        ("1 184 2\n1 29 1\n", "{print $1, 0, $2, $3}"),
    ],
)
def test_three_columns_are_reported_what_helps(read, text, remedy):
    fault, *_ = read("judgements", "trec", text)
    assert remedy in fault.remedy


@pytest.mark.parametrize(
    "text",
    [
        "1   13     0   0.000000\n1   14     0   0.000000\n",
        "     1     28\t0\t0.000000\n     2     35\t0\t0.000000\n",
        "1 13 0 0.000000\n",
        "01 1410  0 0\n01 1572  0 0\n",
    ],
    ids=["MED", "CISI", "one line", "CACM"],
)
def test_files_of_smart_are_named_with_their_remedy(read, text):
    with pytest.raises(InputError, match=r"as in SMART collections.*awk '\{print \$1, 0, \$2, 1\}'"):
        read("judgements", "trec", text)


@pytest.mark.parametrize("space", [" ", "\u00a0"])
@pytest.mark.parametrize(
    ("kind", "format_name", "options", "line"),
    [
        ("judgements", "json", {}, '{"q1~": {"d1": 1}}'),
        ("judgements", "json", {}, '{"q1": {"~d1": 1}}'),
        ("judgements", "tsv", {"columns": ["query_id", "document_id", "relevance"]}, "q1\td1~\t1 "),
        ("topics", "tsv", {}, "q1~\tred fox"),
        ("topics", "jsonl", {}, '{"id": "~q1", "text": "red fox"}'),
        ("documents", "tsv", {"columns": ["id", "text"]}, "d1~\tred fox"),
        ("documents", "jsonl", {}, '{"id": "d1~", "text": "red fox"}'),
        ("runs", "tsv", {"columns": ["query_id", "document_id", "rank"]}, "q1\td1~\t1 "),
        ("topics", "colon", {}, "1~:red fox"),
        (
            "topics",
            "squad",
            {},
            '{"data": [{"title": "T", "paragraphs": [{"context": "c", "qas": [{"id": "q1~", "question": "x"}]}]}]}',
        ),
    ],
)
def test_white_space_around_identifiers_is_refused_with_what_to_do(
    read, kind, format_name, options, line, space
):
    [sound] = read(kind, format_name, line.replace("~", ""), **options)
    assert not isinstance(sound, Malformed)
    [fault] = read(kind, format_name, line.replace("~", space), **options)
    assert isinstance(fault, Malformed)
    assert "around it: remove them (TRIM in a spreadsheet)" in str(fault)


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        ([f"column{'x' * 500}{n}" for n in range(200)], "and 190 more"),
        (["y" * 9000] * 2, "names a column twice"),
    ],
)
def test_a_long_header_is_quoted_in_part(read, header, fault):
    with pytest.raises(InputError, match=fault) as error:
        read("judgements", "tsv", "\t".join(header) + "\n")
    assert len(str(error.value)) < 1000


def test_tsv_with_header(read):
    sound, fault = read("judgements", "tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td 2\t1\n")
    assert sound == Judgement(1, "q1", "d1", 1, 2)
    assert fault.reason == "bad identifier"


def test_tsv_with_named_columns(read):
    columns = ["query_id", "iteration", "document_id", "relevance"]
    assert read("judgements", "tsv", "q1\t0\td1\t1\n", columns=columns) == [Judgement(0, "q1", "d1", 1, 1)]


def test_tsv_without_a_known_column(read):
    message = r"one of the columns query_id, qid, .* is needed; the file has q 1, d1, 1"
    with pytest.raises(InputError, match=message):
        read("judgements", "tsv", "q\x1b1\td1\t1\n")


QRELS, WEIGHTED = "query iteration document relevance", "query iteration document relevance weight"


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("1 3 d7 2 0.5\n1 3 d8 0 1\n", [("1", "d7", 2), ("1", "d8", 0)]),
        ("20001 GX1 1 a 0.25\n20001 GX2 0 b 1\n", [("20001", "GX1", 1), ("20001", "GX2", 0)]),
        ("1 7 1 1 0.5\n1 9 0 1 1.0\n", [("1", "7", 1), ("1", "9", 0)]),  # documents called by numbers
        ("1 7 1 0 0.5\n1 8 1 0 0.5\n2 9 1 0 05\n", [("1", "7", 1), ("1", "8", 1), "'05'"]),
        ("1 0 0 1\n2 0 0 1\n", [("1", "0", 1), ("2", "0", 1)]),  # of a document that is called 0
        ("1 0 d7 1.0\n1 0 d8 0.000000\n", [("1", "d7", 1), ("1", "d8", 0)]),
        ("1 0 7 1 1\n2 0 9 1 1\n2 0 8 1\n", [("1", "7", 1), ("2", "9", 1), f"4 instead of 5 ({WEIGHTED})"]),
        ("1 0 a 1\n1 b 1 1 0.5\n1 0 c 1\n", [("1", "a", 1), f"5 instead of 4 ({QRELS})", ("1", "c", 1)]),
        ("1 0 d1 1 x\n", [f"5 instead of 4 ({QRELS})"]),
    ],
)
def test_one_layout_holds_for_a_file(read, text, judged):
    """Of a line that has another one, `judged` holds the detail of its fault."""
    entries = [entry for entry in read("judgements", "trec", text) if not isinstance(entry, Skipped)]
    assert judged == [
        entry.detail if isinstance(entry, Malformed) else (entry.query_id, entry.document_id, entry.relevance)
        for entry in entries
    ]


@pytest.mark.parametrize(
    ("grade", "is_sound"), [("9999", True), ("-9999", True), ("00007", True), ("31715818", False)]
)
def test_a_grade_has_four_digits(read, grade, is_sound):
    """The time of trec_eval grows with the highest grade: an identifier in its place would never end."""
    (record,) = read("judgements", "trec", f"q1 0 d1 {grade}\n")
    assert isinstance(record, Judgement) == is_sound
