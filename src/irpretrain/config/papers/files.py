"""Which papers there are, and what is printed in each: `resources/published/<paper>.yaml`."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from irpretrain.config.base import deep_merge, leaves
from irpretrain.config.papers.base import check_paper
from irpretrain.config.papers.published import Published, load_published
from irpretrain.errors import InputError
from irpretrain.foundation.resources import resources_directory


@cache
def known_papers() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def paper_file(paper: str) -> Path:
    return _folder() / f"{paper}.yaml"


def _folder() -> Path:
    return resources_directory() / "published"


@cache
def read_paper(paper: str) -> Published:
    """Return what is printed in a paper, read once a process; raise InputError where its file is wrong."""
    path = paper_file(paper)
    published = load_published(path)
    check_paper(path, published.paper)
    return published


def printed_rank_shares() -> Any:
    """Return in which intervals the ranks of a paper's own pseudo-queries lie, as printed."""
    printed = (read_paper(paper).axioms for paper in known_papers())
    return next((axioms.rank_intervals.shares for axioms in printed if axioms), None)


def show_axioms(papers: Iterable[str]) -> bool:
    """Whether some of these papers has tables of axioms and preference predictors."""
    return any(read_paper(paper).axioms for paper in papers)


def show_term_weights(papers: Iterable[str]) -> bool:
    """Whether some of these papers has a figure of how term weights are distributed."""
    figures = (figure for paper in papers for figure in read_paper(paper).figures.values())
    return any(figure.drawn == "weight-curves" for figure in figures)


def papers_with_depths() -> list[str]:
    return [paper for paper in known_papers() if read_paper(paper).depths]


def figure_names(papers: Iterable[str]) -> list[str]:
    """Return the names of the figures of `papers`, without directory and suffix."""
    return [f"{paper}_{figure}" for paper in papers for figure in read_paper(paper).figures]


@cache
def read_preset(name: str) -> dict[str, Any]:
    """Return the keys that a preset fills, of all papers, read once a process; empty where there is no such preset.

    Raises:
        InputError: two papers give the same key.
    """
    filled: dict[str, Any] = {}
    for paper in known_papers():
        keys = read_paper(paper).presets.get(name, {})
        if twice := dict(leaves(filled)).keys() & dict(leaves(keys)).keys():
            raise InputError(
                paper_file(paper),
                f"presets.{name}: another paper gives {min(twice)} too",
                remedy="Leave the key to the other paper, and set it in this paper's overlay.",
            )
        filled = deep_merge(filled, keys)
    return filled


def fill_objective(kind: str, preset: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of an objective of a type, with the keys of a preset that `given` leaves out."""
    return deep_merge(read_preset(preset).get("objectives", {}).get(kind, {}), given)


def recipe_names() -> list[str]:
    return [name for paper in known_papers() for name in read_paper(paper).recipes]


def read_recipe(name: str) -> dict[str, dict[str, Any]] | None:
    """Return what a recipe gives of each section of the configuration; None where there is no such recipe."""
    paper = name.partition("-")[0]
    recipe = read_paper(paper).recipes.get(name) if paper in known_papers() else None
    return None if recipe is None else recipe.sections
