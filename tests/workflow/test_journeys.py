"""The five pages of docs/journeys are walked by their own commands and overlays, on small inputs."""

import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from slurm_cluster import HAS_PLUGIN, ON_SLURM
from tiny import (
    DOCUMENTS,
    IS_INSTALLED,
    QUERIES,
    ROOT,
    code_blocks,
    copy_project,
    document,
    make_encoder,
    query,
    run_command,
    run_project,
    words,
)
from tiny_wiki import dump

pytestmark = pytest.mark.workflow

PAGES = sorted((ROOT / "docs/journeys").glob("*.md"))
SMALL: dict[str, Any] = {
    "objectives": {"rop": {"minimum_count": 2, "subsampling_threshold": 0.01}},
    "pretraining": {"steps": 4, "mlm_head_steps": 2, "batch_groups": 4, "max_length": 48, "log_every": 2},
    "retrieval": {"depth": 20},
    "reranking": {"max_length": 48, "query_length": 8},
    "finetuning": {"epochs": 1, "max_length": 48, "query_length": 8},
}
"""What makes a run take seconds instead of minutes."""
ROBUST04_TOPICS = (302, 303, 301, 308, 306, 307, 320, 325, 304, 305)
"""Two topics of each of the catalogue's folds."""


def small_overlay(folder: Path, **more: Any) -> Path:
    """Write an overlay with the tiny encoder and few steps."""
    folder.mkdir(parents=True, exist_ok=True)
    make_encoder(folder / "encoder")
    encoder = {"path": str(folder / "encoder"), "label": "tiny", "layers": 2, "vocabulary_size": None}
    overlay = folder / "small.yaml"
    overlay.write_text(yaml.safe_dump({**SMALL, "encoder": encoder, **more}))
    return overlay


