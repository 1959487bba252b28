"""Overlays in other languages than English."""

from overlay_layers import load

from overlay_commands import ROOT


def test_queries_of_legal_cases_have_255_word_pieces_wherever_they_are_read() -> None:
    """Wikiformer, Implementation Details: 255 where query and document are long texts."""
    config = load(ROOT / "configs/legal-paper.yaml")
    assert config.text.language == "chinese"
    models = {model for experiment in config.experiments.values() for model in experiment.models}
    assert len(models) == 6
    for model in models:
        assert config.finetuning_of(model).query_length == 255
        for regime in ("zero-shot", "full"):
            read = config.reranking_of(model, regime)
            assert (read.query_length, read.max_length) == (255, 512)
        lengths = {task.objective: task.query_length for task in config.models[model].tasks}
        assert lengths.get("ltm", 255) == 255


def test_the_overlay_of_another_language_has_few_lines() -> None:
    overlay = ROOT / "configs/other-language.yaml"
    assert load(overlay).text.language == "other"
    assert len(overlay.read_text(encoding="utf-8").splitlines()) <= 25
