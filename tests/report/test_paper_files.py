"""Which papers there are follows from the files of published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from irpretrain.config.experiments import Paper
from irpretrain.errors import InputError
from irpretrain.papers import files
from irpretrain.papers.files import known_papers, read_paper, read_recipe, recipe_names


def test_a_paper_is_a_file() -> None:
    assert known_papers() == ("ares", "deepct", "php", "prop", "wikiformer")
    assert get_args(Paper) == known_papers()
    assert all(read_paper(paper).paper == paper for paper in known_papers())


def test_a_recipe_belongs_to_the_paper_that_it_is_called_after() -> None:
    assert recipe_names() == ["ares", "php", "prop", "wikiformer", "wikiformer-legal"]
    assert [read_recipe(name) for name in ("none", "deepct", "php-legal", "lead")] == [None] * 4


def test_a_file_that_is_called_otherwise_than_its_paper_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "published").mkdir()
    content = files.paper_file("prop").read_text()
    (tmp_path / "published" / "lead.yaml").write_text(content)
    monkeypatch.setattr(files, "resources_directory", lambda: tmp_path)
    with pytest.raises(InputError, match=r"lead\.yaml: `paper` is 'prop', but the file's name says 'lead'"):
        read_paper("lead")


def test_figures_are_in_the_report_s_order_those_that_the_paper_lacks_last() -> None:
    assert list(read_paper("prop").drawings()) == [
        "figure1a",
        "figure1b",
        "figure2",
        "set_sizes",
        "words_outside",
    ]
    assert read_paper("deepct").drawings() == {"figure1": "weight-curves"}