def walk(
    command: str, folder: Path, *small: Path, project: Path = ROOT, expect: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a command of a page, in a folder in place of its own, with more overlays over its own."""
    form = r'make run (?:PROFILE=\S+ )?ARGS="(.*?)--configfile (\S+)(?: --directory \S+)?"\n'
    found = re.fullmatch(form, command)
    assert found, command
    overlays = [ROOT / found[2], *small]
    return run_project(project, folder, *found[1].split(), overlays=overlays, expect=expect)


def copy_of_all(folder: Path) -> Path:
    """Copy the project with its Makefile, its overlays and its profiles."""
    project = copy_project(folder)
    for name in ("configs", "profiles"):
        shutil.copytree(ROOT / name, project / name)
    shutil.copy2(ROOT / "Makefile", project)
    return project


def make_run(page: str) -> str:
    """The last command of a page that runs the workflow."""
    return [block for block in code_blocks(f"journeys/{page}", "sh") if block.startswith("make run")][-1]


def command_of(page: str, small: Path) -> list[str]:
    """Return the make command of a page, with one more overlay over its own."""
    command = make_run(page).replace(f"configs/{page}.yaml", f"configs/{page}.yaml {small}")
    return ["make", *IS_INSTALLED, *HAS_PLUGIN, *shlex.split(command)[1:]]


def write_own_files(folder: Path, documents: str, queries: str) -> None:
    """Put documents, topics and judgements where a journey's page says."""
    (folder / documents).mkdir(parents=True)
    rows = [json.dumps(document(number)) for number in range(DOCUMENTS)]
    (folder / documents / "part.jsonl").write_text("\n".join(rows) + "\n")
    numbers = {number: number for number in range(QUERIES)}
    (folder / queries).write_text(topics(numbers))
    (folder / "qrels.txt").write_text(judgements(numbers))


def describe_tiny_copy(project: Path, data_set: str, smaller: dict[str, str]) -> None:
    """Let a copied project's catalogue describe a tiny copy of a data set: no checksums, no numbers, fewer parts."""
    entry = project / f"resources/datasets/{data_set}.yaml"
    text = re.sub(r"^ +(md5|bytes|files|expected): \w+\n", "", entry.read_text(), flags=re.MULTILINE)
    text = re.sub(r", (expected|about): \d+", "", text)
    for before, after in smaller.items():
        assert before in text, f"{entry} has no '{before}'"
        text = text.replace(before, after)
    entry.write_text(text)


def topics(numbers: dict[int, int]) -> str:
    """TREC topics: number of a topic → number of a query."""
    return "".join(
        f"<top>\n<num> Number: {topic}\n<title> {query(number)}\n<desc> Description:\nWhat of it?\n"
        "<narr> Narrative:\nAll of it.\n</top>\n"
        for topic, number in numbers.items()
    )


def judgements(numbers: dict[int, int]) -> str:
    return "".join(
        f"{topic} 0 d{number:02d} 1\n"
        for topic, requested in numbers.items()
        for number in range(DOCUMENTS)
        if requested % 12 == number % 12
    )


def test_every_overlay_of_a_page_is_the_one_in_configs_and_has_ten_lines_at_most():
    assert len(PAGES) == 5
    for page in PAGES:
        overlay = (ROOT / f"configs/{page.stem}.yaml").read_text()
        assert code_blocks(f"journeys/{page.stem}", "yaml") == [overlay.split("\n", 2)[2]]
        assert f"docs/journeys/{page.name}" in overlay
        assert len(overlay.splitlines()) <= 10
        assert "null" not in overlay
        assert len(page.read_text().splitlines()) <= 40, "a page is one screen"


def test_the_smallest_configuration_has_two_keys():
    minimal = yaml.safe_load((ROOT / "configs/minimal.yaml").read_text())
    assert minimal == {"inherit": "definitions", "experiments": {"smallest": {"dataset": "squad"}}}


def lay_out_my_collection(folder: Path) -> Path:
    """Put the files of a journey where its page says, and an overlay beside them that makes it small."""
    write_own_files(folder, "documents", "topics.txt")
    return small_overlay(folder, collections={"pretraining": ["mine"]})


@pytest.mark.deep
def test_my_collection(tmp_path):
    done = walk(make_run("my-collection"), tmp_path, lay_out_my_collection(tmp_path))
    assert "squad" not in done.stdout.lower()
    for row in ("BM25", "QL", "control", "PROP"):
        assert re.search(rf"^{row} ", done.stdout + done.stderr, re.MULTILINE), done.stdout
    assert (tmp_path / "results/report.html").exists()


def write_robust04(data: Path) -> None:
    """A tiny copy of the disks, topics and judgements, where the catalogue expects them."""
    positions = ("FBIS/FB396001", "FR94/01/FR940104.0", "FT/FT911/FT911_1", "LATIMES/LA010189")
    for part, position in enumerate(positions):
        file = data / "disks45" / position
        file.parent.mkdir(parents=True)
        rows = [document(number) for number in range(part, DOCUMENTS, len(positions))]
        file.write_text(
            "".join(
                f"<DOC>\n<DOCNO> {row['id']} </DOCNO>\n<HEADLINE>{row['title']}</HEADLINE>\n"
                f"<TEXT>\n{row['text']}\n</TEXT>\n</DOC>\n"
                for row in rows
            )
        )
    numbers = {topic: number for number, topic in enumerate(ROBUST04_TOPICS)}
    (data / "04.testset.gz").write_bytes(gzip.compress(topics(numbers).encode(), mtime=0))
    (data / "qrels.robust2004.txt").write_text(judgements(numbers))


def lay_out_robust04(project: Path, folder: Path) -> Path:
    describe_tiny_copy(project, "robust04", {"shards: 8": "shards: 2"})
    write_robust04(project / "data/robust04")
    return small_overlay(folder, collections={"pretraining": ["robust04"]})


@pytest.mark.deep
def test_robust04(tmp_path):
    project, folder = copy_project(tmp_path / "project"), tmp_path / "robust04"
    small = lay_out_robust04(project, folder)
    (project / "data").rename(tmp_path / "data")
    states, run = code_blocks("journeys/robust04", "sh")
    refused = walk(run, folder, small, project=project, expect=1)
    assert "    data/robust04/disks45\n" in refused.stdout + refused.stderr
    (tmp_path / "data").rename(project / "data")
    displayed = walk(states, folder, project=project)
    assert re.search(r"robust04 +present +Robust04", displayed.stdout + displayed.stderr)
    done = walk(run, folder, small, project=project)
    for row in ("BM25", "QL", "control", "PROP"):
        assert re.search(rf"^{row} ", done.stdout + done.stderr, re.MULTILINE), done.stdout


def test_msmarco_is_planned_and_refused_without_its_files(tmp_path):
    plan, run = code_blocks("journeys/msmarco", "sh")
    arguments = shlex.split(plan)[2].removeprefix("ARGS=").split()
    planned = run_command([sys.executable, "-m", "irpretrain.workflow.costs.plan", *arguments])
    displayed = planned.stdout + planned.stderr
    assert "Estimated cost" in displayed
    assert not re.search(r"squad|robust04|wikipedia", displayed)
    assert "Job stats:" not in displayed
    assert "planned as if they were; a run is refused without them:" in displayed
    refused = walk(run, tmp_path, expect=1)
    assert "    data/msmarco/msmarco-docs.tsv.gz\n" in refused.stdout + refused.stderr
    assert not (tmp_path / "results").exists()


def write_msmarco(data: Path) -> None:
    """What journey (c) needs of MS MARCO's files; half of the topics are trained on, the others are tested."""
    data.mkdir(parents=True)

    def write(name: str, lines: list[str]) -> None:
        (data / name).write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))

    rows = [
        f"D{number}\thttps://example.org/{number}\t{text['title']}\t{text['text']}"
        for number, text in enumerate(map(document, range(DOCUMENTS)))
    ]
    write("msmarco-docs.tsv.gz", rows)
    for part, requested in (("train", range(0, QUERIES, 2)), ("dev", range(1, QUERIES, 2))):
        write(f"msmarco-doc{part}-queries.tsv.gz", [f"{number}\t{query(number)}" for number in requested])
        right = [(q, d) for q in requested for d in range(DOCUMENTS) if q % 12 == d % 12]
        write(f"msmarco-doc{part}-qrels.tsv.gz", [f"{q} 0 D{d} 1" for q, d in right])
        ranked = [
            f"{q} Q0 D{(q + 5 * rank) % DOCUMENTS} {rank} {-rank} official"
            for q in requested
            for rank in range(1, 21)
        ]
        write(f"msmarco-doc{part}-top100.gz", ranked)


