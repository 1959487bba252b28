"""Encoders that are no BERT: pieces that are no WordPieces, positions that are numbered otherwise."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from small_weights import TEXT, weighting, write_targets
from transformers import AutoModelForTokenClassification

from irpretrain.config.text import EncoderConfig
from irpretrain.foundation.contracts import TERM_WEIGHTS
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.retrieval.term_weights.infer import infer_documents
from irpretrain.retrieval.term_weights.sequences import first_pieces, piece_targets
from irpretrain.retrieval.term_weights.train import train_regressor
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.text.words import word_spans
from tiny_models import byte_level_tokenizer, sentencepiece_tokenizer, write_family

# Family of encoders → positions of its tables.
POSITIONS = {"electra": 64, "roberta": 66, "albert": 64, "distilbert": 64}
TEXTS = {
    "plain": "word01 cat cat.",
    "cut": "catalogue  wordy 42",
    "foreign": "東京 naïve été мир",
    "marks": "don't (cat)!  x",
    "empty": "",
    "long": " ".join(["cat", "word", "été"] * 5),
}


@pytest.fixture(scope="module", params=POSITIONS)
def encoder(request, tmp_path_factory):
    folder, positions = tmp_path_factory.mktemp(request.param), POSITIONS[request.param]
    return write_family(folder / "encoder", request.param, max_position_embeddings=positions)


def aligned(tokenizer, directory, text):
    """Pieces, the first one of each word, and targets of pieces (None: masked out), with words' targets 1, 2, …"""
    tokenizer.save(str(directory / "tokenizer.json"))
    words, [pieces] = word_spans(text, "alphanumeric"), EncoderPieces(directory).pieces([text])
    number = len(words.words)
    found, without = piece_targets(words, pieces, np.arange(1.0, number + 1, dtype=np.float32))
    assert without == 0
    names = [tokenizer.id_to_token(n) for n in pieces.ids]
    return names, first_pieces(words, pieces).tolist(), [None if np.isnan(t) else t for t in found.tolist()]


@pytest.mark.parametrize("trim", [True, False])
def test_byte_level_pieces(tmp_path, trim):
    """A space is part of the next piece, or a piece of its own that is no part of any word; é has two pieces."""
    tokenizer = byte_level_tokenizer([("c", "a"), ("Ġ", "ca")], trim)
    names, first, targets = aligned(tokenizer, tmp_path, "ca ca x é!  ca")
    assert names == ["ca", "Ġca", "Ġ", "x", "Ġ", "Ã", "©", "!", "Ġ", "Ġca"]
    assert first == [0, 1, 3, 5, 9]
    assert targets == [1, 2, None, 3, None, 4, None, 0, None, 5]


def test_sentence_pieces(tmp_path):
    """The mark before a word is no part of it, also at the beginning, where it has the word's first character."""
    names, first, targets = aligned(sentencepiece_tokenizer(), tmp_path, "ox cat cats  ﬁ")
    assert names == ["▁", "o", "x", "▁cat", "▁cat", "s", "▁", "▁", "f", "i"]
    assert first == [1, 3, 4, 8]
    assert targets == [None, 1, None, 2, 3, None, None, None, 4, None]


def naive_weights(model, text):
    """Weight of each word by Hugging Face's own model, one text, the first piece that shares a character with it."""
    network = AutoModelForTokenClassification.from_pretrained(model).eval()
    encoder = EncoderPieces(model)
    backend = encoder._backend.encode(text, add_special_tokens=False)
    ids = torch.tensor([[*encoder.prefix, *backend.ids, *encoder.suffix]])
    with torch.no_grad():
        found = network(ids, attention_mask=torch.ones_like(ids)).logits[0, len(encoder.prefix) :, 0].tolist()
    weights = {}
    spans = word_spans(text, "alphanumeric")
    for word, start, end in zip(spans.words, spans.starts, spans.ends, strict=True):
        for position, ((first, last), token) in enumerate(zip(backend.offsets, backend.tokens, strict=True)):
            if token not in ("▁", "Ġ") and set(range(first, last)) & set(range(start, end)):
                weights[word] = max(weights.get(word, -np.inf), found[position])
                break
    return weights


def test_a_trained_model_weighs_as_hugging_faces_does(encoder, tmp_path, make_documents):
    """Targets, training, saving and inference, against one text at a time without batches or windows."""
    words = {name: word_spans(text, "alphanumeric").words for name, text in TEXTS.items()}
    texts = {name: (text, [float(word == "cat") for word in words[name]]) for name, text in TEXTS.items()}
    write_targets(tmp_path / "targets", texts)
    options = weighting(max_length=64)
    model = tmp_path / "model"
    counts = train_regressor(
        encoder, tmp_path / "targets", options, EncoderConfig(path="x", label="x"), TEXT, 1,
        model, tmp_path / "metrics.jsonl", tmp_path / "checkpoints",
    )  # fmt: skip
    assert (counts["sequences"], counts["words_without_piece"]) == (5, 0)
    infer_documents(
        model, make_documents(TEXTS), options, TEXT, tmp_path / "weights", tmp_path / "unfinished"
    )
    for row in TERM_WEIGHTS.read(tmp_path / "weights").to_pylist():
        expected = naive_weights(model, TEXTS[row["document_id"]])
        assert [entry["term"] for entry in row["terms"]] == sorted(expected)
        found = [entry["weight"] for entry in row["terms"]]
        assert_allclose(found, [expected[word] for word in sorted(expected)], atol=1e-5)


def test_the_longest_sequence_is_what_the_positions_allow(encoder):
    """RoBERTa's 66 positions begin at 2."""
    model = TermWeightRegressor.from_encoder(encoder)
    model.check_length(64, "max_length")
    with pytest.raises(ConfigError, match="max_length: 65 is longer than the encoder's 64 positions"):
        model.check_length(65, "max_length")


def test_an_encoder_may_have_no_more_positions_than_the_longest_sequence(
    tmp_path, make_encoder, make_documents
):
    """30 is no multiple of 8, to which sequences are padded."""
    TermWeightRegressor.from_encoder(make_encoder(max_position_embeddings=30)).save(tmp_path / "model")
    documents = make_documents({"d": " ".join(f"word{n:02d}" for n in range(40))})
    outputs = tmp_path / "weights", tmp_path / "unfinished"
    infer_documents(tmp_path / "model", documents, weighting(max_length=30), TEXT, *outputs)
    assert len(TERM_WEIGHTS.read(tmp_path / "weights")["terms"][0]) == 28


def test_a_tokenizer_that_marks_no_ends_is_refused(tmp_path):
    from tokenizers.processors import ByteLevel

    tokenizer = byte_level_tokenizer([])
    tokenizer.post_processor = ByteLevel()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(InputError, match="puts no special tokens around a text"):
        EncoderPieces(tmp_path)
