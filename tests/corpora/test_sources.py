"""Sources in use are looked at before anything runs; all that is missing comes in one message."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from base_config import base_config, configuration
from irpretrain.config import Config, load_config
from irpretrain.corpora.catalogue.absence import missing_by_entry
from irpretrain.corpora.embedded import read_manifest
from irpretrain.corpora.sources import check_sources, used_assets, used_files, with_caveats
from irpretrain.foundation.errors import ConfigError

ROOT = Path(__file__).parents[2]
MANIFEST = read_manifest(ROOT / "resources/embedded.yaml")


def own(corpus: str, queries: str, folds: int | str) -> Config:
    data = configuration().datasets["squad"].model_dump()
    data |= {"corpus": "own", "folds": folds, "queries": {"format": "tsv", "path": queries}}
    return configuration(
        corpora={
            "own": {"format": "jsonl", "path": corpus},
            "unused": {"format": "jsonl", "path": "nowhere"},
        },
        datasets={"squad": data},
    )


def test_the_embedded_default_is_all_there():
    check_sources(load_config(ROOT / "tests/base.yaml"), MANIFEST)


def test_all_that_is_missing_comes_at_once_and_what_nothing_needs_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        check_sources(own("documents", "queries.tsv", "folds.json"), MANIFEST)
    text = str(caught.value)
    assert f"paths are relative to {tmp_path}" in text
    assert "  - corpora.own.path: documents: there is no such file or folder" in text
    assert "  - datasets.squad.queries.path: queries.tsv: there is no such file" in text
    assert "  - datasets.squad.folds: folds.json: there is no such file" in text
    assert "nowhere" not in text
    assert text.count("  - ") == 3


def test_names_that_are_too_long_are_refused_with_their_keys():
    name = "x" * 300
    config = configuration(
        corpora={"own": {"format": "jsonl", "path": name}},
        datasets={
            "squad": {"corpus": "own", "queries": {"path": name}, "qrels": {"path": name}, "folds": name}
        },
        encoder={"path": name},
    )
    assert missing_by_entry(config) == {}
    with pytest.raises(ConfigError) as caught:
        check_sources(config, MANIFEST)
    text = str(caught.value)
    keys = ["corpora.own.path", *(f"datasets.squad.{key}" for key in ("queries.path", "qrels.path", "folds"))]
    assert all(f"  - {key}: {name}: File name too long" in text for key in keys)
    assert f"  - encoder.path: {name}: there is no such folder" in text


def test_sources_that_are_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in (
        ("documents.jsonl", ""),
        ("queries.tsv", ""),
        ("folds.json", '{"q1": 1, "q2": 2, "q3": 3}'),
    ):
        Path(name).write_text(content)
    check_sources(own("documents.jsonl", "queries.tsv", "folds.json"), MANIFEST)
    Path("folds.json").write_text('{"q1": 0}')
    with pytest.raises(ConfigError, match=r"folds\.json: the fold of query 'q1' is 0"):
        check_sources(own("documents.jsonl", "queries.tsv", "folds.json"), MANIFEST)
    for fold in range(1, 4):  # folds may be a folder of LETOR
        Path(f"letor/Fold{fold}").mkdir(parents=True)
        for query, part in enumerate(("train", "vali", "test"), fold):
            Path(f"letor/Fold{fold}/{part}.txt").write_text(f"0 qid:{query % 3 + 1} 1:1 #docid = d\n")
    check_sources(own("documents.jsonl", "queries.tsv", "letor"), MANIFEST)


def test_names_that_snakemake_would_fill_in(tmp_path, monkeypatch):
    """`{corpus}` in a path would be read as the name of the job's corpus: as another file."""
    monkeypatch.chdir(tmp_path)
    Path("documents").mkdir()
    for name in ("documents/part-{corpus}.jsonl", "queries {x}.tsv", "{a}folds.tsv"):
        Path(name).write_text("q 1")
    with pytest.raises(ConfigError) as caught:
        check_sources(own("documents", "queries {x}.tsv", "{a}folds.tsv"), MANIFEST)
    text = str(caught.value)
    fault = "its name contains { and }, which Snakemake reads as a wildcard"
    assert f"  - corpora.own.path: documents/part-{{corpus}}.jsonl: {fault}" in text
    assert f"  - datasets.squad.queries.path: queries {{x}}.tsv: {fault}" in text
    assert f"  - datasets.squad.folds: {{a}}folds.tsv: {fault}" in text
    assert text.count("  - ") == 3


