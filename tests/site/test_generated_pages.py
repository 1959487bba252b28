"""Generated pages are up to date and say all that they are made from."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

from irpretrain.config import Config
from irpretrain.foundation.contracts import CONTRACTS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".ci" / "pages"))
contracts_page = importlib.import_module("contracts_page")
generated_pages = importlib.import_module("generated_pages")
results_page = importlib.import_module("results_page").results_page
literal, write_or_check = generated_pages.literal, generated_pages.write_or_check
configuration_pages = importlib.import_module("configuration_pages")
FOLDER, PAGES = configuration_pages.FOLDER, configuration_pages.PAGES
config_reference = configuration_pages.config_reference
EXAMPLES = importlib.import_module("configuration_examples").EXAMPLES


def test_no_page_of_the_configuration_is_left_over():
    assert {f"{FOLDER}/{path.name}" for path in (ROOT / "docs" / FOLDER).iterdir()} == set(config_reference())


def test_every_column_is_described_or_named():
    sections = {text.partition("\n")[0]: text for text in contracts_page.contracts_page().split("\n## ")[1:]}
    assert list(sections) == [contract.name for contract in CONTRACTS]
    described = contracts_page.contracts_page().splitlines()
    for contract in CONTRACTS:
        for column in contract.columns:
            assert f"`{column.name}`" in sections[contract.name]
            line = rf"- `{column.name}`( \(.*\))?: {re.escape(literal(column.meaning))}"
            assert any(re.fullmatch(line, described_line) for described_line in described)


def test_means_of_models_are_over_all_queries_of_the_usual_candidates(tmp_path):
    scores = tmp_path / "small/results/scores/a.csv"
    scores.parent.mkdir(parents=True)
    head = "dataset,candidates,model,regime,seed,fold,measure,value,queries\n"
    others = "squad,ql,knrm,full,2,0,RR@10,0.9,5\nsquad,bm25,knrm,full,3,1,RR@10,0.9,5\n"
    scores.write_text(f"{head}squad,bm25,knrm,full,1,0,RR@10,0.5,5\n{others}")
    (tmp_path / "results.md").write_text("<!-- models of small -->\nold\n<!-- end -->\n")
    assert "\n| KNRM | not run | 0.500 (0.500) |\n" in results_page(tmp_path)


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


def test_make_docs_writes_and_make_lint_checks_the_generated_pages():
    targets = (ROOT / "Makefile").read_text().split("\n\n")
    recipes = {text.partition(":")[0]: text.splitlines()[1:] for text in targets}
    assert "\tpython .ci/pages docs" in recipes["docs"]
    assert "\tpython .ci/pages --check docs" in recipes["lint"]


def test_the_command_exits_with_1_where_a_page_is_missing(tmp_path):
    command = [sys.executable, ROOT / ".ci" / "pages", str(tmp_path)]
    assert subprocess.run([*command, "--check"], capture_output=True).returncode == 1
    assert subprocess.run(command).returncode == 0
    assert subprocess.run([*command, "--check"]).returncode == 0
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    old = [path for path in made if (ROOT / "docs" / path).read_bytes() != (tmp_path / path).read_bytes()]
    assert old == [], "run: make docs"
    assert {Path("contracts.md"), Path("reference/config/README.md")} <= made


def test_every_section_has_an_example():
    assert list(EXAMPLES) == [key for _, *keys in PAGES.values() for key in keys]
    assert sum(text.count("```yaml\n") for text in config_reference().values()) == len(EXAMPLES)


def test_every_section_has_a_page_of_the_reference():
    """What no page names would stand on the first one."""
    pages = config_reference()
    assert re.findall("^## (.*)", pages[f"{FOLDER}/README.md"], re.MULTILINE) == [
        "Top level",
        "Presets",
        "Recipes",
    ]
    assert {key for _, *keys in PAGES.values() for key in keys} <= set(Config.model_fields)


def test_a_section_that_has_other_defaults_in_a_location_says_so():
    pages = config_reference()
    assert "- Section `bm25` has defaults of its own: `k1` `3.8`, `b` `0.87`." in pages[f"{FOLDER}/axioms.md"]
    assert "- Section `malformed` has defaults of its own: `skip` `0.001`." in pages[f"{FOLDER}/corpora.md"]
    assert sum(text.count("defaults of its own") for text in pages.values()) == 2


def test_every_key_is_described():
    lines = [line for text in config_reference().values() for line in text.splitlines()]
    missing = [line for line in lines if re.fullmatch(r"- `\w+` \([^:]*\)", line)]
    assert missing == []


def test_what_keys_mean_is_displayed_as_it_is():
    """`FT/*/FT*` would be read as emphasis, and embedded:<asset> as a tag of HTML."""
    lines = [line for text in config_reference().values() for line in text.splitlines() if "`): " in line]
    meanings = [re.sub(r"`[^`]*`", "", line.partition("): ")[2]) for line in lines]
    assert [meaning for meaning in meanings if re.search(r"(?<!\\)\*|<\S", meaning)] == []
