"""Plan a configuration without its data: `python -m irpretrain.costs.plan --configfile configs/paper.yaml`.

An ordinary dry run refuses a configuration whose files are not there, as a run would. This one lays empty files where
they are wanted, in a folder of its own, and plans there: every job, and what it would cost. All arguments go to
Snakemake.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from irpretrain.config import Config, load_config
from irpretrain.config.usage import given_models, used_corpora, used_datasets, used_runs
from irpretrain.corpora.embedded import PREFIX, installed_path, read_manifest
from irpretrain.corpora.sources import corpus_aids
from irpretrain.errors import IRPretrainError
from irpretrain.resources import resources_directory

ROOT = resources_directory().parent
FOLDS = '[["1"], ["2"], ["3"], ["4"], ["5"]]'
"""In place of a file of folds: what is planned depends on their number alone."""


def lay_out(config: Config, folder: Path) -> None:
    """Put an empty file in `folder` wherever the configuration names one, five folds where it names folds, and the
    embedded encoder where it names an encoder or a re-ranker; absolute paths are left alone."""
    for name in _files(config):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.touch()
        else:
            path.mkdir(exist_ok=True)
            (path / "part.jsonl").touch()
    for dataset in (config.datasets[name] for name in used_datasets(config)):
        if isinstance(dataset.folds, str) and not Path(dataset.folds).is_absolute():
            (folder / dataset.folds).parent.mkdir(parents=True, exist_ok=True)
            (folder / dataset.folds).write_text(FOLDS)
    encoder = installed_path(read_manifest(resources_directory() / "embedded.yaml").asset("minilm"))
    given = [config.models[name].cross_encoder or "" for name in given_models(config)]
    for model in dict.fromkeys([config.encoder.path, *given]):
        if _is_ours(model) and encoder is not None:
            (folder / model).parent.mkdir(parents=True, exist_ok=True)
            (folder / model).symlink_to(encoder)


def _is_ours(path: str) -> bool:
    return not path.startswith(PREFIX) and not Path(path).is_absolute()


def _files(config: Config) -> Iterator[str]:
    """Yield the files of documents, queries, judgements, runs and word vectors in use that are relative paths."""
    found = [config.corpora[name].path for name in used_corpora(config)]
    found += [path for name in used_corpora(config) for path in corpus_aids(config, name)]
    for name in used_datasets(config):
        dataset = config.datasets[name]
        found += [*dataset.queries.paths, *dataset.qrels.paths]
    for stage, name in used_runs(config):
        found += config.first_stages[stage].runs[name].paths
    found += [config.word_vectors.path] if config.word_vectors.path else []
    yield from filter(_is_ours, found)


def main(arguments: Sequence[str]) -> int:
    """Plan, and return Snakemake's exit code; 1 where the configuration is refused."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    overlays = parser.parse_known_args(arguments)[0].configfile
    with tempfile.TemporaryDirectory(prefix="irpretrain-plan-") as folder:
        try:
            lay_out(load_config(ROOT / "config.yaml", *overlays), Path(folder))
        except IRPretrainError as error:
            print(error, file=sys.stderr)
            return 1
        print("Planned as if all data were there and nothing were done yet.", file=sys.stderr)
        command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "rules", "reason", "host"]
        where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", folder]
        return subprocess.run([*command, *where, *arguments]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
