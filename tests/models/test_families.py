"""Every family of encoders does what BERT does: sequences, scores, masked word pieces, training."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoModelForSequenceClassification, AutoTokenizer

from irpretrain.config.text import TextConfig
from irpretrain.config.training import MaskingConfig
from irpretrain.foundation.errors import ConfigError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.packed import batch_of_tensors
from irpretrain.models.reranker import load_reranker
from irpretrain.text.pair_tokenizer import EncoderPieces, PairTokenizer
from irpretrain.text.token_store import TokenStore, write_token_store
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.batches import Batch, BatchBuilder
from irpretrain.training.masking import Masker
from plain_groups import Group, StoreSpan, columns
from small_documents import write_documents
from tiny_models import FAMILIES, write_family

TEXTS = ["word07 bad, cab", "a word12 word13  face bad. jab", "cab"]
QUERIES = ["bad word07", "face", "word13  cab"]
TEXT = TextConfig(words="alphanumeric", fields=["body"])
BYTE_LEVEL = ("roberta", "modernbert")
"""Their tokenizers take letters and digits apart, so that word07 is two words."""
OTHERS = [family for family in FAMILIES if FAMILIES[family][0] != "bert"]


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An encoder of each family with an MLM head of its own."""
    folder = tmp_path_factory.mktemp("families")
    return {name: write_family(folder / name, name, with_mlm_head=True) for name in FAMILIES}


@pytest.fixture(scope="module")
def builders(encoders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, BatchBuilder]:
    folder = tmp_path_factory.mktemp("stores")
    write_documents(folder / "documents.parquet", TEXTS)
    builders = {}
    for name, encoder in encoders.items():
        write_token_store(folder / "documents.parquet", encoder, TEXT, folder / name, positions=True)
        store = TokenStore.open([folder / name])
        builders[name] = BatchBuilder(store, load_tokenizer(encoder), 64, 20)
    return builders


def batch_of(builder: BatchBuilder) -> Batch:
    return builder.build(columns(*(Group((query,), (StoreSpan(row),)) for row, query in enumerate(QUERIES))))


