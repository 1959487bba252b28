"""What the Snakefile asks of Snakemake beyond its documented interface is there; one test for each."""

import inspect
import logging
import os
import re
import signal
import sys
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import snakemake
from snakemake.cli import get_argument_parser
from snakemake.dag import DAG
from snakemake.exceptions import WorkflowError
from snakemake.scheduling.job_scheduler import JobRateLimiter
from snakemake.settings.types import ConfigSettings, ExecMode, OutputSettings, Quietness, ResourceSettings
from snakemake.workflow import Workflow

from snakemake_logger_plugin_irpretrain import internals

ROOT = Path(__file__).resolve().parents[2]


def main_process(**parts: Any) -> SimpleNamespace:
    return SimpleNamespace(exec_mode=ExecMode.DEFAULT, **parts)


def test_what_the_configuration_is_made_of(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("seed: 4")
    settings = ConfigSettings(configfiles=[mine], config={"seed": 3})
    assert internals.overlays(main_process(config_settings=settings)) == ([mine], {"seed": 3})
    whole = ConfigSettings(configfiles=[mine], replace_workflow_config=True)
    assert internals.overlays(main_process(config_settings=whole)) is None
    assert "config_settings" in {field.name for field in fields(Workflow)}


def test_what_snakemake_says_and_how_it_shows_it():
    assert internals.NOTHING_TO_DO == "Nothing to be done (all requested files are present and up to date)."
    settings = OutputSettings(nocolor=True, stdout=True)
    handler = internals.usual_display(settings)
    assert isinstance(handler, logging.StreamHandler)
    assert handler.stream is sys.stdout


@pytest.mark.parametrize(
    "text", [internals.FINAL_ERROR, internals.LOOK_ABOVE, internals.TERMINATING, internals.HALF_WRITTEN]
)
def test_texts_that_are_compared_are_snakemake_s(text):
    sources = Path(snakemake.__file__).parent.rglob("*.py")
    assert any(text in source.read_text(encoding="utf-8") for source in sources)


def test_the_targets_of_the_command_line(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["snakemake", "--cores", "2", "deepct", "results/a.csv"])
    assert internals.targets(main_process()) == ["deepct", "results/a.csv"]
    assert internals.targets(SimpleNamespace(exec_mode=ExecMode.SUBPROCESS)) == []


@pytest.mark.parametrize("number", [0, -1])
@pytest.mark.parametrize(("option", "field"), [("--cores", "cores"), ("--jobs", "nodes")])
def test_no_cores_and_no_jobs_at_a_time_are_refused(option, field, number):
    """Snakemake would wait for ever."""
    with pytest.raises(
        WorkflowError, match=rf"^{option} {number}: no job can run so; give a number from 1 on"
    ):
        internals.refuse_no_cores(main_process(resource_settings=ResourceSettings(**{field: number})))
    internals.refuse_no_cores(main_process(resource_settings=ResourceSettings(**{field: 1})))


def test_the_usual_limit_of_jobs_a_second_is_the_one_that_is_lifted():
    usual = get_argument_parser().parse_args(["--cores", "1"]).max_jobs_per_timespan
    limit = JobRateLimiter(usual)
    assert (limit.max_jobs, limit.timespan) == internals.USUAL_LIMIT
    workflow = main_process(local_exec=True, scheduler=SimpleNamespace(job_rate_limiter=limit))
    internals.disable_default_rate_limit(workflow)
    assert workflow.scheduler.job_rate_limiter is None


@pytest.mark.parametrize(("local", "limit"), [(True, (7, 60)), (False, (100, 1))], ids=["own", "cluster"])
def test_a_limit_of_the_users_own_and_one_on_a_cluster_stay(local, limit):
    scheduler = SimpleNamespace(job_rate_limiter=SimpleNamespace(max_jobs=limit[0], timespan=limit[1]))
    internals.disable_default_rate_limit(main_process(local_exec=local, scheduler=scheduler))
    assert scheduler.job_rate_limiter is not None


def test_a_dry_run_knows_its_jobs_when_it_ends(monkeypatch, capsys):
    assert "exclude_finished" in inspect.signature(DAG.needrun_jobs).parameters
    assert isinstance(Workflow.dryrun, property)
    ends: list[Any] = []
    monkeypatch.setattr(internals.atexit, "register", ends.append)
    job = SimpleNamespace(
        rule=SimpleNamespace(name="search"),
        wildcards_dict={"dataset": "news"},
        resources={"mem_mb": 7},
        input=["a"],
        jobid=5,
        threads=2,
    )
    workflow = main_process(
        scheduler=object(),
        dryrun=True,
        dag=SimpleNamespace(needrun_jobs=lambda exclude_finished: [job]),
        output_settings=SimpleNamespace(quiet={Quietness.RULES}),
    )
    internals.log_after_dry_run(workflow, lambda jobs: f"{list(map(tuple, jobs))}")
    [end] = ends
    end()
    assert capsys.readouterr().err == "[('search', {'dataset': 'news'}, 7, ['a'], 2)]\n"
    workflow.output_settings.quiet = {Quietness.ALL}
    end()
    assert capsys.readouterr().err == ""


def test_a_run_and_the_process_of_a_job_say_nothing_of_costs(monkeypatch, capsys):
    ends: list[Any] = []
    monkeypatch.setattr(internals.atexit, "register", ends.append)
    internals.log_after_dry_run(SimpleNamespace(exec_mode=ExecMode.SUBPROCESS), lambda jobs: "costs")
    assert ends == []
    run = main_process(scheduler=object(), dryrun=False, output_settings=SimpleNamespace(quiet=None))
    internals.log_after_dry_run(run, lambda jobs: "costs")
    ends[0]()
    assert capsys.readouterr().err == ""


def test_only_a_cluster_takes_several_jobs_as_one():
    on_cluster, here = (main_process(local_exec=local) for local in (False, True))
    assert internals.group_on_cluster(on_cluster, "paper")(None) == "paper"
    assert internals.group_on_cluster(here, "paper")(None) is None
    assert "local_exec" in vars(Workflow)


@pytest.mark.parametrize(("before", "mode", "ends"), [
    (signal.SIG_DFL, ExecMode.DEFAULT, True),
    (signal.SIG_IGN, ExecMode.DEFAULT, False),  # nohup
    (signal.SIG_DFL, ExecMode.SUBPROCESS, False),
])  # fmt: skip
def test_a_hangup_ends_a_run_as_sigterm_does(monkeypatch, before, mode, ends):
    sent = []
    monkeypatch.setattr(os, "kill", lambda process, number: sent.append((process, number)))
    earlier = signal.signal(signal.SIGHUP, before)
    try:
        internals.prepare_run(SimpleNamespace(exec_mode=mode), [])
        handler = signal.getsignal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, earlier)
    assert callable(handler) is ends
    if ends:
        handler(signal.SIGHUP, None)
        assert sent == [(os.getpid(), signal.SIGTERM)]


