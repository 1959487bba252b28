"""Examples on the methods' pages are those that the default's run writes."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".ci" / "pages"))
method_examples = importlib.import_module("method_examples")
KEPT = sorted(path.relative_to(ROOT / "docs/examples") for path in ROOT.glob("docs/examples/**/*.json"))


@pytest.mark.deep
def test_examples_are_those_of_the_default_s_run(tmp_path: Path) -> None:
    """Where one differs on purpose, copy it from `results/examples` of a run."""
    made = {name: tmp_path / "results/examples" / name for name in KEPT}
    targets = [str(path.relative_to(tmp_path)) for path in made.values()]
    options = ["--workflow-profile", "none", "--cores", "2", "--quiet", "all", "--directory", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "snakemake", *options, *targets], cwd=ROOT, check=True)
    for name, path in made.items():
        assert path.read_text() == (ROOT / "docs/examples" / name).read_text(), name


def test_every_kept_example_is_on_a_page() -> None:
    pages = "".join((ROOT / f"docs/methods/{name}.md").read_text() for name in method_examples.PAGES)
    assert {name for _, name, _ in method_examples.BLOCK.findall(pages)} == {
        name.with_suffix("").as_posix() for name in KEPT
    }


@pytest.fixture
def block(tmp_path: Path):
    """A function from an example to the lines of its block."""
    (tmp_path / "methods").mkdir()
    (tmp_path / "examples").mkdir()
    for name in method_examples.PAGES:
        (tmp_path / f"methods/{name}.md").write_text("a\n<!-- example of one -->\nold\n<!-- end -->\nb\n")

    def lines(content: dict) -> list[str]:
        (tmp_path / "examples/one.json").write_text(json.dumps(content))
        pages = method_examples.method_pages(tmp_path)
        page = pages["methods/php.md"].splitlines()
        assert (page[:4], page[-4:]) == (
            ["a", "<!-- example of one -->", "", "```text"],
            ["```", "", "<!-- end -->", "b"],
        )
        return page[4:-4]

    return lines


def sequence(query: list, document: str, score: float) -> dict:
    return {"query": query, "document": [[document, False]], "score": score}


def test_what_sequences_share_stands_once_and_the_third_is_left_out(block) -> None:
    queries = ["gold river", "old", "never"]
    content = {
        "sequences": [sequence([[query, False]], "text " * 99, n / 2) for n, query in enumerate(queries)],
        "path": [[0, "River", True], [1, "Bank", False], [1, "Gold", True]],
        "axioms": {"RANK": 1, "REG": -1, "STM-1": 0},
    }
    lines = block(content)
    assert lines[0].startswith("document: text text")
    assert lines[-6].endswith("…")
    assert lines[-5:] == [
        "preferred query: gold river (0)",
        "other query: old (0.5)",
        "drawn path: River > Gold",
        "axioms for the first: RANK",
        "axioms for the second: REG",
    ]


def test_an_anchor_stands_in_brackets_and_makes_no_other_query(block) -> None:
    anchored = sequence([["by", False], ["rivers", True], [".", False]], "one", 1)
    assert block({"sequences": [anchored, sequence([["by rivers.", False]], "two", 0)], "path": []}) == [
        "query: by [rivers] .",
        "preferred document: one (1)",
        "other document: two (0)",
    ]


def test_words_have_their_targets(block) -> None:
    words = [["", "The", 0.0], [" ", "gold", 0.33]]
    assert block({"words": words, "rest": "!", "judged": 3}) == ["passage: The gold[0.33]!"]
