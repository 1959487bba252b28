"""A model's directory names the longest sequence of its training, and whoever loads it reads that much."""

import json
from pathlib import Path

import numpy as np
import pytest

from irpretrain import Collection, CrossEncoder, TermWeigher, finetune, own_groups, pretrain
from irpretrain.foundation.errors import ConfigError, InputError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.parameters import TOKENIZER_CONFIG, longest_sequence
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.text.pair_tokenizer import PairTokenizer, sequence_limit
from tiny_models import FAMILIES, write_bert, write_family

BODIES = {"d0": "word01 word02 word03 ab cd", "d1": "word01 ef gh", "d2": "word05 word06 word07 word01"}
LONG = " ".join(f"word{number:02}" for number in range(1, 60))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """The folder of a pre-trained model with a snapshot, and of one that is fine-tuned from it."""
    folder = tmp_path_factory.mktemp("trained")
    groups = Collection(BODIES, encoder=tiny_encoder).groups("rop", minimum_count=1)
    lengths = {"max_length": 24, "query_length": 8}
    pretrain(groups, folder / "prop", steps=2, batch_groups=2, snapshots=[1], **lengths)
    pairs = [("word01", "word01 ef gh"), ("word05", "word05 word06 word07 word01")]
    learned = own_groups(pairs, encoder=folder / "prop")
    finetune(learned, folder / "tuned", epochs=1, max_length=32, query_length=8)
    return folder


@pytest.mark.parametrize(
    ("model", "length"), [("prop", 24), ("prop/snapshots/step-000001", 24), ("tuned", 32)]
)
def test_a_directory_names_the_length_of_its_training(trained: Path, model: str, length: int) -> None:
    from transformers import AutoTokenizer

    assert longest_sequence(trained / model) == length
    assert AutoTokenizer.from_pretrained(trained / model).model_max_length == length


@pytest.mark.parametrize(("model", "length"), [("prop", 24), ("tuned", 32)])
def test_a_long_text_is_read_as_far_as_in_training(trained: Path, model: str, length: int) -> None:
    pairs = [("word03", LONG), ("word01 word02", "ab cd")]
    by_itself = CrossEncoder(trained / model).predict(pairs)
    given = {
        most: CrossEncoder(trained / model, max_length=most, query_length=8).predict(pairs)
        for most in (length, length + 8)
    }
    np.testing.assert_array_equal(by_itself, given[length])
    assert by_itself[0] != given[length + 8][0], "a longer sequence can still be asked for"
    np.testing.assert_allclose(by_itself[1], given[length + 8][1], rtol=1e-5)


def test_a_given_length_alone_leaves_the_query_half_of_it(trained: Path) -> None:
    # Room for 13 pieces beside three special tokens: six of the query, which is cut there, and seven of the document.
    query, document = LONG.split()[:20], LONG.split()[30:50]
    alone = CrossEncoder(trained / "prop", max_length=16).predict([(" ".join(query), " ".join(document))])
    cut = CrossEncoder(trained / "prop", max_length=32, query_length=16).predict(
        [(" ".join(query[:6]), " ".join(document[:7]))]
    )
    np.testing.assert_allclose(alone, cut, rtol=1e-5)
    with pytest.raises(ConfigError, match="query_length 30 and three special tokens leave no room"):
        CrossEncoder(trained / "prop", query_length=30)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_tokenizer_of_every_family_stays_the_same_otherwise(tmp_path: Path, family: str) -> None:
    from transformers import AutoTokenizer

    model = CrossEncoderModel.from_encoder(write_family(tmp_path / family, family))
    model.save(tmp_path / "untrained")
    assert longest_sequence(tmp_path / "untrained") == longest_sequence(tmp_path / family)
    model.trained_length = 20
    model.save(tmp_path / "trained")
    before, after = (AutoTokenizer.from_pretrained(tmp_path / name) for name in ("untrained", "trained"))
    assert type(before) is type(after)
    assert after.model_max_length == 20
    texts = ("word01 Café, 東京 a-bad [SEP]", "word02 " * 30)
    assert before(*texts)["input_ids"] == after(*texts)["input_ids"]
    assert len(after(*texts, truncation=True)["input_ids"]) == 20
    names = {path.name for path in (tmp_path / "untrained").iterdir()}
    assert {path.name for path in (tmp_path / "trained").iterdir()} == names | {TOKENIZER_CONFIG}


def test_a_weigher_reads_as_far_as_in_training(tmp_path: Path, tiny_encoder: Path) -> None:
    model = TermWeightRegressor.from_encoder(tiny_encoder, layers=None, seed=1)
    model.trained_length = 20
    model.save(tmp_path / "deepct")
    [read] = TermWeigher(tmp_path / "deepct").weigh([LONG])
    [longer] = TermWeigher(tmp_path / "deepct", max_length=24).weigh([LONG])
    assert (len(read), len(longer)) == (18, 22), "two of the positions are special tokens"


def test_a_length_that_is_none_is_no_limit(tmp_path: Path) -> None:
    for written, length in [
        ({}, None),
        ({"model_max_length": 1e30}, None),
        ({"model_max_length": 1000000000000000019884624838656}, None),
        ({"model_max_length": None}, None),
        ({"model_max_length": 96.0}, 96),
        ({"model_max_length": "96"}, None),
        ({"model_max_length": 0}, None),
        ({"model_max_length": 2**30 - 1}, 2**30 - 1),
        ({"model_max_length": 2**30}, None),
    ]:
        (tmp_path / TOKENIZER_CONFIG).write_text(json.dumps(written))
        assert longest_sequence(tmp_path) == length
        assert sequence_limit(written.get("model_max_length")) == length
    (tmp_path / TOKENIZER_CONFIG).write_text("[]")
    with pytest.raises(InputError, match="this is not a JSON object"):
        longest_sequence(tmp_path)


def test_a_cross_encoder_whose_length_is_no_number_has_no_limit(tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "model", 1)
    for length in ("512", 0, None):
        (folder / TOKENIZER_CONFIG).write_text(
            json.dumps({"tokenizer_class": "BertTokenizer", "model_max_length": length})
        )
        assert PairTokenizer(folder).limit is None
