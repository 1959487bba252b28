"""The example of an objective, its first ranking group as text, and of a weighting, a text with its targets."""

import json
from pathlib import Path

import pytest

from irpretrain.config.axioms import AXIOMS
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import AXIOM_VALUES, DOCUMENTS, GROUPS, NO_ANCHOR, TERM_TARGETS
from irpretrain.foundation.errors import IntegrityError
from irpretrain.objectives.groups import Span, group
from irpretrain.report.examples import MAX_PIECES, describe_objective, describe_weighting
from irpretrain.report.page_views import examples
from irpretrain.text.token_store import write_token_store

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "gold", "river", "old", "bridge", "##s", "."]
HEADINGS = [(0, ""), (2, "History"), (3, "Bridge"), (2, "See old")]
TEXT = TextConfig(words="alphanumeric", fields=["body"])
VALUES = dict.fromkeys(
    ("terms", "rank", "rep_ql", "rep_tfidf", "prox_1", "prox_2", "reg", "stm_1", "stm_2", "stm_3"), 1
)


@pytest.fixture
def collection(tmp_path: Path) -> dict:
    """Two documents, the first with sections, their token store and a tokenizer of eleven pieces."""
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "do_lower_case": true}'
    )
    sections = [
        {"level": level, "heading": heading, "start": 0, "end": 4, "role": ""} for level, heading in HEADINGS
    ]
    bodies = {"d0": "gold river old bridges gold", "d1": "river " * 200}
    rows = [
        {
            "document_id": name, "part": 0, "position": n, "title": "River", "url": "", "body": body,
            "sections": sections if name == "d0" else [],
        }
        for n, (name, body) in enumerate(bodies.items())
    ]  # fmt: skip
    DOCUMENTS.write(tmp_path / "documents.parquet", rows)
    write_token_store(tmp_path / "documents.parquet", tmp_path, TEXT, tmp_path / "tokens")
    return {
        "tokens": [tmp_path / "tokens"],
        "documents": [tmp_path / "documents.parquet"],
        "tokenizer": tmp_path,
    }


def described(collection: dict, *rows: dict, values: list[dict] | None = None) -> dict:
    folder = collection["tokenizer"]
    GROUPS.write(folder / "groups.parquet", rows)
    tables = []
    if values is not None:
        AXIOM_VALUES.write(folder / "axioms.parquet", values)
        tables = [folder / "axioms.parquet"]
    output = folder / "example.json"
    threshold = None if values is None else 0.1
    counts = describe_objective(
        folder / "groups.parquet",
        **collection,
        axiom_values=tables,
        stm_2_threshold=threshold,
        output=output,
    )
    content = json.loads(output.read_text(encoding="utf-8"))
    assert counts == {"sequences": len(content.get("sequences", ()))}
    return content


def test_spans_are_text_without_their_gap_and_with_their_anchor(collection) -> None:
    documents = [Span("d0", 0, 6, 2, 4), Span("d1"), Span("d1", 0, MAX_PIECES)]
    anchors = [{"start": start, "end": end} for start, end in ((1, 2), NO_ANCHOR, (0, 1))]
    row = group((0, 0), [Span("d0", 0, 4)], documents) | {"anchors": anchors, "scores": [1.0, 0.0, 0.12345]}
    first, second, third = described(collection, row)["sequences"]
    assert first["query"] == [["gold", False], ["river", True], ["old bridge", False]]
    assert first["document"] == [["gold rivers gold", False]]
    assert [sequence["score"] for sequence in (first, second, third)] == [1.0, 0.0, 0.1235]
    assert second["query"] == [["gold river old bridge", False]], "no link leads to this document"
    assert third["query"] == [["gold", True], ["river old bridge", False]]
    assert third["document"] == [[" ".join(["river"] * MAX_PIECES), False]]
    assert second["document"] == [*third["document"], ["…", False]]


def test_the_drawn_path_is_shown_with_what_branches_off(collection) -> None:
    row = group((0, 0), ["River History", "River See old"], [Span("d0")])
    assert described(collection, row)["path"] == [
        [0, "River", True],
        [1, "History", True],
        [2, "Bridge", False],
        [1, "See old", False],
    ]
    assert described(collection, group((0, 0), ["old gold", "gold"], [Span("d0")]))["path"] == []
    assert described(collection, group((0, 0), ["River", "gold"], [Span("d0")]))["path"] == [], (
        "the title alone"
    )


def test_axioms_say_which_pseudo_query_they_prefer(collection) -> None:
    key = {"part": 0, "position": 0, "document_id": "d0", "query_id": ""}
    values = [
        {**key, "sample": 0, "query": "gold", **VALUES, "rep_ql": -2.0, "rank": 3},
        {**key, "sample": 1, "query": "old", **VALUES, "rep_ql": -1.0, "rank": 2, "prox_1": 4.0},
    ]
    row = group((0, 0), ["old", "gold"], [Span("d0")])
    axioms = described(collection, row, values=values)["axioms"]
    assert axioms == {**dict.fromkeys(AXIOMS, 0), "RANK": 1, "REP-QL": 1, "PROX-1": -1}
    with pytest.raises(IntegrityError, match="lack the pseudo-queries of document 'd0'"):
        described(collection, row, values=values[:1])


def test_an_objective_without_groups_has_no_example(collection, config, tmp_path: Path) -> None:
    assert described(collection) == {}
    assert examples(config, [collection["tokenizer"] / "example.json"]) == []
    path = tmp_path / "rop.json"
    path.write_text('{"sequences": []}')
    [view] = examples(config, [path])
    assert (view["name"], view["axioms"]) == ("rop", {})
    assert "PROP" in view["about"]


def test_what_sequences_share_is_shown_once(config, tmp_path: Path) -> None:
    sequences = [
        {"query": [["gold", False], ["river", True]], "document": [["one", False]], "score": 1},
        {"query": [["gold river", False]], "document": [["two", False]], "score": 0},
    ]
    path = tmp_path / "rop.json"
    path.write_text(json.dumps({"sequences": sequences}))
    first, second = examples(config, [path])[0]["sequences"]
    assert (first["query"], second["query"]) == (sequences[0]["query"], [])
    assert second["document"] == [["two", False]]


def test_a_weighting_s_first_text_has_the_target_of_each_word(config, tmp_path: Path) -> None:
    def written(text: str, targets: list[float]) -> dict:
        row = {"document_id": "d", "part": 0, "position": 0, "sample": 0, "text": text, "judged": 3}
        TERM_TARGETS.write(tmp_path / "targets.parquet", [row | {"targets": targets}])
        counts = describe_weighting(tmp_path / "targets.parquet", TEXT, tmp_path / "deepct.json")
        assert counts == {"words": len(targets)}
        return json.loads((tmp_path / "deepct.json").read_text())

    cut = written("old " * 200, [0.5] * 200)
    assert (len(cut["words"]), cut["rest"]) == (MAX_PIECES, " …")
    assert written("old " * MAX_PIECES, [0.5] * MAX_PIECES) == cut | {"rest": " "}
    content = written("The gold, river's!", [0.0, 1 / 3, 1.0, 0.0])
    words = [["", "The", 0.0], [" ", "gold", 0.33], [", ", "river", 1.0], ["'", "s", 0.0]]
    assert content == {"words": words, "rest": "!", "judged": 3}
    about = "Target of a word: the share of the text's 3 relevant queries that have the word."
    assert examples(config, [tmp_path / "deepct.json"]) == [{"name": "DeepCT", "about": about, **content}]
