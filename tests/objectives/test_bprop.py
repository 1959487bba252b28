"""B-PROP by hand: attention to words, the contrastive distribution, and the pairs that are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import GROUPS, TERM_WEIGHTS
from irpretrain.errors import ConfigError, InputError
from irpretrain.models.cls_attention import ClsAttention
from irpretrain.objectives.bprop import BpropOptions, information
from irpretrain.objectives.shard import Shard
from irpretrain.objectives.write_groups import write_groups
from irpretrain.retrieval.term_weights.infer import infer_documents
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.text.set_sizes import set_size_probabilities
from small_documents import write_documents

TEXT = TextConfig(words="alphanumeric", fields=["body"])


def write_attention(path: Path, attention: Mapping[str, Mapping[str, float]]) -> Path:
    rows = [
        {
            "document_id": name,
            "part": 0,
            "position": location,
            "terms": [{"term": word, "weight": words[word]} for word in sorted(words)],
        }
        for location, (name, words) in enumerate(attention.items())
    ]
    TERM_WEIGHTS.write(path, rows)
    return path


def pairs(
    folder: Path,
    attention: Mapping[str, Mapping[str, float]],
    mean: float = 3.0,
    most: int = 1,
    **changes: Any,
) -> tuple[list[Any], Any]:
    """Groups of documents whose words are attended to so, and what is counted."""
    weights = write_attention(folder / "attention.parquet", attention)
    shard = Shard("documents", TEXT, 1, term_weights=weights, collection_term_weights=(weights,))
    options = BpropOptions(**{"type": "bprop", "minimum_words": 1, **changes})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "irpretrain.objectives.bprop.set_size_probabilities", lambda: set_size_probabilities(mean, most)
        )
        counts = write_groups(shard, options, folder / "groups.parquet")
    return GROUPS.read(folder / "groups.parquet").to_pylist(), counts


def test_the_weight_of_a_word_by_hand(tmp_path: Path) -> None:
    """Attention 0.03 and 0.01 saturate to 3/4 and 1/2, so P(w|D) is 0.6 and 0.4; a is in both documents, b in one."""
    attention = {"d1": {"a": 0.03, "b": 0.01}, "d2": {"a": 0.03, "c": 0.01}}
    groups, counts = pairs(tmp_path, attention, pairs_per_document=50)
    gamma = {"a": 0.6 * -np.log2(0.6), "b": 0.4 * -np.log2(0.2), "c": 0.4 * -np.log2(0.2)}
    assert counts["pairs"] == counts["groups"] == len(groups) == 100
    for group in groups:
        texts = [query["text"] for query in group["queries"]]
        assert group["scores"] == pytest.approx([gamma[text] for text in texts], rel=1e-6)
        assert texts in (["b", "a"], ["c", "a"], ["a", "a"], ["b", "b"], ["c", "c"])
    assert {group["documents"][0]["document_id"] for group in groups} == {"d1", "d2"}
    assert counts["ties"] == sum(group["scores"][0] == group["scores"][1] for group in groups) > 0


def test_words_are_drawn_by_the_softmax_of_their_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attention = {"d1": {"a": 0.03, "b": 0.01}, "d2": {"a": 0.03, "c": 0.01}}
    for temperature in (1.0, 0.2):
        monkeypatch.setattr("irpretrain.objectives.bprop.TEMPERATURE", temperature)
        groups, _ = pairs(tmp_path, attention, pairs_per_document=2000)
        drawn = [query["text"] for group in groups for query in group["queries"]]
        heights = np.exp(np.array([0.6 * -np.log2(0.6), 0.4 * -np.log2(0.2)]) / temperature)
        assert np.mean([word == "a" for word in drawn]) == pytest.approx(heights[0] / heights.sum(), abs=0.02)


def test_a_low_temperature_draws_the_weightiest_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exponentials of all weights but the largest are 0 then."""
    attention = {
        "d": {f"w{letter}": weight for letter, weight in zip("abcdef", (9, 7, 5, 3, 1, 0.5), strict=True)}
    }
    monkeypatch.setattr("irpretrain.objectives.bprop.TEMPERATURE", 1e-4)
    monkeypatch.setattr("irpretrain.objectives.bprop.SATURATION", 10.0)
    groups, _ = pairs(tmp_path, attention, most=3)
    sets = [query["text"].split() for group in groups for query in group["queries"]]
    assert max(map(len, sets)) == 3
    assert all(words == ["wa", "wb", "wc"][: len(words)] for words in sets)


