"""A trained model as others take it, from what lies beside its directory."""

from pathlib import Path
from typing import Any

from irpretrain.errors import InputError
from irpretrain.provenance import read_sidecar
from irpretrain.report.cards import Source
from irpretrain.report.model_card import CardFacts, export_model

LICENCE = "not known here"
WHAT = {
    "pretrain": "A cross-encoder for re-ranking.",
    "train_term_weights": "Weights of words, from a token regression.",
}
"""Stage that trained a model → what it is."""


def export(model: str | Path, output: str | Path, label: str = "") -> dict[str, Any]:
    """Write a copy of a model's directory with a card, from the record of its training (`<model>.meta.json`).

    The card knows neither corpora nor scores: rule `exported_models` of the workflow writes these too.

    Args:
        model: directory that `pretrain` wrote, or the workflow: a pre-trained model, or DeepCT's regressor.
        output: directory to write.
        label: name of the model; by default that of its directory.

    Returns:
        Counts: files copied, scores shown.

    Raises:
        InputError: there is no such model, or no record of its training.
    """
    record = read_sidecar(model)
    stage, given = record.get("stage"), record.get("parameters", {})
    if stage not in WHAT or not Path(model).is_dir():
        raise InputError(
            model,
            "is no model with a record of its training beside it (.meta.json)",
            remedy="Name the directory of a pre-trained model or of a regressor.",
        )
    options, name = given["options"], Path(model).name
    pretrained = stage == "pretrain"
    facts = CardFacts(
        key=name,
        label=label or name,
        seed=given["seed"] if pretrained else options["seed"],
        kind="ranker" if pretrained else "weigher",
        what=WHAT[stage],
        scored={},
        regime="",
        encoder=Source(given["encoder"]["label"], LICENCE),
        corpora=[],
        papers=[],
        tasks=given["tasks"] if pretrained else [],
        training=options if pretrained else {"max_length": options["max_length"], **options["training"]},
    )
    probe = Path(f"{model}.probe.csv")
    return export_model(model, model, [], facts, output, [probe] if probe.is_file() else [])
