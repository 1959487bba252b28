"""The page about the tables is made from the contracts and says all of them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from irpretrain import contracts_reference as module
from irpretrain.contracts import CONTRACTS, Contract, ContractColumn
from irpretrain.contracts_reference import contracts_reference
from irpretrain.generated_pages import literal, write_or_check

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_up_to_date():
    assert (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8") == contracts_reference(), (
        "run: make docs"
    )


def test_every_column_is_described_or_named():
    sections = {text.partition("\n")[0]: text for text in contracts_reference().split("\n## ")[1:]}
    assert list(sections) == [contract.name for contract in CONTRACTS]
    described = contracts_reference().splitlines()
    for contract in CONTRACTS:
        for column in contract.columns:
            assert f"`{column.name}`" in sections[contract.name]
            line = rf"- `{column.name}`( \(.*\))?: {re.escape(literal(column.meaning))}"
            assert any(re.fullmatch(line, described_line) for described_line in described)


def test_a_contract_in_words(monkeypatch):
    pair = pa.struct([pa.field("start", pa.int32()), pa.field("end", pa.int32())])
    columns = (
        ContractColumn("spans", pa.list_(pair), "tokens a|b <n>", "word pieces"),
        ContractColumn("text", pa.string(), "words"),
    )
    tables = (Contract("tiny", "A tiny table.", columns), Contract("next", "Another.", columns[1:]))
    monkeypatch.setattr(module, "CONTRACTS", tables)
    assert contracts_reference().split("## tiny\n")[1] == (
        "\nA tiny table.\n\n"
        "- `spans` (list of `start`, `end`, word pieces): tokens a|b &lt;n>\n"
        "- `text`: words\n"
        "\n## next\n\nAnother.\n\n- As in [tiny](#tiny): `text`\n"
    )


def test_asterisks_and_angle_brackets_are_displayed_as_they_are():
    assert literal("FT/*/FT*: `*` is <any>, **/ `**`") == r"FT/\*/FT\*: `*` is &lt;any>, \*\*/ `**`"


def test_writing_then_checking_agrees_and_a_change_is_noticed(tmp_path, capsys):
    pages = {"a.md": "Ω\n", "b.md": "two\n"}
    assert write_or_check(["--check", str(tmp_path)], pages) == 1
    assert capsys.readouterr().out == f"a.md, b.md in {tmp_path} differ from the code; run: make docs\n"
    assert write_or_check([str(tmp_path)], pages) == 0
    assert write_or_check([str(tmp_path), "--check"], pages) == 0
    (tmp_path / "b.md").write_text("edited\n")
    assert write_or_check(["--check", str(tmp_path)], pages) == 1
    assert capsys.readouterr().out == f"b.md in {tmp_path} differ from the code; run: make docs\n"
    assert (tmp_path / "b.md").read_text() == "edited\n", "a check changes nothing"


@pytest.mark.parametrize("name", ["irpretrain.config.reference", "irpretrain.contracts_reference"])
def test_make_docs_writes_and_make_lint_checks_every_generated_page(name):
    targets = (ROOT / "Makefile").read_text().split("\n\n")
    recipes = {text.partition(":")[0]: text.splitlines()[1:] for text in targets}
    assert f"\tpython -m {name} docs" in recipes["docs"]
    assert f"\tpython -m {name} --check docs" in recipes["lint"]


def test_the_command_exits_with_1_where_the_page_is_missing(tmp_path):
    command = [sys.executable, "-m", "irpretrain.contracts_reference", str(tmp_path)]
    assert subprocess.run([*command, "--check"], capture_output=True).returncode == 1
    assert subprocess.run(command).returncode == 0
    assert subprocess.run([*command, "--check"]).returncode == 0