@contextmanager
def no_superuser() -> Iterator[None]:
    """Root may read anything, so tests of permissions are run as somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_what_may_not_be_read(tiny_encoder):
    """Found while planning, although nothing is opened then."""
    with TemporaryDirectory() as location:
        folder = Path(location)
        folder.chmod(0o755)
        for name in ("documents.jsonl", "queries.tsv", "folds.tsv"):
            (folder / name).write_text("q1 1\nq2 2\nq3 3\n")
        encoder = Path(shutil.copytree(tiny_encoder, folder / "encoder"))
        encoder.chmod(0o755)
        for path in (*folder.glob("*.*"), encoder / "model.safetensors"):
            path.chmod(0)
        config = own(*(str(folder / name) for name in ("documents.jsonl", "queries.tsv", "folds.tsv")))
        encoder_config = config.encoder.model_copy(update={"path": str(encoder)})
        with no_superuser(), pytest.raises(ConfigError) as caught:
            check_sources(config.model_copy(update={"encoder": encoder_config}), MANIFEST)
    text = str(caught.value)
    for fault in (
        f"corpora.own.path: {folder}/documents.jsonl",
        f"datasets.squad.queries.path: {folder}/queries.tsv",
        f"datasets.squad.folds: {folder}/folds.tsv",
        f"encoder.path: {encoder}/model.safetensors",
    ):
        assert f"  - {fault}: you have no permission to read it" in text


def test_only_assets_in_use_count(tmp_path):
    default = configuration()
    assert used_assets(default) == ["enwiki-excerpt", "squad-train", "squad-dev", "minilm"]
    alone = {"zero-shot": {"dataset": "squad", "models": ["control"], "regimes": ["zero-shot"]}}
    alone |= dict.fromkeys(["fine-tuned", "few-shot", "zero-shot-wikiformer", "zero-shot-php"])
    alone |= dict.fromkeys(["zero-shot-ares"])
    prop = {"papers": ["prop"]}
    assert used_assets(configuration(experiments=alone, report=prop)) == ["squad-dev", "minilm"]
    first_stages = {**dict.fromkeys(alone), "first-stages": {"dataset": "squad"}}
    without = configuration(experiments=first_stages, report=prop)
    assert used_assets(without) == ["squad-dev"]
    another = configuration(encoder={"path": str(tmp_path)}, report={"notes": ["own"]})
    assert with_caveats(another, MANIFEST).report.notes == ["own"]
    noted = with_caveats(configuration(report={"notes": ["own"]}), MANIFEST).report.notes
    assert noted[0].startswith("The encoder (MiniLM) was distilled")
    assert noted[1:] == ["own"]
    assert with_caveats(with_caveats(default, MANIFEST), MANIFEST) == with_caveats(default, MANIFEST)


def test_what_indexes_and_weightings_are_made_of_is_looked_for(tmp_path, monkeypatch, tiny_encoder):
    monkeypatch.chdir(tmp_path)
    weighting = {"label": "x", "dataset": "squad-train", "encoder": {"path": "elsewhere", "label": "x"}}
    config = configuration(
        indexes={
            "given": {"type": "expansion", "path": "queries.tsv"},
            "unused": {"type": "expansion", "path": "nowhere"},
        },
        term_weights={
            "own": weighting,
            "fits": {**weighting, "encoder": {"path": str(tiny_encoder), "label": "x"}},
        },
        first_stages={name: {"label": name, "index": name} for name in ("given", "own", "fits")},
        experiments={"stages": {"dataset": "squad", "models": [], "first_stages": ["given", "own", "fits"]}},
    )
    with pytest.raises(ConfigError) as caught:
        check_sources(config, MANIFEST)
    text = str(caught.value)
    kinds = {used.key: used.kind for used in used_files(config)}
    assert (kinds["indexes.given.path"], kinds["encoder.path"]) == ("records", "encoder")
    assert "  - indexes.given.path: queries.tsv: there is no such file" in text
    assert "  - term_weights.own.encoder.path: elsewhere: there is no such folder" in text
    assert "  - term_weights.fits.max_length: 128 is longer than the 64 positions" in text
    assert "nowhere" not in text
    assert text.count("  - ") == 3


def test_a_file_of_word_vectors_is_looked_for_where_a_ranker_begins_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sections = {
        "collections": {"searched": ["squad-train", "squad-dev"]},
        "models": {"knrm": {"label": "KNRM", "neural": {"type": "knrm", "collection": "searched"}}},
        "word_vectors": {"files": {"searched": "vectors.txt"}},
    }
    check_sources(configuration(**sections), MANIFEST)
    tested = {"rankers": {"dataset": "squad", "models": ["knrm"], "regimes": ["full"]}}
    with pytest.raises(ConfigError, match=r"word_vectors\.files\.searched: vectors\.txt: there is no such"):
        check_sources(configuration(**sections, experiments=tested), MANIFEST)
    Path("vectors.txt").touch()
    check_sources(configuration(**sections, experiments=tested), MANIFEST)


def test_an_encoder_of_ir_datasets_is_refused():
    encoder = base_config()["encoder"] | {"path": "ir_datasets:vaswani"}
    with pytest.raises(ConfigError, match=r"encoder\.path: ir_datasets:vaswani: .* is an encoder's path"):
        check_sources(configuration(encoder=encoder), MANIFEST)
