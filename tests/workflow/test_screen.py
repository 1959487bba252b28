"""What a run shows without a terminal: a line a job, the first table, the result last; a refusal alone and last."""

import re

import pytest
from tiny import readme_command, run_command, run_workflow

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(1800)]

FINISHED_JOB = re.compile(r"\[ *(\d+)/(\d+)\] (\S.*), \d+ (?:s|min)")
SAID_MEANWHILE = re.compile(
    r"make: |Using workflow specific profile |Relative paths begin in /|"
    r"(Reading the configuration|Planning the jobs): \d+ s$|\d+ of \d+ jobs done, "
)
FOLDS = "results/datasets/tiny/folds.json"


def test_a_run_is_a_line_a_job_with_the_first_table_in_between_and_the_headline_last(finished):
    folder, done = finished
    lines = reported(done.stderr)
    jobs = [match for match in map(FINISHED_JOB.fullmatch, lines) if match]
    total = int(jobs[0][2])
    assert [int(match[1]) for match in jobs] == list(range(1, total + 1))
    assert lines[-1] == f"{total} of {total} jobs done."
    first_table = lines.index(f"Report:  {folder}/results/reports/{first_report(lines)}.html")
    assert any(line.startswith("BM25 ") for line in lines[first_table - 40 : first_table])
    assert "rule " not in done.stderr
    assert "jobid" not in done.stderr
    assert done.stdout.endswith(
        f"Report:  {folder}/results/report.html\nTables:  {folder}/results/tables\n\n"
    )


def reported(screen: str) -> list[str]:
    """The lines of a screen without those on paths, profile and clocks, and those that a slow machine adds."""
    return [line for line in screen.splitlines() if not SAID_MEANWHILE.match(line)]


def first_report(lines: list[str]) -> str:
    """The paper whose report was made first."""
    return next(match[1] for line in lines if (match := re.search(r"\] write paper report (\w+), ", line)))


def test_a_second_run_shows_the_headline_and_where_the_report_lies(finished, copied):
    folder, first = finished
    again = run_command(readme_command("make run", copied))
    assert reported(again.stderr)[-1] == "Nothing to make: what was asked for is there."
    assert again.stdout == first.stdout.replace(str(folder), str(copied))


def test_a_message_of_a_failed_job_is_alone_and_last(project):
    with open(project / "data/documents/part-1.jsonl", "a") as handle:
        handle.write('{"id": "d99", "title": \n')
    done = run_workflow(project, FOLDS, expect=1)
    logs = rf"{project}/results/logs/corpora/tiny-0\.log, {project}/\.snakemake/log/\S+\.log, \S+\.jobs\.log"
    assert re.fullmatch(
        r"FAILED read corpus tiny, shard 0\n\nStopped: 0 of 3 jobs done\. "
        r"The same command goes on from there after the fault below is mended\.\n"
        rf"Logs: {logs}\n\n"
        r"ERROR in read_corpus: data/documents/part-1\.jsonl:37: not valid JSON: .*\n"
        r"  Mend the record, or set corpora\.tiny\.malformed: \{skip: 0\.\d+\} "
        r"to leave such records out and count them\.",
        "\n".join(reported(done.stderr)),
    ), done.stderr
    assert not list((project / "results/corpora").rglob("*.parquet"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--config", "sed=3"],
            r"[^/\n]+/tiny\.yaml \+ /\S+/config\.yaml: 1 fault in the configuration\n"
            r"  - sed: unknown key; did you mean seed\?",
        ),
        (["--cores", "0"], r"--cores 0: no job can run so; .*"),
        (
            ["prob"],
            r"prob: no rule makes such a file, and there is no target of this name; did you mean prop\?.*",
        ),
        (
            ["results/scores/zero-shotx.csv"],
            r"results/scores/zero-shotx\.csv: 'zero-shotx' is not in experiments .*",
        ),
    ],
    ids=["configuration", "no cores", "target", "experiment"],
)
@pytest.mark.parametrize("dry", [False, True], ids=["run", "dry run"])
def test_a_refusal_before_the_run_is_alone_and_last(project, monkeypatch, arguments, message, dry):
    monkeypatch.setenv("PWD", str(project.parent))  # from where the user sees the files
    done = run_workflow(project, *arguments, *(["--dry-run"] if dry else []), expect=1)
    displayed = done.stdout + done.stderr
    assert "Traceback" not in displayed
    assert 'File "' not in displayed
    if dry:
        assert re.search(message, done.stdout)
    else:
        assert re.fullmatch(rf"{message}(\n  .*)*", "\n".join(reported(done.stderr))), done.stderr
    assert not (project / "results").exists()
