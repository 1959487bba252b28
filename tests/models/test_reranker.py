"""Re-rankers of either kind score as Hugging Face does when called on the two texts."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    GPT2Config,
    GPT2ForSequenceClassification,
    XLNetConfig,
    XLNetForSequenceClassification,
)

from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.models.encoder_batches import PaddedBatch
from irpretrain.models.reranker import Reranker, load_reranker
from tiny_models import VOCABULARY, write_bert, write_distilbert, write_roberta, write_tokenizer

PAIRS = [("word01 cab", "word03 bad word04"), ("word02", "word04 word05 word06 word07"), ("cab", "")]


def direct_logits(directory: Path, pairs: list[tuple[str, str]]) -> torch.Tensor:
    """One call of the tokenizer and of the model on the texts, as the libraries' guides have it."""
    tokenizer = AutoTokenizer.from_pretrained(directory)
    network = AutoModelForSequenceClassification.from_pretrained(directory).eval()
    queries, documents = zip(*pairs, strict=True)
    with torch.no_grad():
        return network(**tokenizer(list(queries), list(documents), padding=True, return_tensors="pt")).logits


def our_scores(model: Reranker, pairs: list[tuple[str, str]], max_length: int = 30) -> torch.Tensor:
    queries, documents = (model.tokenizer.encode(texts) for texts in zip(*pairs, strict=True))
    read = [model.tokenizer.cut(q, d, max_length, 8) for q, d in zip(queries, documents, strict=True)]
    with torch.no_grad():
        return model(*map(torch.from_numpy, model.tokenizer.join(read)))


def test_two_labels_are_the_difference_and_rank_as_the_probability(tmp_path: Path) -> None:
    directory = write_bert(tmp_path / "model", 2)
    logits = direct_logits(directory, PAIRS)
    found = our_scores(load_reranker(directory), PAIRS)
    assert torch.allclose(found, logits[:, 1] - logits[:, 0], atol=1e-5)
    assert torch.equal(found.argsort(), logits.softmax(dim=1)[:, 1].argsort())
    assert torch.allclose(found.sigmoid(), logits.softmax(dim=1)[:, 1], atol=1e-5)


@pytest.mark.parametrize("write", [partial(write_bert, labels=1), write_distilbert, write_roberta])
def test_one_label_is_the_logit(tmp_path: Path, write) -> None:
    """Other architectures have their own sequences."""
    directory = write(tmp_path / "model")
    expected = direct_logits(directory, PAIRS)[:, 0]
    assert torch.allclose(our_scores(load_reranker(directory), PAIRS), expected, atol=1e-5)
    assert expected.max() - expected.min() > 0.01, "the scores differ by more than they may be off"


def test_the_query_is_cut_first_then_the_document(tmp_path: Path) -> None:
    tokenizer = load_reranker(write_bert(tmp_path / "model", 1)).tokenizer
    query, document = tokenizer.encode(["word01 " * 9, "word02 " * 30])
    query, document = tokenizer.cut(query, document, max_length=12, query_length=4)
    assert (len(query), len(document)) == (4, 12 - 3 - 4)
    joined = tokenizer.join([(query, document), (query[:1], document[:1])])
    assert joined.input_ids.shape == (2, 12)
    assert joined.attention_mask.sum(axis=1).tolist() == [12, 5]
    assert joined.token_type_ids[0].tolist() == [0] * 6 + [1] * 6
    with pytest.raises(ConfigError, match="leave no room for a document in max_length 7"):
        tokenizer.cut(query, document, max_length=7, query_length=4)


def test_lengths_beyond_the_positions_are_refused(tmp_path: Path) -> None:
    bert, roberta = load_reranker(write_bert(tmp_path / "b", 1)), load_reranker(write_roberta(tmp_path / "r"))
    bert.check_length(64, "reranking.max_length")
    roberta.check_length(32, "reranking.max_length")
    for model, length in ((bert, 65), (roberta, 33)):
        with pytest.raises(ConfigError, match=f"reranking.max_length: {length} is longer than the encoder's"):
            model.check_length(length, "reranking.max_length")


def test_what_is_no_re_ranker_is_refused(tmp_path: Path, tiny_encoder: Path) -> None:
    with pytest.raises(InputError, match="parameters are missing or of another shape, such as classifier"):
        load_reranker(tiny_encoder)
    with pytest.raises(InputError, match="this model has 3"):
        load_reranker(write_bert(tmp_path / "three", 3))
    with pytest.raises(InputError, match=r"there is no config\.json"):
        load_reranker(tmp_path)


TOKENIZERS = ("tokenizer.json", "tokenizer_config.json")


