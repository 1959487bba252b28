"""A trained model as others take it, from what lies beside its directory."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from irpretrain.atomic import check_output_folder
from irpretrain.corpora.embedded import read_manifest, resolve
from irpretrain.disk_space import reporting_disk_errors
from irpretrain.errors import InputError, refusing_damage
from irpretrain.models.encoder_files import check_folder, hub_name
from irpretrain.provenance import read_sidecar, sidecar_path
from irpretrain.report.model_card import CARD, MADE, CardFacts, Source, export_model
from irpretrain.resources import resources_directory

REMEDY = "Name the directory of a pre-trained model or of a regressor."
LICENCE = "not known here"
# Stage that trained a model → what it is.
WHAT = {
    "pretrain": "A cross-encoder for re-ranking.",
    "train_term_weights": "Weights of words, from a token regression.",
}


def export(model: str | Path, output: str | Path, label: str = "") -> dict[str, Any]:
    """Write a copy of a model's directory with a card, from the record of its training (`<model>.meta.json`).

    The card knows neither corpora, scores nor trainings before the last: rule `exported_models` of the workflow writes
    these too.

    Args:
        model: directory that `pretrain` wrote, or the workflow: a pre-trained model, or DeepCT's regressor.
        output: directory to write: new, empty, or an earlier export, which its card tells.
        label: name of the model; by default that of its directory.

    Returns:
        Counts: files copied, scores shown.

    Raises:
        InputError: there is no such model, or no record of its training; or the output holds something else.
        ConfigError: the output is the model, or lies in it.

    Examples:
        >>> from irpretrain import Collection, pretrain
        >>> texts = ["apple pie with apple juice", "pear pie", "an apple and a pear"]
        >>> groups = Collection(texts, encoder=encoder_directory).groups("rop", minimum_count=1)
        >>> _ = pretrain(groups, output_directory, steps=2, batch_groups=4, max_length=32, query_length=8)
        >>> _ = export(output_directory, export_directory, label="Fruit PROP")
        >>> "# Fruit PROP" in (Path(export_directory) / "README.md").read_text()
        True
    """
    check_folder(model, REMEDY)
    model = Path(model)  # without a slash at its end: its records lie beside it
    record = read_sidecar(model)
    stage, given = record.get("stage"), record.get("parameters", {})
    if stage not in WHAT:
        raise InputError(
            model,
            "is no model with a record of its training beside it (.meta.json)",
            remedy=REMEDY,
        )
    check_output_folder(output, [model], _is_export, "an earlier export")
    with refusing_damage(sidecar_path(model), "this is no record of a training", REMEDY):
        options, name = given["options"], model.resolve().name
        pretrained = stage == "pretrain"
        facts = CardFacts(
            key=name,
            label=label or name,
            seed=given["seed"] if pretrained else options["seed"],
            kind="ranker" if pretrained else "weigher",
            what=WHAT[stage],
            scored={},
            regime="",
            encoder=_encoder_source(given["encoder"]),
            corpora=[],
            papers=[],
            tasks=given["tasks"] if pretrained else [],
            training=options if pretrained else {"max_length": options["max_length"], **options["training"]},
        )
    probe = Path(f"{model}.probe.csv")
    with reporting_disk_errors([output]):
        return export_model(model, model, [], facts, output, [probe] if probe.is_file() else [])


def _encoder_source(encoder: Mapping[str, Any]) -> Source:
    kind, location = resolve(encoder["path"])
    if kind != "embedded":
        return Source(encoder["label"], LICENCE, hub_name(encoder["path"]))
    asset = read_manifest(resources_directory() / "embedded.yaml").asset(str(location))
    return Source(encoder["label"], asset.licence, asset.hub or "")


def _is_export(folder: Path) -> bool:
    """Whether a folder holds a model with a card of ours."""
    card = folder / CARD
    texts = [card.read_text(encoding="utf-8", errors="replace")] if card.is_file() else []
    return (folder / "config.json").is_file() and any(MADE in text for text in texts)
