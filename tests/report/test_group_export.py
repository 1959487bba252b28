"""Exported groups are tables of texts that others can train on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from irpretrain.contracts import GROUPS
from irpretrain.errors import InputError
from irpretrain.objectives.groups import Span, group
from irpretrain.report import exports
from irpretrain.report.exports import GroupFacts, export_groups
from irpretrain.report.model_card import Source

FOLDER = os.environ.get("SENTENCE_TRANSFORMERS", "")
FACTS = GroupFacts(
    objective="rop",
    collection="pretraining",
    options={"type": "rop", "pairs_per_document": 5},
    encoder=Source("MiniLM", "Apache-2.0", "sentence-transformers/all-MiniLM-L6-v2"),
    corpora=[Source("squad", "CC BY-SA 4.0", "rajpurkar/squad")],
)
DOCUMENTS = {
    "a": "Word01 word02 cab word03 word04",
    "b": "word05 word06 word07 bad word08",
    "c": "word09 word10 word11 word12 word13",
}
ONE_QUERY = [
    group((0, 0), ["word01 word02"], [Span("a"), Span("b", 1, 3), Span("c", 0, -1, 1, 4)]),
    group((0, 1), [Span("c", 3, 5)], [Span("c"), Span("a", 2)], scores=[2.5, 1.5]),
]
ONE_DOCUMENT = [group((0, 0), ["word01 cab", "word02 word03"], [Span("a")], scores=[-1.0, -2.0])]


@pytest.fixture
def export(tmp_path: Path, make_store: Callable[..., Path], tiny_encoder: Path) -> Callable[..., Path]:
    def exported(rows: list[dict[str, Any]]) -> Path:
        GROUPS.write(tmp_path / "groups.parquet", rows)
        store = make_store(DOCUMENTS)
        export_groups(tmp_path / "groups.parquet", [store], tiny_encoder, FACTS, tmp_path / "out")
        return tmp_path / "out"

    return exported


def test_a_group_that_shares_a_query_is_a_row_of_documents(export: Callable[..., Path]) -> None:
    first, second = pq.read_table(export(ONE_QUERY) / "train.parquet").to_pylist()
    assert first == {
        "query": "word01 word02",
        "positive": "word01 word02 cab word03 word04",
        "negative_1": "word06 word07",
        "negative_2": "word09 word13",
        "scores": [1.0, 0.0, 0.0],
        "labels": [1, 0, 0],
    }
    assert (second["query"], second["negative_1"]) == ("word12 word13", "cab word03 word04")
    assert (second["negative_2"], second["scores"], second["labels"]) == (None, [2.5, 1.5], [1, 0])


def test_a_group_that_shares_a_document_is_a_row_of_queries(export: Callable[..., Path]) -> None:
    [row] = pq.read_table(export(ONE_DOCUMENT) / "train.parquet").to_pylist()
    assert list(row) == ["document", "positive", "negative_1", "scores", "labels"]
    assert (row["positive"], row["negative_1"]) == ("word01 cab", "word02 word03")


def test_a_gap_at_either_end_leaves_no_space(export: Callable[..., Path]) -> None:
    rows = [group((0, 0), ["word01"], [Span("b", 0, 2, 0, 1), Span("c", 0, -1, 3, 5)])]
    [row] = pq.read_table(export(rows) / "train.parquet").to_pylist()
    assert (row["positive"], row["negative_1"]) == ("word06", "word09 word10 word11")


def test_groups_of_both_kinds_are_refused(export: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="share a document"):
        export(ONE_QUERY + ONE_DOCUMENT)


def test_groups_keep_their_order_over_several_blocks(
    export: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "ROWS_PER_GROUP", 2)
    [file] = export(ONE_QUERY * 5).glob("*.parquet")
    assert pq.read_metadata(file).num_row_groups == 5
    queries = [row["query"] for row in pq.read_table(file, columns=["query"]).to_pylist()]
    assert queries == ["word01 word02", "word12 word13"] * 5


def test_the_card_has_what_the_hub_reads(export: Callable[..., Path]) -> None:
    from huggingface_hub import DatasetCard

    card = DatasetCard.load(export(ONE_QUERY) / "README.md")
    assert card.data.license == "cc-by-sa-4.0"
    assert card.data.task_categories == ["text-ranking"]
    assert yaml.safe_load(card.data.to_yaml())["configs"][0]["data_files"] == [
        {"split": "train", "path": "train.parquet"}
    ]
    assert "| squad | CC BY-SA 4.0 |" in card.text
    assert "- `negative_1` to `negative_2`: " in card.text
    assert "pip install 'sentence-transformers[train]'" in card.text


def test_the_card_of_groups_of_one_sequence_names_no_negative(export: Callable[..., Path]) -> None:
    card = (export([group((0, 0), ["word01 cab"], [Span("a")])]) / "README.md").read_text()
    assert "- `negative_" not in card
    assert re.search("- `positive`: .*\n- `scores`: ", card)


def test_the_card_names_a_single_negative_once(export: Callable[..., Path]) -> None:
    assert "- `negative_1`: " in (export(ONE_DOCUMENT) / "README.md").read_text()


@pytest.mark.deep
@pytest.mark.skipif(not FOLDER, reason="SENTENCE_TRANSFORMERS names no folder with its packages")
@pytest.mark.parametrize("rows", [ONE_QUERY, ONE_DOCUMENT], ids=["one-query", "one-document"])
def test_sentence_transformers_trains_with_the_code_of_the_card(
    export: Callable[..., Path], rows: list[dict[str, Any]], tiny_encoder: Path
) -> None:
    folder = export(rows * 4)
    [code] = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 16
    code = code.replace(str(FACTS.encoder.hub), str(tiny_encoder))
    code += "\nprint('losses', [row for row in trainer.state.log_history])\n"
    code = code.replace("CrossEncoderTrainer(model", "trainer = CrossEncoderTrainer(model", 1)
    code = code.replace(").train()", ")\ntrainer.train()")
    environment = os.environ | {
        "PYTHONPATH": FOLDER,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder),
        "CUDA_VISIBLE_DEVICES": "",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "train_loss" in done.stdout
