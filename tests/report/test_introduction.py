"""The report's first lines say what was compared, on what, and made from what."""

from __future__ import annotations

from small_run import PROP_YAML

from irpretrain.config import Config
from irpretrain.report.introduction import introduction
from irpretrain.report.published import load_published
from irpretrain.report.scores import Scores


def test_it_tells_this_run(config: Config, results) -> None:
    prop = config.of_papers(["prop"])
    first, paper, run = introduction(prop, [load_published(PROP_YAML)], Scores.read(*reversed(results)))
    assert "cross-encoder" in first
    assert paper.startswith("PROP draws pairs of word sets")
    assert run.startswith(
        "This run: 20 queries of SQuAD 1.1, for each the top 20 of BM25. Encoder MiniLM-L6-H384"
    )
    assert "pre-trained on enwiki-excerpt, squad-train-passages, squad-dev-passages for" in run
    steps = sorted({config.training_of(name).steps for name in ("prop", "prop-further")})
    assert run.endswith(f"{' or '.join(str(number) for number in steps)} steps.")


def test_epochs_are_named_beside_steps(config_of, results) -> None:
    config = config_of()
    models = {**config.models}
    for name, training in {"prop": {"epochs": 1}, "prop-further": {"epochs": 0.5}}.items():
        models[name] = models[name].model_copy(update={"training": training})
    (*_, run) = introduction(
        config.model_copy(update={"models": models}), [], Scores.read(*reversed(results))
    )
    assert run.endswith(f" {config.pretraining.steps} steps or 0.5 or 1 epochs.")


def test_without_pre_training(config: Config, results) -> None:
    experiment = config.experiments["zero-shot"].model_copy(update={"models": ["untrained"]})
    alone = config.model_copy(update={"experiments": {"zero-shot": experiment}})
    (*_, run) = introduction(alone, [], Scores.read(*reversed(results)))
    assert run.endswith("first 4 layers, not pre-trained further.")