def test_a_set_has_no_word_twice_and_numbers_are_not_drawn(tmp_path: Path) -> None:
    letters = [f"w{letter}" for letter in "abcdfghijklm"]
    words = dict.fromkeys(("x1", "2024", *letters), 0.01)
    attention = {"d": words, "e": {"wa": 0.5, "wz": 0.1}}
    groups, _ = pairs(tmp_path, attention, mean=6, most=9, pairs_per_document=40, minimum_words=3)
    sets = [query["text"].split() for group in groups for query in group["queries"]]
    assert all(len(set(words)) == len(words) for words in sets)
    assert {word for words in sets for word in words} == set(letters)


def test_documents_with_few_words_are_skipped_and_the_same_seed_gives_the_same_pairs(tmp_path: Path) -> None:
    attention = {"d": {"a": 0.1, "b": 0.0, "c": 0.2}, "e": {"a": 0.1}, "f": {}}
    groups, counts = pairs(tmp_path, attention, minimum_words=2)
    again, _ = pairs(tmp_path, {"d": attention["d"], "f": {}, "e": attention["e"]}, minimum_words=2)
    assert [group["queries"] for group in groups] == [group["queries"] for group in again]
    assert (counts["documents"], counts["skipped"], counts["pairs"]) == (3, {"few_words": 2}, 5)


def test_shards_do_not_change_how_rare_a_word_is(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    attention = {
        f"d{n}": {f"w{letter}": float(rng.random()) for letter in rng.permutation(list("abcdefgh"))[:5]}
        for n in range(60)
    }
    names = list(attention)
    made = []
    for step in (60, 13):
        parts = [{name: attention[name] for name in names[at : at + step]} for at in range(0, 60, step)]
        paths = [write_attention(tmp_path / f"{step}-{n}.parquet", part) for n, part in enumerate(parts)]
        made.append(information(paths[::-1]))
    assert made[0] == made[1]


def test_attention_is_the_last_layer_s_from_cls_to_first_pieces(tiny_encoder: Path, tmp_path: Path) -> None:
    """Against transformers' own output, one text at a time; occurrences of a word are added up."""
    bodies = {"d1": "word01 cab bad word01", "d2": "bad", "d3": ""}
    write_documents(tmp_path / "documents.parquet", bodies)
    options = TermWeightsConfig(label="attention", model="attention", max_length=32)
    output = tmp_path / "weights.parquet"
    infer_documents(
        tiny_encoder, tmp_path / "documents.parquet", options, TEXT, output, tmp_path / "unfinished"
    )
    model = AutoModel.from_pretrained(tiny_encoder, attn_implementation="eager").eval()
    encoder = EncoderPieces(tiny_encoder)
    for row in TERM_WEIGHTS.read(output).to_pylist():
        words = bodies[row["document_id"]].split()
        [pieces] = encoder.encode([" ".join(words)])
        ids = torch.tensor([[*encoder.prefix, *pieces.ids.tolist(), *encoder.suffix]])
        mask = torch.tensor([[1, *pieces.begins.tolist(), 1]])
        with torch.no_grad():
            last = model(input_ids=ids, attention_mask=mask, output_attentions=True).attentions[-1]
        to_first = last[0].mean(0)[0, 1:-1][torch.tensor(pieces.begins, dtype=torch.bool)].tolist()
        expected: dict[str, float] = {}
        for word, value in zip(words, to_first, strict=True):
            expected[word] = expected.get(word, 0.0) + value
        assert {term["term"]: term["weight"] for term in row["terms"]} == pytest.approx(expected, abs=1e-6)


def test_what_cannot_be_weighted_by_attention_is_refused(tiny_encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Hugging Face encoder"):
        ClsAttention.from_encoder(tmp_path)
    with pytest.raises(ConfigError, match=r"encoder\.layers: 99 layers asked for"):
        ClsAttention.from_encoder(tiny_encoder, 99)
    with pytest.raises(ValueError, match="weights passages only"):
        TermWeightsConfig(label="x", model="attention", kind="queries")
