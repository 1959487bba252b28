"""The page on combining objectives is followed: its overlay trains, and its weights are what it says they are."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from overlay_layers import ROOT

from irpretrain.config import load_config

sys.path.append(str(ROOT / "tests/workflow"))
from tiny import TOPICS, make_project, overlay_config

PAGE = (ROOT / "docs/tutorials/combining-objectives.md").read_text()
BLOCKS = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL))
STEPS = 9
SECTIONS = ("Course", "Use", "Places")


def command_layers() -> list[str]:
    """The files that the page's command lays over config.yaml."""
    return re.search(r"--configfile ((?:[\w/-]+\.yaml ?)+)", BLOCKS["sh"])[1].split()


def test_it_is_valid_where_its_command_lays_it(tmp_path):
    (tmp_path / "combined.yaml").write_text(BLOCKS["yaml"])
    given, own = command_layers()
    config = load_config(ROOT / "config.yaml", ROOT / given, tmp_path / own)
    tasks = config.models["rop-srr"].tasks
    assert [(task.objective, task.weight, task.mlm_weight) for task in tasks] == [
        ("rop", 1, 1),
        ("srr", 0.5, 0),
    ]
    assert config.training_of("rop-srr").mixing == "sum"
    assert config.training_of("rop-srr").of_task(tasks[1]).loss == "listwise"


def article(number: int) -> str:
    """A page of one topic with sections, three of them beside each other."""
    own = TOPICS[number % len(TOPICS)]
    parts = "".join(f"=={name}==\n{f'{own} ' * (4 + place)}\n" for place, name in enumerate(SECTIONS))
    return (
        f"<page><title>{own.title()} {number}</title><ns>0</ns><id>{number + 1}</id><revision><id>1</id>"
        f"<text>{f'{own} ' * 5}\n{parts}</text></revision></page>\n"
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny project after the page's command, on articles with sections and for a few steps."""
    folder = tmp_path_factory.mktemp("combined")
    make_project(folder)
    site = '<siteinfo><dbname>tiny</dbname><namespaces><namespace key="0"/></namespaces></siteinfo>\n'
    pages = "".join(article(number) for number in range(24))
    (folder / "data/dump.xml").write_text(f"<mediawiki>{site}{pages}</mediawiki>\n")
    (folder / "combined.yaml").write_text(BLOCKS["yaml"].replace("dataset: squad", "dataset: tiny"))
    small = overlay_config()
    small["corpora"] |= {"enwiki-articles": {"path": "data/dump.xml"}, "squad-articles": None}
    small["collections"] |= {"articles": ["enwiki-articles"]}
    small["experiments"] = {
        **dict.fromkeys(("zero-shot", "fine-tuned", "few-shot", "structure")),
        "combined": {},
    }
    for model in yaml.safe_load(BLOCKS["yaml"])["models"]:
        small["models"][model] = {"training": {"steps": STEPS, "mlm_head_steps": 2}}
    (folder / "tiny.yaml").write_text(yaml.safe_dump(small))
    given, own = command_layers()
    words = BLOCKS["sh"].split()
    place = words.index("runs/combined")
    words[place] = str(folder)
    words[words.index(given)] = str(ROOT / given)
    words[words.index(own)] = f"{folder / own} {folder / 'tiny.yaml'}"
    models = [f"results/models/pretrained/{name}/seed-1" for name in small["models"] if "srr" in name]
    command = [
        sys.executable,
        "-m",
        *" ".join(words).split(),
        "--snakefile",
        str(ROOT / "Snakefile"),
        "--",
        *models,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=580, env=os.environ)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder / "results"


def steps(results: Path, model: str) -> list[dict]:
    lines = (results / f"metrics/pretrained/{model}/seed-1.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.workflow
@pytest.mark.timeout(600)
def test_weighted_losses_are_added_in_every_step(trained):
    found = steps(trained, "rop-srr")
    assert len(found) == STEPS
    for step in found:
        rop, srr = step["tasks"]["rop"], step["tasks"]["srr#1"]
        assert srr["mlm_loss"] is None
        weighted = rop["ranking_loss"] + rop["mlm_loss"] + 0.5 * srr["ranking_loss"]
        assert step["loss"] == pytest.approx(weighted, rel=1e-5)


@pytest.mark.workflow
@pytest.mark.timeout(600)
def test_tasks_take_turns_in_proportion_to_their_weights(trained):
    turns = [list(step["tasks"]) for step in steps(trained, "rop-srr-in-turn")]
    assert all(len(turn) == 1 for turn in turns)
    counts = {name: turns.count([name]) for name in ("rop", "srr#1")}
    assert sum(counts.values()) == STEPS
    assert counts["rop"] > counts["srr#1"] > 0


@pytest.mark.workflow
@pytest.mark.timeout(600)
def test_one_after_the_other_starts_from_the_first_models_weights(trained):
    inputs = json.loads((trained / "models/pretrained/rop-then-srr/seed-1.meta.json").read_text())["inputs"]
    assert any("models/pretrained/prop/seed-1" in name for name in json.dumps(inputs).split('"'))
