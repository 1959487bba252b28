"""The cross-encoder: heads, loading, and equality with what Hugging Face computes from the same directory."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from irpretrain.foundation.errors import InputError
from irpretrain.foundation.provenance import sha256
from irpretrain.models.cross_encoder import CrossEncoderModel
from tiny_models import write_bert

MakeEncoder = Callable[..., Path]


def inputs(directory: Path) -> dict[str, torch.Tensor]:
    tokenizer = AutoTokenizer.from_pretrained(directory)
    return tokenizer(
        ["word01 cab", "word02"], ["word03 bad", "word04 word05 word06"], padding=True, return_tensors="pt"
    )


def scores(model: CrossEncoderModel, directory: Path) -> torch.Tensor:
    with torch.no_grad():
        return model.eval()(**inputs(directory))


@pytest.mark.parametrize("head", ["mlp", "pooled"])
def test_hugging_face_loads_it_with_equal_scores(tmp_path: Path, tiny_encoder: Path, head: str) -> None:
    model = CrossEncoderModel.from_encoder(tiny_encoder, head)
    model.save(tmp_path / "model")
    reference = AutoModelForSequenceClassification.from_pretrained(tmp_path / "model").eval()
    with torch.no_grad():
        expected = reference(**inputs(tmp_path / "model")).logits
    assert expected.shape == (2, 1)
    assert expected[0] != expected[1]
    loaded = CrossEncoderModel.load(tmp_path / "model")
    assert torch.equal(scores(model, tiny_encoder), scores(loaded, tiny_encoder))
    assert torch.allclose(scores(loaded, tiny_encoder), expected.squeeze(-1), atol=1e-6)
    # In double precision, with the matrix products that Hugging Face calls, nothing is left of rounding.
    with torch.no_grad():
        expected = reference.double()(**inputs(tmp_path / "model")).logits.squeeze(-1)
    for found in (model, loaded):
        torch.testing.assert_close(scores(found.double(), tiny_encoder), expected, rtol=1e-12, atol=0)
    # sentence-transformers must rank by the raw score, not by a sigmoid of it.
    assert reference.config.sentence_transformers["activation_fn"] == "torch.nn.modules.linear.Identity"


def test_heads_keep_or_replace_the_pooler(tiny_encoder: Path) -> None:
    from safetensors.torch import load_file

    own = load_file(tiny_encoder / "model.safetensors")["pooler.dense.weight"]
    pooled, mlp = (CrossEncoderModel.from_encoder(tiny_encoder, head) for head in ("pooled", "mlp"))
    assert torch.equal(pooled.classifier.bert.pooler.dense.weight, own)
    assert not torch.equal(mlp.classifier.bert.pooler.dense.weight, own)
    assert torch.equal(mlp.classifier.classifier.weight, pooled.classifier.classifier.weight)


def test_fresh_parameters_depend_on_the_seed_alone(tiny_encoder: Path) -> None:
    torch.manual_seed(1)
    first = CrossEncoderModel.from_encoder(tiny_encoder, seed=3)
    torch.rand(17)
    second = CrossEncoderModel.from_encoder(tiny_encoder, seed=3)
    other = CrossEncoderModel.from_encoder(tiny_encoder, seed=4)
    assert all(torch.equal(a, second.state_dict()[name]) for name, a in first.state_dict().items())
    for name in (
        "classifier.classifier.weight",
        "classifier.bert.pooler.dense.weight",
        "mlm_head.dense.weight",
    ):
        assert not torch.equal(first.state_dict()[name], other.state_dict()[name])
    assert torch.equal(
        first.classifier.bert.encoder.layer[1].output.dense.weight,
        other.classifier.bert.encoder.layer[1].output.dense.weight,
    )


def test_fresh_parameters_are_berts(make_encoder: MakeEncoder) -> None:
    model = CrossEncoderModel.from_encoder(make_encoder(hidden_size=128, intermediate_size=32))
    weight = model.mlm_head.dense.weight
    assert abs(float(weight.detach().std()) - 0.02) < 0.001
    assert abs(float(weight.detach().mean())) < 0.001
    assert not torch.equal(weight, model.classifier.bert.pooler.dense.weight)
    for bias in (model.mlm_head.bias, model.mlm_head.dense.bias, model.classifier.classifier.bias):
        assert not bias.any()
    assert (model.mlm_head.layer_norm.weight == 1).all()


def test_loading_does_not_touch_the_random_state(tiny_encoder: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    CrossEncoderModel.from_encoder(tiny_encoder)
    assert torch.equal(torch.rand(1), expected)


def test_attention_may_drop_less_than_the_rest(tmp_path: Path, tiny_encoder: Path) -> None:
    """The saved model keeps it."""
    CrossEncoderModel.from_encoder(tiny_encoder, dropout=0.3, attention_dropout=0.0).save(tmp_path / "model")
    for model, attention in (
        (CrossEncoderModel.load(tmp_path / "model"), 0.0),
        (CrossEncoderModel.load(tmp_path / "model", attention_dropout=0.2), 0.2),
        (CrossEncoderModel.load(tmp_path / "model", dropout=0.1), 0.1),
    ):
        layer = model.encoder.encoder.layer[0]
        assert layer.attention.self.dropout.p == attention
        assert layer.output.dropout.p == (0.1 if attention == 0.1 else 0.3)


def test_saved_files_are_equal_and_name_no_directory(tmp_path: Path, tiny_encoder: Path) -> None:
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "a")
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "b" / "c")
    CrossEncoderModel.load(tmp_path / "a").save(tmp_path / "d")
    assert sha256(tmp_path / "a") == sha256(tmp_path / "b" / "c") == sha256(tmp_path / "d")
    assert str(tmp_path) not in "".join(p.read_text() for p in (tmp_path / "a").glob("*.json"))
    assert (tmp_path / "a" / "model.safetensors").stat().st_mode & 0o777 == 0o644, "all may read it"


def test_what_an_encoder_is_set_to_return_changes_nothing(tmp_path: Path, tiny_encoder: Path) -> None:
    folder = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    config = json.loads((folder / "config.json").read_text())
    config |= {"output_attentions": True, "output_hidden_states": True, "return_dict": False}
    (folder / "config.json").write_text(json.dumps(config))
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "plain")
    CrossEncoderModel.from_encoder(folder).save(tmp_path / "model")
    assert sha256(tmp_path / "model") == sha256(tmp_path / "plain")


def test_a_longer_layer_norm_name_of_old_checkpoints_is_read(tmp_path: Path, tiny_encoder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(tiny_encoder / "model.safetensors")
    old = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in weights.items()
    }
    (tmp_path / "old").mkdir()
    save_file(old, tmp_path / "old" / "model.safetensors", metadata={"format": "pt"})
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / "old" / name).write_bytes((tiny_encoder / name).read_bytes())
    model = CrossEncoderModel.from_encoder(tmp_path / "old")
    assert torch.equal(
        scores(model, tiny_encoder), scores(CrossEncoderModel.from_encoder(tiny_encoder), tiny_encoder)
    )


def test_pickled_weights_are_refused(tmp_path: Path, tiny_encoder: Path) -> None:
    from safetensors.torch import load_file

    weights = load_file(tiny_encoder / "model.safetensors")
    (tmp_path / "config.json").write_bytes((tiny_encoder / "config.json").read_bytes())
    torch.save(weights, tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"weights in other files are not read"):
        CrossEncoderModel.from_encoder(tmp_path)


def test_a_configuration_without_a_class_name_is_read(tmp_path: Path, tiny_encoder: Path) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_bytes((tiny_encoder / name).read_bytes())
    config = json.loads((tiny_encoder / "config.json").read_text())
    expected = scores(CrossEncoderModel.from_encoder(tiny_encoder), tiny_encoder)
    for change in ({"architectures": None}, {"architectures": ["BertModel"], "num_labels": 3}):
        (tmp_path / "config.json").write_text(json.dumps({**config, **change}))
        assert torch.equal(scores(CrossEncoderModel.from_encoder(tmp_path), tiny_encoder), expected)


def test_what_is_no_encoder_is_refused(tmp_path: Path) -> None:
    for kind, fault in (("bart", "of type 'bart' is no encoder"), ("nonesuch", "cannot be used")):
        (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
        with pytest.raises(InputError, match=fault):
            CrossEncoderModel.from_encoder(tmp_path)
    with pytest.raises(InputError, match=r"no config\.json"):
        CrossEncoderModel.from_encoder(tmp_path / "nothing")
    with pytest.raises(InputError, match="a cross-encoder has one label, this model has 2"):
        CrossEncoderModel.load(write_bert(tmp_path / "two", labels=2))
