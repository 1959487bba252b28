"""The workflow plans every overlay by its own command; empty files stand where the user's data would lie."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from overlay_layers import OVERLAYS, ROOT, layers, load

from irpretrain.config import Config
from irpretrain.config.consistency import used_corpora, used_datasets, used_models
from irpretrain.corpora.embedded import PREFIX, installed_path, read_manifest

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]


def lay_out(config: Config, folder: Path) -> None:
    """Put an empty file wherever the configuration names one, and a real encoder where it names that."""
    names = [config.corpora[name].path for name in used_corpora(config)]
    for name in used_datasets(config):
        dataset = config.datasets[name]
        names += [dataset.queries.path, dataset.qrels.path]
        if isinstance(dataset.folds, str):
            (folder / dataset.folds).parent.mkdir(parents=True, exist_ok=True)
            (folder / dataset.folds).write_text('[["1"], ["2"], ["3"]]')
    for path in (folder / name for name in names if not name.startswith(PREFIX)):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.touch()
        else:
            path.mkdir(exist_ok=True)
            (path / "part.jsonl").touch()
    if not config.encoder.path.startswith(PREFIX):
        encoder = read_manifest(ROOT / "resources/embedded.yaml").asset("minilm")
        (folder / config.encoder.path).symlink_to(installed_path(encoder))


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.stem)
def test_it_gives_a_plan(overlay, tmp_path):
    config = load(overlay)
    lay_out(config, tmp_path)
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", tmp_path]
    command += ["--dry-run", "--quiet", "all", "--cores", "2", "--configfile", *layers(overlay)]
    command += ["--summary"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=580, env=os.environ)
    assert done.returncode == 0, done.stderr[-4000:]
    # A line of the summary begins with the file that a job makes.
    planned = {line.split("\t")[0] for line in done.stdout.splitlines()}
    for model in used_models(config):
        assert any(path.startswith(f"results/models/pretrained/{model}/") for path in planned), model
    assert "results/report.html" in planned
