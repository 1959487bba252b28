"""The examples in the library's docstrings do what they say."""

import doctest
import importlib
from pathlib import Path
from typing import Any

import pytest
from library_page import lay_models

import irpretrain
from irpretrain.evaluation import significance
from tiny_models import write_bert

MODULES = (
    "axioms.predictor",
    "evaluation.evaluate",
    "evaluation.significance",
    "library.collection",
    "library.cross_encoder",
    "library.documents",
    "library.groups",
    "library.models",
    "library.options",
    "library.own_groups",
    "wikipedia.article",
)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Directories of tiny models, by the names that the examples give them."""
    folder: Path = tmp_path_factory.mktemp("places")
    lay_models(folder)
    return {
        "encoder_directory": folder / "models/encoder",
        "model_directory": write_bert(folder / "model", labels=1),
        "predictor_directory": folder / "models/predictor",
        "weigher_directory": folder / "models/deepct",
        "output_directory": folder / "output",
        "tuned_directory": folder / "tuned",
    }


@pytest.mark.parametrize("name", [*MODULES, "library.collection_search"])
def test_examples_of_docstrings(name: str, places: dict[str, Any]) -> None:
    module = importlib.import_module(f"irpretrain.{name}")
    results = doctest.testmod(module, extraglobs=places, optionflags=doctest.ELLIPSIS)
    assert results.attempted
    assert results.failed == 0


def test_every_name_has_an_example() -> None:
    assert all(">>> " in (getattr(irpretrain, name).__doc__ or "") for name in irpretrain.__all__)
    modules = {
        getattr(irpretrain, name).__module__.removeprefix("irpretrain.") for name in irpretrain.__all__
    }
    assert modules == set(MODULES)


def test_every_name_is_there() -> None:
    assert sorted(irpretrain._MODULES) == irpretrain.__all__
    assert [name for name in dir(irpretrain) if not name.startswith("__")] == irpretrain.__all__
    assert irpretrain.paired_t_test is significance.paired_t_test
    with pytest.raises(AttributeError, match="plum"):
        irpretrain.plum  # noqa: B018
