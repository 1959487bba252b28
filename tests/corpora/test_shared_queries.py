"""Queries that are tested and used too are found by what they are, not by the name of their data set."""

import json
from pathlib import Path

import pytest

from irpretrain.corpora.shared_queries import check_shared_queries
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.errors import ConfigError
from small_documents import write_documents

TESTED = {f"q{number:02}": f"Where is  river {number}?" for number in range(20)}
FEW = ["q00", "q01", "q02"]
OTHERS = {f"t{number}": f"who built bridge {number}" for number in range(5)}


def check(folder: Path, used: dict[str, str], judged=None, bodies=None) -> dict[str, int]:
    """Check queries against `TESTED`; of both sides query → relevant documents, and document → body."""
    for name, queries in (("used", used), ("tested", TESTED)):
        rows = [{"query_id": identifier, "text": text} for identifier, text in queries.items()]
        QUERIES.write(folder / f"{name}.parquet", rows)
    files = folder / "used.parquet", folder / "tested.parquet"
    qrels = folder / "used.txt", folder / "tested.txt"
    for path, relevant in zip(qrels, judged or (), strict=False):
        grades = {
            query: dict.fromkeys(["no"], 0) | dict.fromkeys(found, 1) for query, found in relevant.items()
        }
        path.write_text(
            "".join(f"{q} 0 {d} {grade}\n" for q, judged in grades.items() for d, grade in judged.items())
        )
    corpora = folder / "used-documents.parquet", folder / "tested-documents.parquet"
    for path, documents in zip(corpora, bodies or (), strict=False):
        write_documents(path, documents)
    return check_shared_queries(
        *files,
        ("copy", "tiny"),
        ["datasets.tiny.train_on"],
        folder / "apart.json",
        qrels if judged else None,
        ([corpora[0]], [corpora[1]]) if bodies else None,
    )


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        (TESTED, "20 of the 20 queries that tiny tests, such as q00"),
        ({**OTHERS, "q03": "where is River 3?"}, "1 of the 20 queries that tiny tests, such as q03 ('where"),
        ({**OTHERS, "q03": "'Where is river-3'"}, "such as q03 ('where is river 3'), there q03"),
        (
            {f"x{name}": TESTED[name].rstrip("?") for name in FEW},
            "the texts of 3 of the 20 queries that tiny tests, under other identifiers, such as q00",
        ),
    ],
    ids=["a copy", "one, written otherwise", "other punctuation", "more than a tenth, numbered anew"],
)
def test_shared_queries_are_refused(tmp_path: Path, used: dict[str, str], expected: str) -> None:
    with pytest.raises(ConfigError, match=r"^datasets\.tiny\.train_on: data set copy has") as refusal:
        check(tmp_path, used)
    assert expected in str(refusal.value)
    assert not (tmp_path / "apart.json").exists()


def test_a_query_in_other_words_is_known_by_its_relevant_documents(tmp_path: Path) -> None:
    """Titles and descriptions of the same topics."""
    tested = {name: [f"d{name}", "d"] for name in TESTED}
    used = {"q03": ["dq03", "other", "another"], "t0": ["d"]}
    with pytest.raises(ConfigError, match=r"1 of the 20 .* q03 \('where .*river 3'\), there q03 \('a page"):
        check(tmp_path, {**OTHERS, "q03": "A page names the place of the river."}, (used, tested))
    assert not (tmp_path / "apart.json").exists()


@pytest.mark.parametrize(
    "relevant",
    [["other"], ["no"], ["dq03", "d1", "d2"]],
    ids=["other documents", "one that is judged and not relevant", "one of three by chance"],
)
def test_an_identifier_alone_is_no_query(tmp_path: Path, relevant: list[str]) -> None:
    tested = {name: [f"d{name}", "d", f"e{name}"] for name in TESTED}
    used = {"q03": relevant, "t0": ["d"]}
    counts = check(tmp_path, {**OTHERS, "q03": "A page names the place of the river."}, (used, tested))
    assert counts["tested_queries_of_equal_text"] == 0


