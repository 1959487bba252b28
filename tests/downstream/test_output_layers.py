"""Models of tasks beside retrieval are Hugging Face's own: equal logits, equal losses."""

from __future__ import annotations

import pytest
import torch
from small_tasks import answering

from irpretrain.downstream.losses import label_losses, span_losses
from irpretrain.errors import ConfigError, InputError
from irpretrain.models.cross_encoder import CrossEncoder
from irpretrain.models.output_layers import SentenceClassifier, SpanReader
from irpretrain.provenance import sha256


@pytest.fixture
def pretrained(tiny_encoder, tmp_path):
    """A cross-encoder as pre-training leaves it."""
    CrossEncoder.from_encoder(tiny_encoder, seed=3).save(tmp_path / "pretrained")
    return tmp_path / "pretrained"


def inputs(padding: bool = True):
    torch.manual_seed(0)
    ids = torch.randint(5, 105, (3, 10))
    types = (torch.arange(10) > 4).long().expand(3, 10).clone()
    attention = torch.ones_like(ids)
    if padding:
        attention[1, 7:] = 0
    return ids, types, attention


def test_a_span_reader_loads_with_equal_logits(pretrained, tmp_path):
    from transformers import AutoModelForQuestionAnswering

    model = SpanReader.from_encoder(pretrained, seed=2).eval()
    model.save(tmp_path / "saved")
    ids, types, attention = inputs()
    theirs = AutoModelForQuestionAnswering.from_pretrained(tmp_path / "saved").eval()
    with torch.no_grad():
        starts, ends = model(ids, types, attention)
        found = theirs(input_ids=ids, token_type_ids=types, attention_mask=attention)
    torch.testing.assert_close(starts, found.start_logits, rtol=0, atol=1e-5)
    torch.testing.assert_close(ends, found.end_logits, rtol=0, atol=1e-5)
    assert (tmp_path / "saved" / "tokenizer.json").exists()


@pytest.mark.parametrize("labels", [["score"], ["0", "1"], ["entailment", "neutral", "contradiction"]])
def test_a_classifier_loads_with_equal_logits(labels, pretrained, tmp_path):
    from transformers import AutoModelForSequenceClassification

    model = SentenceClassifier.from_model(pretrained, labels, seed=2).eval()
    model.save(tmp_path / "saved")
    ids, types, attention = inputs()
    theirs = AutoModelForSequenceClassification.from_pretrained(tmp_path / "saved").eval()
    with torch.no_grad():
        ours = model(ids, types, attention)
        found = theirs(input_ids=ids, token_type_ids=types, attention_mask=attention).logits
    assert ours.shape == (3, len(labels))
    torch.testing.assert_close(ours, found, rtol=0, atol=1e-5)
    assert [theirs.config.id2label[number] for number in range(len(labels))] == labels


def test_the_encoder_is_taken_and_the_output_layer_is_fresh(pretrained):
    before = CrossEncoder.load(pretrained)
    for seed in (1, 2):
        model = SentenceClassifier.from_model(pretrained, ["score"], seed=seed)
        for name, tensor in before.classifier.bert.state_dict().items():
            assert torch.equal(tensor, model.network.bert.state_dict()[name])
        assert not torch.equal(model.network.classifier.weight, before.classifier.classifier.weight)
    again = SentenceClassifier.from_model(pretrained, ["score"], seed=2)
    assert torch.equal(model.network.classifier.weight, again.network.classifier.weight)


def test_equal_weights_give_equal_bytes(pretrained, tmp_path):
    for name in ("one", "other"):
        SpanReader.from_encoder(pretrained, dropout=0.1, seed=2).save(tmp_path / name)
    assert sha256(tmp_path / "one") == sha256(tmp_path / "other")


def test_dropout(pretrained):
    model = SentenceClassifier.from_model(pretrained, ["0", "1"], dropout=0.25)
    assert {m.p for m in model.modules() if isinstance(m, torch.nn.Dropout)} == {0.25}


def test_losses_are_those_of_hugging_face_where_nothing_is_padded(pretrained):
    starts, ends = torch.tensor([0, 6, 9]), torch.tensor([0, 8, 9])
    ids, types, attention = inputs(padding=False)
    model = SpanReader.from_encoder(pretrained).eval()
    with torch.no_grad():
        ours = span_losses(*model(ids, types, attention), attention, starts, ends).mean()
        found = model.network(
            input_ids=ids,
            token_type_ids=types,
            attention_mask=attention,
            start_positions=starts,
            end_positions=ends,
        )
    torch.testing.assert_close(ours, found.loss)


@pytest.mark.parametrize(("labels", "targets"), [(["score"], [0.5, 5.0, 2.25]), (["a", "b", "c"], [0, 2, 1])])
def test_losses_of_labels_are_those_of_hugging_face(labels, targets, pretrained):
    ids, types, attention = inputs()
    wanted = torch.tensor(targets)
    model = SentenceClassifier.from_model(pretrained, labels).eval()
    with torch.no_grad():
        ours = label_losses(model(ids, types, attention), wanted).mean()
        found = model.network(input_ids=ids, token_type_ids=types, attention_mask=attention, labels=wanted)
    torch.testing.assert_close(ours, found.loss)


def test_padding_changes_no_loss(pretrained):
    starts, ends = torch.tensor([0, 6, 3]), torch.tensor([0, 6, 5])
    ids, types, attention = inputs()
    model = SpanReader.from_encoder(pretrained).eval()
    with torch.no_grad():
        whole = span_losses(*model(ids, types, attention), attention, starts, ends)[1]
        cut = (ids[1:2, :7], types[1:2, :7], attention[1:2, :7])
        alone = span_losses(*model(*cut), cut[2], starts[1:2], ends[1:2])[0]
    torch.testing.assert_close(whole, alone)


def test_faults_are_named(tmp_path, pretrained):
    with pytest.raises(InputError, match=r"there is no config\.json"):
        SpanReader.from_encoder(tmp_path / "nowhere")
    model = SpanReader.from_encoder(pretrained)
    with pytest.raises(
        ConfigError, match=r"question_answering\.max_length: 65 is longer than the encoder's 64"
    ):
        model.check_length(65, "question_answering.max_length")
    with pytest.raises(ValueError, match="leave no room for a text"):
        answering(max_length=8, question_length=5)
