"""A cross-encoder from elsewhere is fine-tuned further: by the library and the workflow's own jobs."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from irpretrain import CrossEncoder, Options, finetune, own_groups
from irpretrain.config.text import EncoderConfig
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.mlm_heads import MLM_HEAD_FILE
from irpretrain.training.pretrain import pretrain
from tiny_models import write_bert, write_encoder, write_roberta

TEXTS = ["word01 word02 ab cd", "word01 ef gh word05", "word05 word02 word07 word01", "word30 word31"]
PAIRS = [(f"word{number:02}", text) for number in (1, 5, 30) for text in TEXTS]
LEARNED = [("word01 ab", TEXTS[0]), ("word05", TEXTS[1]), ("word30", TEXTS[3])]
LENGTHS = {"max_length": 32, "query_length": 8}


def without_objectives(encoder: Path, output: Path, **changes: object) -> None:
    """Make a model without objectives, as rule pretrain does it."""
    options = Options().training([], steps=1, batch_groups=2, head="kept")
    described = EncoderConfig(path=str(encoder), **changes)
    files = (f"{output}.jsonl", f"{output}.csv", output.parent / "checkpoints")
    pretrain(encoder, None, [], [], [], options, described, 1, output, *files)


@pytest.mark.parametrize(
    "write", [lambda path: write_bert(path, labels=1), write_roberta], ids=["bert", "roberta"]
)
def test_a_cross_encoder_from_elsewhere_is_fine_tuned_from_its_own_scores(write, tmp_path: Path) -> None:
    theirs = write(tmp_path / "theirs")
    before = CrossEncoder(theirs, **LENGTHS).predict(PAIRS)
    without_objectives(theirs, tmp_path / "taken")
    np.testing.assert_allclose(CrossEncoder(tmp_path / "taken", **LENGTHS).predict(PAIRS), before, atol=2e-6)
    for rate, is_equal in ((1e-12, True), (1e-2, False)):
        output = tmp_path / f"tuned-{rate}"
        finetune(own_groups(LEARNED, encoder=theirs), output, epochs=1, learning_rates=[rate], **LENGTHS)
        after = CrossEncoder(output, **LENGTHS).predict(PAIRS)
        assert np.allclose(after, before, atol=1e-4) == is_equal


def test_a_head_that_lost_a_parameter_is_refused(tmp_path: Path) -> None:
    CrossEncoderModel.from_encoder(write_encoder(tmp_path / "encoder")).save(tmp_path / "model")
    path = tmp_path / "model" / MLM_HEAD_FILE
    weights = load_file(path)
    weights.pop("bias")
    save_file(weights, path)
    with pytest.raises(InputError, match="parameters are missing or too many, such as bias"):
        CrossEncoderModel.load(tmp_path / "model")


def test_what_has_no_head_or_lost_layers_is_refused(tmp_path: Path) -> None:
    encoder = write_encoder(tmp_path / "encoder")
    with pytest.raises(InputError, match=r"parameters are missing or of another shape, such as .*classifier"):
        without_objectives(encoder, tmp_path / "model")
    theirs = write_bert(tmp_path / "theirs", labels=1)
    with pytest.raises(ConfigError, match=r"pretraining\.head: kept reads the encoder's last layer"):
        without_objectives(theirs, tmp_path / "model", layers=1)
    assert not (tmp_path / "model").exists()
