"""Added text: it counts as the document's own, in every form of file."""

import gzip
import json
from pathlib import Path

import pytest
from small_lucene import TEXT

from irpretrain.foundation.contracts import TERM_VECTORS
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.provenance import Recorder
from irpretrain.retrieval.expansion import check_expansion, expand_documents
from small_documents import write_documents

BODIES = {"d1": "the cat runs", "d2": "dogs", "d3": ""}


def expand(folder: Path, given: str = "given") -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    documents = write_documents(folder / "documents.parquet", BODIES)
    counts = expand_documents(documents, folder / given, TEXT, folder / "vectors.parquet")
    rows = TERM_VECTORS.read(folder / "vectors.parquet").to_pylist()
    return {row["document_id"]: {t["term"]: t["weight"] for t in row["terms"]} for row in rows}, counts


def test_words_are_cut_as_lucene_cuts_them_and_counted_together(tmp_path: Path) -> None:
    lines = [
        {"document_id": "d1", "queries": ["Do cats run?", "the cat"]},
        {"id": "d3", "text": "a U.S. zoo \ud800, don't"},
        {"id": "x", "text": "elsewhere"},
    ]
    (tmp_path / "given").write_text("".join(json.dumps(line) + "\n" for line in lines))
    vectors, counts = expand(tmp_path)
    assert vectors == {
        "d1": {"the": 2, "cat": 2, "cats": 1, "do": 1, "run": 1, "runs": 1},
        "d2": {"dogs": 1},
        "d3": {"a": 1, "don't": 1, "u.s": 1, "zoo": 1},
    }
    assert counts == {
        "source": str(tmp_path / "given"),
        "documents": 3,
        "documents_without_addition": 1,
        "lines": 3,
        "lines_of_other_documents": 1,
    }


def test_tab_separated_and_several_lines_of_a_document(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("d2\tdogs bark\n\nd2\twhat barks\twho\n")
    assert expand(tmp_path)[0]["d2"] == {"dogs": 2, "bark": 1, "what": 1, "barks": 1, "who": 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("d1 cat", "a document, a tab and a text"),
        ("d1 \tcat", "bad identifier"),
        ("d1\tcat\rd2\tdog", "only a line feed ends a line"),
        ("d1\tcat\u2028d2\tdog", "only a line feed ends a line"),
        (f'{{"id": "d1", "text": "cat", "y": [{"[], " * 600_000}[]]}}', "record too large"),
        ('{"id": "d1"', "not valid JSON"),
        ('{"id": "d1"}', "queries, a list of texts"),
        ('{"id": 1.5, "text": "cat"}', "document_id"),
        ('{"id": "d1", "_id": "d2", "text": "cat"}', "'id' and '_id' mean the same"),
        ('{"id": "d1", "queries": ["cat"], "text": "dog"}', "'queries' and 'text' mean the same"),
        ('{"id": "d1", "text": "a", "text": "b"}', "the key 'text' twice"),
        ('{"id": "d1", "queries": [1]}', "queries, a list of texts"),
    ],
)
def test_lines_that_cannot_be_read(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "given").write_text(f"d1\tcat\n{line}\n", newline="\n")
    with pytest.raises(InputError, match=message) as error:
        expand(tmp_path)
    assert "2" in str(error.value)


def expanded_shards(folder: Path, given: str) -> list[Path]:
    """The vectors of two shards, d1 and d2, with their sidecars."""
    (folder / "given").write_text(given)
    vectors = []
    for name in ("d1", "d2"):
        documents = write_documents(folder / f"{name}.parquet", {name: BODIES[name]})
        vectors.append(folder / f"vectors-{name}.parquet")
        recorder = Recorder("expand_documents", [], [str(vectors[-1])], {})
        recorder.write(expand_documents(documents, folder / "given", TEXT, vectors[-1]))
    return vectors


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("1\tcat\n2\tdog\n", r"given: none of its 2 lines names a document .* first one is 'd1'"),
        ("d1\t\nd2\t \n", "given: it has no text for any of the 2 documents"),
        ('{"id": "d1", "queries": []}\n', "given: it has no text for any of the 2 documents"),
        ("d1\t\nx\ta\n", "given: it has no text for any of the 2 documents"),
    ],
)
def test_an_expansion_of_no_use_is_refused(tmp_path: Path, given: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_expansion(expanded_shards(tmp_path, given))


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ("d1\ta\n", "given: it adds nothing to 1 of 2 documents"),
        ("d1\ta\n" * 99 + "d2\tb\n" * 99, None),
        ("d1\ta\n" * 99 + "d2\tb\n" * 99 + "x\tc\n", None),
        (
            "d1\ta\n" * 99 + "d2\tb\n" * 99 + "x\tc\n" * 3,
            "given: 3 of 201 lines name no document of the corpus",
        ),
    ],
    ids=["documents", "none", "one line of a hundred", "more lines"],
)
def test_what_an_expansion_misses_is_noted_above_one_in_a_hundred(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, note: str | None
) -> None:
    check_expansion(expanded_shards(tmp_path, given))
    printed = capsys.readouterr().err
    assert note in printed if note else "given: " not in printed


def test_an_expansion_may_be_packed_and_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "given").write_bytes(gzip.compress("\ufeffd2\tbark\n".encode()))
    assert expand(tmp_path)[0]["d2"] == {"dogs": 1, "bark": 1}
