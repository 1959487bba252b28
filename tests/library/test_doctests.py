"""The examples in the library's docstrings do what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
from typing import Any

import pytest

import irpretrain
from irpretrain.evaluation import significance
from tiny_models import write_bert, write_encoder

MODULES = ("collection", "documents", "models", "options")


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Directories of tiny models, by the names that the examples give them."""
    from irpretrain.models.term_weight_regressor import TermWeightRegressor

    folder: Path = tmp_path_factory.mktemp("models")
    encoder = write_encoder(folder / "encoder")
    TermWeightRegressor.from_encoder(encoder).save(folder / "weigher")
    return {
        "encoder_directory": encoder,
        "model_directory": write_bert(folder / "model", labels=1),
        "weigher_directory": folder / "weigher",
        "output_directory": folder / "output",
    }


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str, places: dict[str, Any]) -> None:
    module = importlib.import_module(f"irpretrain.library.{name}")
    results = doctest.testmod(module, extraglobs=places, optionflags=doctest.ELLIPSIS)
    assert results.attempted
    assert results.failed == 0


def test_every_name_is_there() -> None:
    assert sorted(irpretrain._MODULES) == irpretrain.__all__
    assert set(irpretrain.__all__) <= set(dir(irpretrain))
    assert irpretrain.paired_t_test is significance.paired_t_test
    with pytest.raises(AttributeError, match="plum"):
        irpretrain.plum  # noqa: B018
