"""Every example of docs/library.md and of the docstrings runs, in a folder that holds the models that they name."""

import doctest
import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from library_page import PAGE, blocks, lay_models

import irpretrain
from irpretrain.command import commands
from irpretrain.evaluation import significance
from tiny_models import write_bert

TEN_LINES = 14
"""Lines of the longest block: its documents take several."""


def test_the_blocks_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    lay_models(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks():
        assert len(block.splitlines()) <= TEN_LINES
        exec(block, names)
    assert names["page"].body == "A pear is a fruit.\nUse\nIn pies.\nWine\nIn perry."
    assert names["values"]["rank"].tolist() == [2, 1]
    assert "('Pear', 'Use', 'Wine')" in capsys.readouterr().out


def test_an_example_says_which_models_it_needs() -> None:
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")
    for section in sections:
        code = "".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))
        assert ("This example needs" in section) == ('"models/' in code)
        assert ("needs the extra `train`" in section) == bool(
            re.search("CrossEncoder|TermWeigher|pretrain\\(", code)
        )


def test_the_readme_s_example_runs(capsys: pytest.CaptureFixture) -> None:
    [example] = re.findall(r"```python\n(.*?)```", (PAGE.parents[1] / "README.md").read_text(), re.DOTALL)
    exec(example, {})
    assert "[10 rows x 5 columns]" in capsys.readouterr().out


def test_the_commands_are_there() -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("irpretrain ")]
    for line in lines:
        name, *arguments = line.split()[1:]
        commands.commands[name].make_context(name, arguments, resilient_parsing=False)
    assert {line.split()[1] for line in lines} == set(commands.commands)


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
