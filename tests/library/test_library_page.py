"""Every example of docs/library.md runs, one after the other, in a folder that holds the models that it names."""

import re
from pathlib import Path
from typing import Any

import pytest
from library_page import PAGE, blocks, lay_models

from irpretrain.command import commands

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
