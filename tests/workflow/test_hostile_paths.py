"""Folders and files whose names a shell, SQL, a glob or Snakemake's wildcards would read as something else."""

import shutil
from pathlib import Path

import pytest
from tiny import make_project, overlay_config, run_command, snakemake_command

from irpretrain.foundation.contracts import DOCUMENTS

pytestmark = pytest.mark.workflow
HOSTILE = 'it\'s a "dir"; touch pwned & $(touch pwned) `touch pwned` | %s [a-z]* {x ü\nsecond line'
TARGETS = [
    "results/datasets/tiny/qrels.txt",  # readers, and the check of the collection
    "results/tokens/tiny/0",
    "results/graphs/articles",  # DuckDB
    "results/runs/tiny/bm25/first-stage.run.gz",  # Java
]


def test_hostile_names_of_folders_and_files(tmp_path: Path) -> None:
    import yaml

    folder = tmp_path / f"{HOSTILE} {{corpus}} {{{{x}}}}"
    folder.mkdir()
    make_project(folder)
    overlay = overlay_config()
    moved = {
        "documents": overlay["corpora"]["tiny"],
        "wiki.xml": overlay["corpora"]["wiki"],
        "queries.tsv": overlay["datasets"]["tiny"]["queries"],
        "qrels.txt": overlay["datasets"]["tiny"]["qrels"],
        "encoder": overlay["encoder"],
    }
    for name, section in moved.items():
        section["path"] = f"data/{HOSTILE} {name}"
        shutil.move(folder / "data" / name, folder / section["path"])
    (folder / "tiny.yaml").write_text(yaml.safe_dump(overlay))
    before = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if "results" not in path.parts}
    run_command(snakemake_command(folder, *TARGETS))
    assert DOCUMENTS.count(folder / "results/corpora/tiny/documents-0.parquet") == 72
    assert (folder / "results/graphs/articles/nodes.parquet").is_file()
    after = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if "results" not in path.parts}
    assert {path for path in after - before if ".snakemake" not in path.parts} == set()
    assert not [path for path in tmp_path.rglob("*pwned") if path.name == "pwned"]
