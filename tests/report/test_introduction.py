"""The report says first what was run, on what, and made from what; what the papers are comes after a fold."""

from __future__ import annotations

from small_run import PROP_YAML

from irpretrain.config import Config
from irpretrain.papers.published import load_published
from irpretrain.report.remarks import background, this_run
from irpretrain.report.scores import Scores


def test_it_tells_this_run(config: Config, results) -> None:
    run = this_run(config.of_papers(["prop"]), Scores.read(*reversed(results)))
    assert run.startswith("20 queries of SQuAD 1.1, the top 20 of BM25 are re-ranked. Encoder MiniLM-L6-H384")
    assert "pre-trained on enwiki-excerpt, squad-train-passages, squad-dev-passages for" in run
    steps = sorted({config.training_of(name).steps for name in ("prop", "prop-further")})
    assert run.endswith(f"{' or '.join(str(number) for number in steps)} steps.")


def test_the_background_tells_what_is_compared() -> None:
    first, paper = background([load_published(PROP_YAML)])
    assert "cross-encoder" in first
    assert paper.startswith("PROP draws pairs of word sets")


def test_epochs_are_named_beside_steps(config_of, results) -> None:
    config = config_of()
    models = {**config.models}
    for name, training in {"prop": {"epochs": 1}, "prop-further": {"epochs": 0.5}}.items():
        models[name] = models[name].model_copy(update={"training": training})
    run = this_run(config.model_copy(update={"models": models}), Scores.read(*reversed(results)))
    assert run.endswith(f" {config.pretraining.steps} steps or 0.5 or 1 epochs.")


def test_without_pre_training(config: Config, results) -> None:
    experiment = config.experiments["zero-shot"].model_copy(update={"models": ["control"]})
    alone = config.model_copy(update={"experiments": {"zero-shot": experiment}})
    run = this_run(alone, Scores.read(*reversed(results)))
    assert run.endswith("first 4 layers, not pre-trained further.")
    first_stages = experiment.model_copy(update={"models": [], "regimes": []})
    alone = config.model_copy(update={"experiments": {"zero-shot": first_stages}})
    assert "ncoder" not in this_run(alone, Scores.read(*reversed(results)))