def test_tables_and_figures_have_a_place_in_snakemake_s_report():
    files = ["results/tables/a.csv", "results/tables/a.md", "results/figures/b.svg", "results/report.html"]
    outputs = [internals.in_report(file, "prop") for file in files]
    assert outputs == files
    flags = [getattr(output, "flags", {}).get("report") for output in outputs]
    assert [flag and flag.labels for flag in flags] == [
        {"table": "a.csv"},
        None,
        {"figure": "b.svg"},
        {"report": "report.html"},
    ]
    root = Path(__file__).resolve().parents[2]
    assert all((root / "rules" / flag.caption).is_file() for flag in flags if flag)


def test_a_target_is_refused_where_no_rule_can_make_it(monkeypatch):
    # The name of a rule, and a file that is there, are targets too.
    monkeypatch.setattr(sys, "argv", ["snakemake", "make_pear", __file__, "results/no-such-file.csv"])
    rules = [
        SimpleNamespace(name=f"make_{fruit}", output=[], products=lambda output=output: [output])
        for fruit in ("pear", "plum")
        for output in [SimpleNamespace(match=lambda _, fruit=fruit: re.match("(?P<fruit>.*)", fruit))]
    ]
    fault_of = {"pear": ["there is no pear"], "plum": []}
    workflow = main_process(rules=rules)
    internals.refuse_unknown_targets(workflow, lambda _, wildcards: fault_of[wildcards["fruit"]])
    with pytest.raises(WorkflowError, match=r"^there is no pear$"):
        internals.refuse_unknown_targets(workflow, lambda *_: fault_of["pear"])