def tensors(batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return tuple(map(torch.from_numpy, (batch.input_ids, batch.token_type_ids, batch.attention_mask)))


def mlm_logits(model: CrossEncoderModel, *batch: torch.Tensor) -> torch.Tensor:
    _, states = model.encode(batch_of_tensors(model, *batch))
    return model.mlm_head(states, model.classifier.get_input_embeddings().weight)


@pytest.mark.parametrize("family", FAMILIES)
def test_sequences_are_those_of_the_tokenizer_called_on_both_texts(encoders, builders, family):
    batch = batch_of(builders[family])
    tokenizer = AutoTokenizer.from_pretrained(encoders[family])
    theirs = tokenizer(QUERIES, TEXTS, padding=True, return_tensors="np")
    for name in tokenizer.model_input_names:
        assert (theirs[name] == getattr(batch, name)).all(), name
    read = [
        tokenizer.decode(row[chosen]).split()
        for row, chosen in zip(batch.input_ids, batch.query_mask, strict=True)
    ]
    assert read == [query.split() for query in QUERIES]
    assert not (batch.query_mask & batch.document_mask).any()


@pytest.mark.parametrize("family", FAMILIES)
def test_no_text_holds_special_tokens(encoders, family):
    """Not even by their own names, which vocabularies of SentencePiece list as pieces."""
    encoder, pairs = EncoderPieces(encoders[family]), PairTokenizer(encoders[family])
    tokenizer = load_tokenizer(encoders[family])
    special = set(np.flatnonzero(tokenizer.special()).tolist())
    names = [tokenizer.token(number) for number in special]
    unknown = {number for number in special if tokenizer.token(number) in ("[UNK]", "<unk>")}
    texts = ["word07 " + " bad ".join(names), *names]
    for way in (
        tokenizer.encode(texts),
        pairs.encode(texts),
        [pieces.ids for pieces in encoder.pieces(texts)],
    ):
        assert not (special - unknown) & {number for ids in way for number in ids.tolist()}
    assert encoder.prefix
    assert set(encoder.prefix) <= special


@pytest.mark.parametrize("family", FAMILIES)
def test_words_begin_where_they_stand_in_the_text(encoders, builders, family):
    """Whole words are masked, and anchors, which are given by characters, are found: word by word."""
    builder, tokenizer = builders[family], AutoTokenizer.from_pretrained(encoders[family])
    batch = batch_of(builder)
    for row, text in enumerate(TEXTS):
        pieces, begins = builder.store.tokens(row), builder.store.word_starts(row)
        words = list(re.finditer(r"[a-z0-9]+", text))
        for word in words:
            first, last = builder.store.span(row, word.start(), word.end())
            assert tokenizer.decode(pieces[first:last]).strip() == word[0]
            runs = re.findall("[a-z]+|[0-9]+", word[0]) if family in BYTE_LEVEL else [word[0]]
            assert begins[first:last].sum() == len(runs)
        assert batch.word_starts[row][batch.document_mask[row]].tolist() == [True, *begins[1:].tolist()]
    masked = Masker(MaskingConfig(unit="word", ratio=0.5), builder.tokenizer, 1, 64).apply(batch, 0)
    units = np.cumsum(batch.word_starts | ~batch.document_mask, axis=1)
    for row in range(len(TEXTS)):
        chosen = set(units[row][masked.is_selected[row]])
        inside = np.isin(units[row], list(chosen)) & batch.document_mask[row]
        assert (inside == masked.is_selected[row]).all()
        assert masked.is_selected[row].any()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_saved_model_scores_as_transformers_class_and_the_plain_re_ranker(
    encoders, builders, tmp_path, family
):
    model = CrossEncoderModel.from_encoder(encoders[family], seed=3).eval()
    model.save(tmp_path / "model")
    ids, types, attention = tensors(batch_of(builders[family]))
    with torch.inference_mode():
        scores = model(ids, types, attention)
        again = CrossEncoderModel.load(tmp_path / "model").eval()(ids, types, attention)
        network = AutoModelForSequenceClassification.from_pretrained(tmp_path / "model").eval()
        tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
        theirs = network(**tokenizer(QUERIES, TEXTS, padding=True, return_tensors="pt")).logits[:, 0]
        plain = load_reranker(tmp_path / "model")(ids, types, attention)
    assert torch.equal(scores, again)
    torch.testing.assert_close(scores, theirs, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(scores, plain, rtol=1e-4, atol=1e-5)
    assert scores.unique().numel() == len(TEXTS)


@pytest.mark.parametrize("family", FAMILIES)
def test_masked_pieces_are_predicted_as_by_transformers_mlm_model(encoders, builders, family, tmp_path):
    model = CrossEncoderModel.from_encoder(encoders[family]).eval()
    batch = batch_of(builders[family])
    ids, types, attention = tensors(batch)
    masked = torch.from_numpy(batch.document_mask)
    theirs = AutoModelForMaskedLM.from_pretrained(encoders[family]).eval()
    named = (
        {"token_type_ids": types}
        if FAMILIES[family][0] not in ("modernbert", "roberta", "xlm-roberta")
        else {}
    )
    with torch.inference_mode():
        logits = mlm_logits(model, ids, types, attention, masked)
        expected = theirs(input_ids=ids, attention_mask=attention, **named).logits[masked]
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-4)
    model.save(tmp_path / "model")
    with torch.inference_mode():
        again = mlm_logits(CrossEncoderModel.load(tmp_path / "model").eval(), ids, types, attention, masked)
    assert torch.equal(again, logits)


@pytest.mark.parametrize("family", FAMILIES)
def test_mlm_trains_the_encoder_unless_it_trains_its_head_alone(tmp_path, builders, family):
    """Without an MLM head of its own: a fresh one, which depends on the seed alone."""
    model = CrossEncoderModel.from_encoder(write_family(tmp_path / "bare", family), seed=5)
    same = CrossEncoderModel.from_encoder(tmp_path / "bare", seed=5)
    for (name, one), other in zip(model.named_parameters(), same.parameters(), strict=True):
        assert torch.equal(one, other), name
    batch = batch_of(builders[family])
    ids, types, attention = tensors(batch)
    masked = torch.from_numpy(batch.document_mask)
    labels = ids[masked]
    for alone in (True, False):
        model.zero_grad()
        _, states = model.encode(batch_of_tensors(model, ids, types, attention, masked))
        model.mlm_loss(states, labels, trains_encoder=not alone).backward()
        assert all(parameter.grad is not None for parameter in model.mlm_head.parameters())
        embeddings = model.classifier.get_input_embeddings().weight.grad
        assert (embeddings is None or not embeddings.any()) == alone


@pytest.mark.parametrize("family", FAMILIES)
def test_layers_and_dropout_are_those_requested_for(encoders, family):
    model = CrossEncoderModel.from_encoder(encoders[family], layers=1, dropout=0.25, attention_dropout=0.0)
    assert model.classifier.config.num_hidden_layers == 1
    shares = {part.p for part in model.classifier.modules() if isinstance(part, torch.nn.Dropout)}
    assert 0.25 in shares <= {0.0, 0.25}
    with pytest.raises(ConfigError, match="3 layers asked for"):
        CrossEncoderModel.from_encoder(encoders[family], layers=3)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_longest_sequence_is_refused_beyond_the_encoders_positions(encoders, family):
    most = {"roberta": 128, "xlm-roberta": 129}.get(
        family, 130
    )  # positions count from behind the padding's id
    model = CrossEncoderModel.from_encoder(encoders[family])
    model.check_length(most, "pretraining.max_length")
    with pytest.raises(ConfigError, match=f"longer than the encoder's {most} positions"):
        model.check_length(most + 1, "pretraining.max_length")
    ids = torch.full((1, most), 5)
    with torch.inference_mode():
        assert model(ids, torch.zeros_like(ids), torch.ones_like(ids)).isfinite().all()


@pytest.mark.parametrize("family", OTHERS)
def test_what_is_bert_alone_is_refused_with_the_reason(encoders, family):
    with pytest.raises(ConfigError, match="cedr-knrm tells query from document by BERT's token types"):
        CrossEncoderModel.from_encoder(encoders[family], head="cedr-knrm")
    if family != "albert":
        with pytest.raises(ConfigError, match="pooled needs an encoder with a pooler"):
            CrossEncoderModel.from_encoder(encoders[family], head="pooled")


def test_an_own_pooler_is_retained(encoders):
    model = CrossEncoderModel.from_encoder(
        write_family(encoders["albert"].parent / "pooled", "albert"), head="pooled"
    )
    own = CrossEncoderModel.from_encoder(encoders["albert"].parent / "pooled", head="mlp")
    assert not torch.equal(model.classifier.albert.pooler.weight, own.classifier.albert.pooler.weight)
