"""Every code block of the documentation works: it is followed by a test of its page, or run or loaded here.

A YAML block is an overlay that loads over `config.yaml`, a shell block calls targets and files that there are, and a
block of Python runs.
"""

import os
import re
import shlex
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from irpretrain.config import Config, load_config
from irpretrain.corpora.embedded import read_manifest
from irpretrain.workflow.plan.whole import Plan

ROOT = Path(__file__).resolve().parents[1]
FOLLOWED = {
    "README.md": "workflow/test_readme.py",
    "docs/library.md": "library/test_library_page.py",
    "docs/tutorials/new-objective.md": "workflow/test_tutorial.py",
    "docs/tutorials/new-dataset.md": "workflow/test_new_dataset.py",
    "docs/tutorials/combining-objectives.md": "workflow/test_combining_objectives.py",
    "docs/runs-and-scores.md": "test_runs_and_scores.py",
    "docs/module.md": "workflow/test_module.py",
    **{
        f"docs/journeys/{name}.md": "workflow/test_journeys.py"
        for name in ("msmarco", "my-collection", "my-deepct-index", "my-wikipedia", "robust04")
    },
}
"""Pages whose blocks a test of their own follows."""
BLOCK = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(page, language, name, textwrap.dedent(text), id=f"{page}-{number}-{language}")
    for path in [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("resources/**/*.md"),
        *ROOT.glob("config/*.md"),
    ]
    if (page := path.relative_to(ROOT).as_posix()) not in FOLLOWED
    for number, (_, language, name, text) in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")))
]
COLLECTION = {
    "label": "made",
    "corpus": "squad-dev",
    "queries": {"path": "topics.txt"},
    "qrels": {"path": "qrels.txt"},
}
DUMP = {"format": "wikipedia-dump", "path": "dump.xml"}
CONTEXT: dict[str, dict[str, Any]] = {
    "docs/corpora.md": {
        "datasets": {"fruit-train": {**COLLECTION, "corpus": "squad-train-passages"}}
        | dict.fromkeys(("fruit", "orchard"), COLLECTION)
    },
    "docs/methods/ares-predictor.md": {
        "collections": {"paragraphs": ["squad-train"]},
        "datasets": {"squad-train": {**COLLECTION, "corpus": "squad-train"}},
    },
    "docs/methods/term-weight-pages.md": {
        "term_weights": {"oracle": {"label": "Oracle", "model": "oracle", "dataset": "squad"}}
    },
    "docs/settings.md": {
        "datasets": {
            "mine": COLLECTION,
            "mine-other": {**COLLECTION, "queries": {"path": "other-topics.txt"}},
        },
        "experiments": {"mine": {"dataset": "mine", "models": ["control"], "regimes": ["zero-shot"]}},
    },
    "docs/methods/neural-rankers.md": {"collections": {"searched": ["squad-dev", "squad-train"]}},
}
"""What a page's blocks name that `config.yaml` lacks."""


@pytest.mark.parametrize("page", FOLLOWED)
def test_the_test_of_a_page_reads_it(page: str) -> None:
    assert (ROOT / page).is_file()
    test = (ROOT / "tests" / FOLLOWED[page]).read_text(encoding="utf-8")
    assert page in test or Path(page).stem in test or f'"{Path(page).parent.as_posix()}"' in test


@pytest.mark.parametrize(("page", "language", "name", "text"), BLOCKS)
def test_a_block_works(
    page: str, language: str, name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if language == "yaml" and "ir_datasets:" in text:
        if "IR_DATASETS" not in os.environ:
            pytest.skip("IR_DATASETS names no folder with ir_datasets")
        monkeypatch.syspath_prepend(os.environ["IR_DATASETS"])
        monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    if language == "yaml":
        write_named_overlays(page, tmp_path)
        load(page, yaml.safe_load(text), tmp_path)
    elif language == "sh":
        for line in text.splitlines():
            check_command(shlex.split(line, comments=True), ROOT / page)
    elif language == "python":
        compile(text, page, "exec")
        modules = re.findall(r"^(?:from|import) ([\w.]+)", text, re.MULTILINE)
        if "pyserini" in {module.partition(".")[0] for module in modules}:
            pytest.skip("pyserini's own code is not installed; the page says when it was run")
        exec(text, {})
    else:
        assert language in ("json", "math", "text"), f"no test knows what to do with {language}"


def write_named_overlays(page: str, folder: Path) -> None:
    """Write the overlays that a page names (`file=`): another block may lie over them."""
    for _, language, name, text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if language == "yaml" and (found := re.search(r"file=(\S+)", name)):
            (folder / found[1]).write_text(text, encoding="utf-8")


def load(page: str, block: dict[str, Any], folder: Path) -> None:
    """Load a block over `config.yaml` with what else its page names; options of a format as those of a corpus."""
    if "options" in block:
        block = {"corpora": {"made": {**DUMP, **block}}}
    layers = []
    for name, content in (("context", CONTEXT.get(page, {})), ("block", block)):
        layers.append(folder / f"{name}.yaml")
        layers[-1].write_text(yaml.safe_dump(content), encoding="utf-8")
    load_config(ROOT / "config.yaml", *layers)


def check_command(words: list[str], page: Path) -> None:
    """Refuse a command with a target, profile or overlay that there is not; files that a page makes are its own."""
    program, *arguments = [word for word in words if not re.fullmatch(r"[A-Z_]+=.*", word)]
    settings = dict(word.split("=", 1) for word in words if re.fullmatch(r"[A-Z_]+=.*", word))
    files = re.findall(r"--configfile (\S+)", f"{shlex.join(arguments)} {settings.get('ARGS', '')}")
    for file in files:
        assert (ROOT / file).is_file() or f"`{file}`" in page.read_text(encoding="utf-8"), file
    assert (ROOT / settings.get("PROFILE", "profiles/local")).is_dir()
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert set(arguments) <= set(targets)
    else:
        assert program.endswith("snakemake")
        target = next((word for word in arguments if re.fullmatch("[a-z_]+", word)), None)
        manifest = read_manifest(ROOT / "resources/embedded.yaml")
        assert target is None or target in Plan(load_config(ROOT / "config.yaml"), manifest).targets_by_name()


FRAGMENT = re.compile(r"`(?:" + "|".join(Config.model_fields) + r"): [^`]*`")
"""A key of the configuration and its value within prose."""
NO_YAML = re.compile(r"[<…|]")
"""Stands for something that the reader puts there, or parts alternatives."""


def fragments() -> list[Any]:
    """The fragments of each paragraph or item of a list, which belong together."""
    found = []
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        page, prose = path.relative_to(ROOT).as_posix(), BLOCK.sub("", path.read_text(encoding="utf-8"))
        for number, part in enumerate(re.split(r"\n\n|\n- ", prose)):
            texts = [text.strip("`") for text in FRAGMENT.findall(part) if not NO_YAML.search(text)]
            if texts:
                found.append(pytest.param(page, texts, id=f"{page}-{number}"))
    return found


@pytest.mark.parametrize(("page", "texts"), fragments())
def test_a_fragment_of_prose_works(page: str, texts: list[str], tmp_path: Path) -> None:
    """Over the overlay of its page, if it has one, each over those before it."""
    overlay = ROOT / f"configs/{Path(page).stem}.yaml"
    layers = [overlay] if overlay.exists() else []
    for number, text in enumerate(texts):
        layers.append(tmp_path / f"fragment-{number}.yaml")
        layers[-1].write_text(text)
    load_config(ROOT / "config.yaml", *layers)
