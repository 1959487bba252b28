"""A lost terminal, SIGHUP, ends a run as SIGTERM does: jobs end, the lock goes, and the same command goes on."""

import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest
from tiny import ROOT, environment, jobs_done, run_workflow, snakemake_command

pytestmark = pytest.mark.deep


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_a_signal_ends_leaves_no_lock(project: Path, number: signal.Signals) -> None:
    command = snakemake_command(project, "--logger", "irpretrain", cores=1)
    with open(project / "printed", "wb") as printed:
        run = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(),
            stdout=printed,
            stderr=printed,
            start_new_session=True,
            # nohup, which may have started the tests, ignores the signal in all its descendants.
            preexec_fn=partial(signal.signal, number, signal.SIG_DFL),
        )
        while not jobs_done(project):
            assert run.poll() is None, (project / "printed").read_text()
            time.sleep(0.05)
        run.send_signal(number)
        assert run.wait() == 1
    text = (project / "printed").read_text()
    assert "Traceback" not in text
    assert "The same command goes on from there" in text
    assert not list(project.glob(".snakemake/locks/*"))
    again = run_workflow(
        project, "results/corpora", "--dry-run", expect=1
    )  # no such target, but also no lock
    assert "locked" not in again.stdout + again.stderr
    assert "copied without it" not in again.stdout + again.stderr
