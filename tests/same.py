"""Whether a change of the code leaves everything as it was: `make same`, which compares with another commit.

    make same ARGS="plan tiny --with main"

Compared are each shipped configuration as it is loaded, the jobs of each rule that it plans (wildcards, files,
parameters, threads, memory), and each file that the tests' tiny project and the default make. Both commits are computed
here, so that the processor is the same; the default takes as long as two runs of it.
"""

import argparse
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from snakemake.cli import main as snakemake

from irpretrain.config import load_config
from irpretrain.foundation.progress import print_line
from irpretrain.workflow.costs.plan import write_stand_ins
from overlay_commands import OVERLAYS, ROOT, layers, targets
from snakemake_logger_plugin_irpretrain import internals

# Files that tell of the run (how long it took, how far it was), and Lucene's, which have a random number in them.
NOT_COMPARED = re.compile(
    r"\.meta\.json$|\.log$|\.snakemake_timestamp$|\.html$|^results/(metrics|(weighted_)?indexes)/"
)

# What another plan, or another checkout, has otherwise: folders of stand-ins, and what tells when files were written.
OF_THIS_CALL = re.compile(rf'{re.escape(tempfile.gettempdir())}/[\w-]+|, \d{{19}}(?=")|"[0-9a-f]{{16}}"')

Digests = Iterator[tuple[str, str]]
"""Things and their digests."""


def digest(content: bytes | str) -> str:
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:16]


def as_text(values: Any) -> str:
    return json.dumps(values, sort_keys=True, default=str)


def configurations() -> Digests:
    for name, (overlays, _) in commands().items():
        loaded = load_config(ROOT / "config.yaml", *overlays).model_dump(mode="json")
        yield name, digest(as_text(loaded))


def commands() -> dict[str, tuple[list[Path], list[str]]]:
    """Overlays and targets of the command that each shipped configuration gives, by its name."""
    overlays = {f"configs/{path.name}": (layers(path), targets(path)) for path in OVERLAYS}
    return {"config.yaml": ([], []), **overlays}


def plans() -> Digests:
    # Each in a process of its own: Snakemake reads one workflow a process.
    with get_context("spawn").Pool(processes=2, maxtasksperchild=1) as pool:
        by_name = pool.starmap(planned_jobs, commands().values(), chunksize=1)
    for name, planned in zip(commands(), by_name, strict=True):
        for rule, jobs in planned.items():
            yield f"{name} {rule} {len(jobs)}", digest("\n".join(sorted(jobs)))


def planned_jobs(overlays: list[Path], made_files: list[str]) -> dict[str, list[str]]:
    """The jobs that a configuration plans, by rule, as if all its files were there."""
    made: list[Any] = []
    # In place of what estimates costs when a dry run has ended.
    internals.log_after_dry_run = lambda workflow, text: made.append(workflow)
    by_rule = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="same-") as folder, chdir(ROOT):
        write_stand_ins(load_config("config.yaml", *overlays), Path(folder))
        options = [
            "--workflow-profile",
            "none",
            "--dry-run",
            "--cores",
            "2",
            "--directory",
            folder,
            *made_files,
        ]
        files = ["--configfile", *map(str, overlays)] if overlays else []
        printed = io.StringIO()
        with redirect_stdout(printed), redirect_stderr(printed), suppress(SystemExit):
            sys.argv = ["snakemake", *options, *files, "--config", "skip_absent=true"]
            snakemake()
        if not made or not made[0].scheduler:
            raise RuntimeError(f"no plan of {overlays}:\n{printed.getvalue()[-4000:]}")
        os.chdir(folder)
        for job in made[0].dag.needrun_jobs(exclude_finished=False):
            described = {
                "wildcards": job.wildcards_dict,
                "input": list(map(str, job.input)),
                "output": list(map(str, job.output)),
                "params": dict(job.params.items()),
                "threads": job.threads,
                "memory": job.resources.get("mem_mb"),
            }
            by_rule[job.rule.name].append(OF_THIS_CALL.sub("", as_text(described).replace(str(ROOT), "ROOT")))
    return dict(sorted(by_rule.items()))


def tiny_run() -> Digests:
    from tiny import make_project  # in tests/workflow

    with tempfile.TemporaryDirectory(prefix="same-") as folder:
        overlay = make_project(Path(folder))
        yield from results_of(Path(folder), "--configfile", str(overlay))


def default_run() -> Digests:
    with tempfile.TemporaryDirectory(prefix="same-") as folder:
        yield from results_of(Path(folder))


def results_of(folder: Path, *arguments: str) -> Digests:
    """Run the workflow in a folder; return its files, without those that tell of the run itself."""
    options = ["--workflow-profile", "none", "--scheduler", "greedy", "--cores", "all", "--quiet", "all"]
    where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command = [sys.executable, "-m", "snakemake", *options, *where, *arguments]
    if subprocess.run(command, cwd=ROOT).returncode:
        sys.exit("the run failed: its message is above")
    for file in sorted((folder / "results").rglob("*")):
        name = str(file.relative_to(folder))
        if file.is_file() and not NOT_COMPARED.search(name):
            yield name, digest(file.read_bytes().replace(str(folder).encode(), b"FOLDER"))


PARTS: dict[str, Callable[[], Digests]] = {
    "configuration": configurations,
    "plan": plans,
    "tiny": tiny_run,
    "default": default_run,
}


def digests(part: str) -> dict[str, str]:
    """What a part has in this checkout: digests by name."""
    return dict(PARTS[part]())


def digests_of(commit: str, parts: Sequence[str]) -> dict[str, dict[str, str]]:
    """What parts have in another commit, by a worktree of it and this file."""
    git = ["git", "-C", str(ROOT)]
    with tempfile.TemporaryDirectory(prefix="same-") as folder:
        worktree, digest_file = Path(folder, "checkout"), Path(folder, "digests.json")
        if subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(worktree), commit]).returncode:
            sys.exit(f"--with names a commit or branch of this repository, not {commit!r}")
        try:
            script = shutil.copy(__file__, worktree / "tests")
            paths = os.pathsep.join(str(worktree / name) for name in ("src", "tests", "tests/workflow"))
            command = [sys.executable, script, *parts, "--write", str(digest_file)]
            if subprocess.run(command, cwd=worktree, env={**os.environ, "PYTHONPATH": paths}).returncode:
                sys.exit(f"{commit} could not be computed: its message is above")
            found: dict[str, dict[str, str]] = json.loads(digest_file.read_text(encoding="utf-8"))
            return found
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(worktree)], check=True)


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What is new, gone or differs, in the order of names."""
    return [
        f"{'new' if name not in before else 'gone' if name not in now else 'differs'}: {name}"
        for name in sorted(before.keys() | now.keys())
        if before.get(name) != now.get(name)
    ]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="make same ARGS=")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all if none is named")
    parser.add_argument("--with", dest="commit", default="HEAD", help="a commit or branch (default: HEAD)")
    parser.add_argument("--write", type=Path, help="write the digests of this checkout to a file instead")
    options = parser.parse_args(arguments)
    parts = options.parts or [*PARTS]
    if options.write:
        options.write.write_text(json.dumps({part: digests(part) for part in parts}), encoding="utf-8")
        return 0
    before, difference_count = digests_of(options.commit, parts), 0
    for part in parts:
        print_line(f"{part} ...")
        now = digests(part)
        for line in (found := differences(before[part], now)):
            print_line(f"{part}: {line}")
        print_line(f"{part}: {len(now)} compared")
        difference_count += len(found)
    print_line(f"{difference_count} differences" if difference_count else "all the same")
    return bool(difference_count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