def lay_out_msmarco(project: Path, folder: Path) -> Path:
    describe_tiny_copy(project, "msmarco-documents", {"shards: 16": "shards: 2", "folds: 70": "folds: 4"})
    write_msmarco(project / "data/msmarco")
    computed = {"compute": {"device": "cpu", "threads": 1}}  # the cluster's GPU is only a name
    sections = {name: {**SMALL[name], **computed} for name in ("pretraining", "reranking", "finetuning")}
    sections["pretraining"]["query_length"] = 8
    sections["retrieval"] = {**SMALL["retrieval"], "threads": 1}
    return small_overlay(folder, **sections)


class TestMsMarcoOnSlurm:
    pytestmark = ON_SLURM

    def test_it_is_walked(self, tmp_path, cluster):
        project = copy_of_all(tmp_path / "project")
        folder = project / "runs/msmarco"
        command = command_of("msmarco", lay_out_msmarco(project, folder))
        done = run_command(command, more=cluster.environment, project=project)
        for row in ("Official", "control", "PROP_MSMARCO"):
            assert re.search(rf"^{row}", done.stdout + done.stderr, re.MULTILINE), done.stdout
        books = cluster.run(
            "sacct", "-X", "-n", "-P", "--format=Comment,Partition,State,ReqTRES"
        ).splitlines()
        # Slurm's own logs of jobs that ended well are deleted: what is left says why another did not.
        logs = [path.read_text() for path in sorted(folder.glob(".snakemake/slurm_logs/**/*.log"))]
        failed = [line for line in books if line.split("|")[2] != "COMPLETED"]
        assert not failed, "\n".join([*failed, *logs, done.stderr[-6000:]])
        trained = [line for line in books if re.match("rule_(pretrain|finetune)_", line)]
        assert len(trained) == 4, books  # two models, each from its encoder and fine-tuned
        assert all("|gpu|" in line and "gres/gpu=1" in line for line in trained), books


def lay_out_my_wikipedia(folder: Path) -> Path:
    (folder / "dump").mkdir(parents=True)
    (folder / "dump/wiki.xml").write_text(dump([words(topic) for topic in range(12)]))
    return small_overlay(folder)


@pytest.mark.deep
def test_my_wikipedia(tmp_path):
    [run] = code_blocks("journeys/my-wikipedia", "sh")
    done = walk(run, tmp_path, lay_out_my_wikipedia(tmp_path))
    assert len(re.findall(r"^\[ *\d+/\d+\] ", done.stderr, re.MULTILINE)) <= 12
    exported = tmp_path / "results/exported/prop/seed-1"
    assert "# PROP" in (exported / "README.md").read_text()
    assert not (tmp_path / "results/datasets").exists(), "nothing is searched or judged"
    from transformers import AutoModelForSequenceClassification

    assert AutoModelForSequenceClassification.from_pretrained(exported).config.num_labels == 1


def lay_out_my_deepct_index(folder: Path) -> Path:
    write_own_files(folder, "passages", "asked.txt")
    weighting = {
        "dataset": "asked",
        "max_length": 32,
        "window_overlap": 8,
        "training": {"steps": 4, "batch_size": 4, "log_every": 2},
    }
    asked = {"corpus": "mine", "queries": {"path": "asked.txt"}, "qrels": {"path": "qrels.txt"}}
    return small_overlay(folder, datasets={"asked": asked}, term_weights={"deepct": weighting})


@pytest.mark.deep
def test_my_deepct_index(tmp_path):
    run, search = code_blocks("journeys/my-deepct-index", "sh")
    walk(run, tmp_path, lay_out_my_deepct_index(tmp_path))
    (tmp_path / "topics.txt").write_text(topics({0: 0}))
    command = search.replace("runs/my-index", str(tmp_path)).replace(".venv/bin/irpretrain", "-m irpretrain")
    for name in ("topics.txt", "run.gz"):
        command = command.replace(f" {name}", f" {tmp_path / name}")
    run_command([sys.executable, *shlex.split(command)])
    found = gzip.decompress((tmp_path / "run.gz").read_bytes()).decode().split()
    assert found[0] == "0"
    assert found[2] in {"d00", "d12", "d24", "d36", "d48", "d60"}
