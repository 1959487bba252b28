"""Files of the SMART collections: documents and queries."""

import pytest

from irpretrain.foundation.records import Document, Malformed, Query, Skipped

DOCUMENTS = """.I 1
.T
experimental investigation
of a wing
.A
brenckman,m.
.W
the first line
  .5 of the second
.I 2
.W
only text
.X
1\t5\t2
.I 3
.A
nobody
"""


def test_documents(read) -> None:
    assert read("documents", "smart", DOCUMENTS) == [
        Document(0, "1", "experimental investigation of a wing", "", "the first line\n  .5 of the second"),
        Document(1, "2", "", "", "only text"),
        Skipped(2, "empty document", location="document 3, line 15", document_id="3"),
    ]
    assert read("documents", "smart", DOCUMENTS, body_fields=["A", "W"])[2].body == "nobody"


def test_queries(read) -> None:
    text = ".I 001\n.W\nwhat similarity\nlaws\n.I 004\n.W\nwhich\n"
    assert read("topics", "smart", text) == [
        Query(0, "001", "what similarity laws", 1),
        Query(1, "004", "which", 5),
    ]
    counted = read("topics", "smart", text, identifiers="counted")
    assert [query.query_id for query in counted] == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("preface\n.I 1\n.W\nx\n", "text before the first .I", 1),
        (".W\n.I 1\n.W\nx\n", "text before the first .I", 1),
        (".I 1\nx\n.W\nx\n", "text outside a field", 2),
        (".I 1 2\n.W\nx\n", "bad identifier", 1),
    ],
)
def test_faults_have_a_line(read, text: str, reason: str, line: int) -> None:
    faults = [found for found in read("documents", "smart", text) if isinstance(found, Malformed)]
    assert [(fault.position, fault.reason, fault.line) for fault in faults] == [(0, reason, line)]


@pytest.mark.parametrize("opening", [" .I 2", "\t.I 2", ".i 2", " .i\t2"])
@pytest.mark.parametrize("letter", ["A", "W"])
def test_what_is_nearly_the_beginning_of_a_record_joins_no_other(read, opening: str, letter: str) -> None:
    documents = read("documents", "smart", f".I 1\n.{letter}\na\n{opening}\n.K\nb\n.I 3\n.W\nsee .i 3\n")
    assert [d.body for d in documents if isinstance(d, Document)] == ["see .i 3"]
    faults = [str(d) for d in documents if isinstance(d, Malformed)]
    assert faults == ["several records in one: 1 record, but 2 × .I"]


@pytest.mark.parametrize("opening", [".I", ".I ", ".I\t"])
def test_a_record_without_an_identifier_joins_no_other(read, opening: str) -> None:
    documents = read("documents", "smart", f".I 1\n.W\none\n{opening}\n.W\ntwo\n.I3\n.W\nthree\n")
    assert [d.body for d in documents if isinstance(d, Document)] == ["one", "three"]
    assert [(d.position, d.reason) for d in documents if isinstance(d, Malformed)] == [(1, "bad identifier")]


@pytest.mark.parametrize("mark", [".W text", ".w", " .W", "\t.T text"])
def test_the_mark_of_a_field_stands_alone_on_its_line(read, mark: str) -> None:
    first, second = read(
        "documents", "smart", f".I 1\n.A\nA. Author\n{mark}\nb\n.I 2\n.W\n.5 mg\n.What\n. w\n"
    )
    assert isinstance(first, Malformed)
    assert isinstance(second, Document)
    assert (first.line, second.body) == (1, ".5 mg\n.What\n. w")


def test_a_field_that_is_repeated_word_for_word_is_one_field(read) -> None:
    """Such a record is among ADI's; one with another text is two records in one."""
    text = ".I 1\n.T\napple\npie\n.T\napple  pie\n.A\nA\n.A\nB\n.W\none\n.W\none\n.I 2\n.W\none\n.W\ntwo\n"
    first, second = read("documents", "smart", text, body_fields=["A", "W"])
    assert isinstance(first, Document)
    assert (first.title, first.body) == ("apple pie", "A\nB\none")
    assert isinstance(second, Malformed)
    assert second.reason == "several records in one"