def number_word01(directory: Path, number: int) -> None:
    tokenizer = json.loads((directory / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["word01"] = number
    (directory / "tokenizer.json").write_text(json.dumps(tokenizer))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda model: (model / "model.safetensors").unlink(), "the model cannot be loaded"),
        (lambda model: (model / "model.safetensors").write_bytes(b"damaged"), "the model cannot be loaded"),
        (
            lambda model: [(model / name).unlink() for name in (*TOKENIZERS, "vocab.txt")],
            "there is no tokenizer",
        ),
        (
            lambda model: [
                shutil.copyfile(write_roberta(model / f"roberta {name}") / name, model / name)
                for name in TOKENIZERS
            ],
            "the tokenizer needs 110 embeddings but the model has only 105",
        ),
        (lambda model: number_word01(model, 500), "needs 501 embeddings"),
        (lambda model: number_word01(model, 30), "two entries of the vocabulary have number 30"),
    ],
)
def test_a_damaged_re_ranker_is_refused(
    tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    directory = write_bert(tmp_path / "model", 1)
    damage(directory)
    with pytest.raises(InputError, match=message):
        load_reranker(directory)


def test_a_tokenizer_is_one_file_or_two_that_cut_alike(tmp_path: Path) -> None:
    directory = write_bert(tmp_path / "two", 1)
    (directory / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "do_lower_case": false}'
    )
    with pytest.raises(InputError, match="cut 'BAD Café, 東京 a-bad' in different ways"):
        load_reranker(directory)
    (directory / "tokenizer.json").unlink()
    assert load_reranker(directory).tokenizer.encode(["word01"])[0].tolist() == [VOCABULARY.index("word01")]


@pytest.mark.parametrize(("first", "second"), [("relevant", "not_relevant"), ("yes", "No"), ("1", "0")])
def test_label_1_must_not_be_named_as_not_relevant(tmp_path: Path, first: str, second: str) -> None:
    directory = write_bert(tmp_path / "two", 2)
    config = json.loads((directory / "config.json").read_text())
    for labels in ([second, first], ["LABEL_0", "LABEL_1"], [first, second]):
        (directory / "config.json").write_text(json.dumps(config | {"id2label": dict(enumerate(labels))}))
        if labels != [first, second]:
            load_reranker(directory)
    with pytest.raises(InputError, match="label 1, which must mean relevant"):
        load_reranker(directory)


def save_with_words(network: Any, directory: Path) -> Path:
    network.save_pretrained(directory)
    write_tokenizer(directory)
    described = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}
    (directory / "tokenizer_config.json").write_text(json.dumps(described))
    return directory


def decoder(vocabulary_size: int, padding: int | None = None) -> GPT2ForSequenceClassification:
    torch.manual_seed(1)
    options = GPT2Config(
        vocab_size=vocabulary_size, n_positions=64, n_embd=32, n_layer=2, n_head=2, num_labels=1,
        pad_token_id=padding, initializer_range=0.3,
    )  # fmt: skip
    return GPT2ForSequenceClassification(options)


@pytest.mark.parametrize("padding", [None, 5])
def test_a_decoder_reads_the_last_position_before_the_padding(tmp_path: Path, padding: int | None) -> None:
    """Whatever its configuration calls padding."""
    model = load_reranker(save_with_words(decoder(len(VOCABULARY), padding), tmp_path / "decoder"))
    alone = torch.cat([our_scores(model, [pair]) for pair in PAIRS])
    assert torch.allclose(our_scores(model, PAIRS), alone, atol=1e-5)


def test_a_decoder_reads_the_last_position_before_what_fills_up_a_batch(tmp_path: Path) -> None:
    directory = write_roberta(tmp_path / "decoder")
    tokenizer = AutoTokenizer.from_pretrained(directory)
    assert tokenizer.pad_token_id != 0
    decoder(len(tokenizer)).save_pretrained(directory)
    model = load_reranker(directory)
    query, document = (model.tokenizer.encode([text])[0] for text in PAIRS[0])
    padded = PaddedBatch(*model.tokenizer.join([(query, document)]))
    with torch.inference_mode():
        scores = [model.score(batch).item() for batch in (padded, padded.widened(64))]
    assert scores[0] == pytest.approx(scores[1], abs=1e-5)


def test_a_score_that_depends_on_padding_is_refused(tmp_path: Path) -> None:
    torch.manual_seed(1)
    options = XLNetConfig(
        vocab_size=len(VOCABULARY), d_model=32, n_layer=2, n_head=2, d_inner=48, num_labels=1, pad_token_id=0,
        initializer_range=0.3,
    )  # fmt: skip
    directory = save_with_words(XLNetForSequenceClassification(options), tmp_path / "xlnet")
    with pytest.raises(InputError, match="padding behind a sequence changes its score"):
        load_reranker(directory)
