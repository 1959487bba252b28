"""Where a configuration leaves a paper's recipe of fine-tuning, whatever `finetuning.recipe` is called."""

from collections.abc import Iterator
from typing import Any

from irpretrain.config import Config
from irpretrain.config.finetuning import FinetuningConfig
from irpretrain.papers.files import read_recipe
from irpretrain.report.scores import FIRST_STAGE

WITHOUT_EFFECT = {"recipe", "keep_models", "compute"}
"""Keys of `finetuning` that say nothing of a recipe."""
FEW_SHOT = "few_shot_"
"""How keys begin that count in few-shot regimes alone."""


def differences(config: Config, paper: str, model: str, regime: str) -> list[str]:
    """Return the keys whose values are not those of a paper's recipe, where a number depends on them.

    A paper may have a recipe for long queries too (`<paper>-...`), which counts where it is chosen. Zero-shot numbers
    depend on the lengths of query and document, others on fine-tuning too, and those of first stages on neither.
    Rankers over words have keys of their own, as the recipes are those of cross-encoders.

    Args:
        paper: DeepCT has no recipe, and no difference.
    """
    chosen = config.finetuning.recipe
    recipe = read_recipe(chosen if chosen.startswith(f"{paper}-") else paper)
    if recipe is None or regime == FIRST_STAGE:
        return []
    name = model.partition("@")[0]
    described = config.models.get(name)
    reranking = config.reranking if described is None else config.reranking_of(name, regime)
    lengths = reranking.model_dump()
    in_lengths = [f"reranking.{key}" for key, value in recipe["reranking"].items() if lengths[key] != value]
    if regime == "zero-shot":
        return in_lengths
    tuning = config.finetuning if described is None or described.neural else config.finetuning_of(name)
    theirs = FinetuningConfig.model_validate(recipe["finetuning"]).model_dump(exclude=WITHOUT_EFFECT)
    keys = _differing("finetuning.", tuning.model_dump(exclude=WITHOUT_EFFECT), theirs)
    few = regime.startswith("few-shot")
    return [key for key in keys if few or not key.startswith(f"finetuning.{FEW_SHOT}")] + in_lengths


def _differing(prefix: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[str]:
    for key, value in theirs.items():
        if isinstance(value, dict):
            yield from _differing(f"{prefix}{key}.", ours[key], value)
        elif ours[key] != value:
            yield prefix + key
