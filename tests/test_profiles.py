"""Profiles say how, never what; what they name exists."""

import re

import pytest
import yaml

from irpretrain.foundation.resources import resources_directory

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


def test_small_jobs_travel_together_and_none_that_asks_for_a_gpu():
    """A test collection and its folds; a paper's tables, figures and page; the whole run's overview and page."""
    bodies = {}
    for body in re.split(r"(?=^ *rule ?\w*:$)", RULES, flags=re.MULTILINE):
        if group := re.search(r"^ +group:\n +travelling\(\"(\w+)\"\)", body, re.MULTILINE):
            name = re.match(r" *rule (\w+):| *rule:\n +name:\n +f\"(\w+)_\{paper\}\"", body)
            bodies[name[1] or name[2]] = (group[1], body)
    assert {name: group for name, (group, _) in bodies.items()} == {
        "prepare_dataset": "dataset",
        "make_folds": "dataset",
        "make_tables": "paper",
        "make_figures": "paper",
        "write_paper_report": "paper",
        "write_overview": "overview",
        "write_report": "overview",
    }
    assert not any("gpu=" in body for _, body in bodies.values())


def test_the_partition_file_has_a_partition_with_gpus_and_one_without():
    path = ROOT / "profiles" / "slurm" / str(profile("slurm")["slurm-partition-config"])
    partitions = yaml.safe_load(path.read_text())["partitions"]
    assert {bool(limits["max_gpu"]) for limits in partitions.values()} == {False, True}
