"""Profiles say how, never what; what they name exists."""

from __future__ import annotations

import re

import pytest
import yaml

from irpretrain.papers.files import known_papers, read_paper
from irpretrain.resources import resources_directory

ROOT = resources_directory().parent
PROFILES = sorted(path.parent.name for path in (ROOT / "profiles").glob("*/config.yaml"))
RULES = "".join(path.read_text() for path in (ROOT / "rules").glob("*.smk"))


def profile(name: str) -> dict[str, object]:
    return yaml.safe_load((ROOT / "profiles" / name / "config.yaml").read_text())


def test_there_is_one_for_each_way_to_run():
    assert PROFILES == ["default", "gpu", "local", "slurm"]


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_decides_nothing_that_is_computed(name):
    assert not {"config", "configfile", "configfiles", "directory", "snakefile"} & set(profile(name))
    assert profile(name)["rerun-incomplete"] is True


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_starts_with_the_command_that_uses_it(name):
    first = (ROOT / "profiles" / name / "config.yaml").read_text().partition("\n")[0]
    assert f"profiles/{name}" in first


def test_retries_stand_in_the_profile_for_slurm_alone():
    assert [name for name in PROFILES if "retries" in profile(name)] == ["slurm"]
    assert not re.search(r"^ *retries:", RULES, re.MULTILINE)


def test_grouped_rules_exist_and_ask_for_no_gpu():
    papers = "|".join(known_papers())
    for name in profile("slurm")["groups"]:
        made = re.fullmatch(rf"(make_tables|make_figures)_({papers})", name)
        assert made is None or made[1] == "make_tables" or read_paper(made[2]).drawings()
        head = rf'name:\n +f"{made[1]}_' if made else rf"rule {name}:\n"
        [body] = [part for part in re.split(r"(?=\n *rule ?\w*:\n)", RULES) if re.search(head, part)]
        assert "gpu=" not in body


def test_every_paper_s_tables_and_figures_travel_together():
    groups = profile("slurm")["groups"]
    for paper in known_papers():
        assert groups[f"make_tables_{paper}"] == "paper"
        assert (groups.get(f"make_figures_{paper}") == "paper") == bool(read_paper(paper).drawings())


def test_the_partition_file_has_a_partition_with_gpus_and_one_without():
    path = ROOT / "profiles" / "slurm" / str(profile("slurm")["slurm-partition-config"])
    partitions = yaml.safe_load(path.read_text())["partitions"]
    assert {bool(limits["max_gpu"]) for limits in partitions.values()} == {False, True}