@pytest.mark.parametrize(
    ("used", "equal"),
    [
        (OTHERS, 0),
        ({"q00": "who built bridge 0"}, 0),
        ({**OTHERS, "t7": "where is river 7?", "t8": "where is river 7?", "t9": "where is river 8?"}, 2),
    ],
    ids=["other queries", "an identifier alone", "texts of a tenth alone"],
)
def test_other_queries_pass_and_equal_texts_are_counted(
    tmp_path: Path, used: dict[str, str], equal: int, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = check(tmp_path, used)
    expected = {
        "queries_used": len(used),
        "queries_tested": 20,
        "tested_queries_of_equal_text": equal,
        "tested_queries_of_equal_documents": 0,
    }
    assert counts == json.loads((tmp_path / "apart.json").read_text()) == expected
    assert ("2 of 20 tested queries have the text of a query of copy" in capsys.readouterr().err) == bool(
        equal
    )


SEVERAL = {name: [f"d{name}", f"e{name}", f"f{name}"] for name in TESTED}
SINGLE = {name: [f"d{name}"] for name in TESTED}


def renamed(queries: dict[str, list[str]]) -> dict[str, list[str]]:
    return {f"x{name}": documents for name, documents in queries.items()}


@pytest.mark.parametrize(
    ("relevant", "reword"),
    [
        (SEVERAL, lambda text: " ".join(reversed(text.split()))),
        (SEVERAL, lambda text: "sings the whale"),
        (SINGLE, lambda text: text.replace("is ", "is my")),
    ],
    ids=["words reversed", "other words, several documents", "a short word more, one document"],
)
def test_reworded_copies_are_known_by_their_relevant_documents(tmp_path: Path, relevant, reword) -> None:
    used = OTHERS | {f"x{name}": reword(TESTED[name]) for name in FEW}
    with pytest.raises(ConfigError, match=r"relevant documents of 3 of the 20 .* q00 .*, there xq00"):
        check(tmp_path, used, (renamed(relevant), relevant))
    assert not (tmp_path / "apart.json").exists()


def test_equal_text_and_equal_documents_are_no_chance(tmp_path: Path) -> None:
    used = OTHERS | {"x03": TESTED["q03"]}
    with pytest.raises(ConfigError, match=r"has 1 of the 20 queries that tiny tests, .* q03 .*, there x03 "):
        check(tmp_path, used, ({"x03": SINGLE["q03"]}, SINGLE))


def test_a_tenth_reworded_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    used = {"x03": "of the streams", "x04": "of the lakes"}
    counts = check(tmp_path, OTHERS | used, ({name: SEVERAL[f"q{name[1:]}"] for name in used}, SEVERAL))
    assert counts["tested_queries_of_equal_documents"] == 2
    displayed = capsys.readouterr().err
    assert (
        "WARNING: 2 of 20 tested queries have exactly the relevant documents of a query of copy" in displayed
    )
    assert "such as q03 ('where is river 3'), there x03 ('of the streams')" in displayed


def test_several_questions_about_one_paragraph_are_other_queries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A random split of SQuAD: almost every paragraph is asked about on both sides."""
    for names in (FEW[:2], TESTED):
        requested = {f"x{name}": TESTED[name].replace("is ", "is the") for name in names}
        counts = check(tmp_path, requested, (renamed(SINGLE), SINGLE))
        assert counts["tested_queries_of_equal_documents"] == len(names)
        displayed = capsys.readouterr().err
        assert ("WARNING: 20 of 20 tested" in displayed, "WARNING" in displayed) == (len(names) == 20,) * 2


def test_several_queries_about_one_topic_are_other_queries(tmp_path: Path) -> None:
    """Each topic's documents are relevant to two of the used queries."""
    requested = {f"{x}{name}": f"how deep is {x} {name} there" for name in TESTED for x in ("x", "y")}
    relevant = {name: SEVERAL[name[1:]] for name in requested}
    assert check(tmp_path, requested, (relevant, SEVERAL))["tested_queries_of_equal_documents"] == 20


def test_corpora_are_compared_by_what_they_hold(tmp_path: Path) -> None:
    """Read from other paths, documents are the same ones where identifiers and texts are."""
    names = sorted({name for documents in SEVERAL.values() for name in documents})
    used = dict.fromkeys(TESTED, "A page names the place of it.")
    tested = {name: f"Text of {name}." for name in names}
    with pytest.raises(ConfigError, match="has 20 of the 20 queries that tiny tests, such as q00"):
        check(tmp_path, used, (SEVERAL, SEVERAL), ({name: f"text of {name}" for name in names}, tested))
    others = {name: f"numbered as {name} by chance" for name in names}
    counts = check(tmp_path, used, (SEVERAL, SEVERAL), (others, tested))
    assert counts["tested_queries_of_equal_documents"] == 0
