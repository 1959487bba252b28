"""A paper's claims: `resources/claims/<paper>.yaml`, read and checked."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, Field

from irpretrain.config.axioms import Axiom
from irpretrain.config.base import Section
from irpretrain.config.printed import load_paper_yaml
from irpretrain.foundation.resources import resources_directory

# Regime of a model that was fine-tuned for a task beside retrieval.
ANSWERS = "answers"

# One name, or several of which the first that is run counts.
Names = Annotated[
    tuple[str, ...], BeforeValidator(lambda names: (names,) if isinstance(names, str) else names)
]


class Side(Section):
    """One side of a comparison: a run (`model` or `first_stage`), a predictor's AUC or the importance of one of its
    axioms, a model's agreement with an axiom, or how much of a passage's weight is on its heaviest term."""

    model: Names = ()
    first_stage: Names = ()
    predictor: Names = ()
    weighting: Names = ()
    regime: Names = ()
    candidates: str = ""
    depth: int | None = Field(None, ge=1)
    axiom: Axiom | None = None
    best: bool = False  # of several models the one with the highest mean counts, not the first

    def faults(self) -> Iterator[str]:
        if self.best and len(self.model) < 2:
            yield "best: name several models"
        if sum(map(bool, (self.model, self.first_stage, self.predictor, self.weighting))) != 1:
            yield "a side names one of model, first_stage, predictor and weighting"

    @property
    def names(self) -> tuple[str, ...]:
        return self.model or self.first_stage or self.predictor or self.weighting

    @property
    def kind(self) -> str:
        """What is measured: run, predictor, importance, agreement or weighting."""
        if self.axiom:
            return "agreement" if self.model else "importance"
        return "predictor" if self.predictor else "weighting" if self.weighting else "run"

    def text(self, regime: Names = ()) -> str:
        """Return what the side asks for, by its first names: "prop, full", "RANK of simple"."""
        name, *_ = self.names
        if self.axiom:
            return f"{name} on {self.axiom}" if self.model else f"{self.axiom} of {name}"
        depth = f"@{self.depth}" if self.depth else ""
        if not self.model:
            return f"{name}{depth}"
        where = f", {self.candidates}{depth}" if self.candidates else ""
        return f"{name}, {(self.regime or regime)[0]}{where}"


class Contrast(Section):
    """Two sides, of which the first is claimed to be better."""

    better: Side
    worse: Side


class OtherReading(Section):
    """Another defensible reading of a paper's claims on predictors."""

    reading: str  # what it changes: "negatives of equal length"
    predictors: str  # what its predictors' names end in, after those that the claims name


class Claim(Section):
    """A sentence of a paper, and the comparison that tests it; or what that needs and nobody has here."""

    says: str  # the claim, in one sentence
    place: str  # section and table of the paper
    better: Side | None = None  # better, worse: the two sides
    worse: Side | None = None
    regime: Names = ()  # of models that have none of their own; of several the first that is run
    more_than: Contrast | None = None  # a second contrast: the claim is that the first one is larger
    # Candidates that the claim is about: with others the paper says otherwise. None: any candidates.
    candidates: Names = ()
    measure: str = ""  # ir_measures' notation; "": the data set's first
    # The better side is to rank more queries better than it ranks worse; then the effect is a share of the queries.
    wins: bool = False
    # Smallest effect of interest, in the measure's unit; None: the file's.
    effect: float | None = Field(None, gt=0)
    # Of the worse side that the better one reaches at least ("as good as" is 1).
    share: float | None = Field(None, gt=0)
    overlay: str = ""  # a configuration that runs both sides, from the project's folder
    needs: str = ""  # what is missing, of a claim that cannot be tested here

    def faults(self) -> Iterator[str]:
        is_tested = [bool(value) for value in (self.better, self.worse, self.overlay, not self.needs)]
        if len(set(is_tested)) > 1:
            yield "a claim has better, worse and overlay, or else `needs`"
        if len({side.kind for side in self.sides}) > 1:
            yield "all sides are of one kind"
        if any(side.best for side in self.sides[1:]):
            yield "best: only the side that is claimed to be better may be the best of several"
        for side in self.sides:
            if side.kind == "run" and side.model and not (side.regime or self.regime):
                yield f"regime: none is given for {side.model[0]}"

    def read_otherwise(self, reading: OtherReading) -> Self:
        """Return the claim on the predictors of another reading."""

        def of_reading(side: Side | None) -> Side | None:
            names = tuple(f"{name}{reading.predictors}" for name in side.predictor) if side else ()
            return side.model_copy(update={"predictor": names}) if side else None

        return self.model_copy(update={"better": of_reading(self.better), "worse": of_reading(self.worse)})

    @property
    def sides(self) -> tuple[Side, ...]:
        """Every side; none of a claim that is not tested."""
        if self.better is None or self.worse is None:
            return ()
        second_contrast = (self.more_than.better, self.more_than.worse) if self.more_than else ()
        return (self.better, self.worse, *second_contrast)

    def reached(self, worse: str) -> str:
        """Return the worse side's name, or the share of it that the better one reaches."""
        return worse if self.share is None else f"{100 * self.share:.0f} % of {worse}"

    @property
    def texts(self) -> tuple[str, str]:
        """The two sides by their first names, of a claim that is tested: "prop, full" and "90 % of control, full"."""
        texts = [side.text(self.regime) for side in self.sides]
        if self.more_than:
            return f"{texts[0]} over {texts[1]}", f"{texts[2]} over {texts[3]}"
        return texts[0], self.reached(texts[1])


class Claims(Section):
    """The claims of one paper by name; `effect` is the smallest effect of interest of those without their own."""

    paper: str
    effect: float = Field(gt=0)
    # Its result stands in the sentence of each claim on predictors.
    other_reading: OtherReading | None = None
    claims: dict[Annotated[str, Field(pattern="^[a-z0-9-]+$")], Claim] = Field(min_length=1)


def claims_file(paper: str) -> Path:
    """Return where the claims of a paper lie; a paper may have none."""
    return resources_directory() / "claims" / f"{paper}.yaml"


def has_claims(paper: str) -> bool:
    """Whether a paper has a file of claims."""
    return claims_file(paper).is_file()


@cache
def read_claims(paper: str) -> Claims:
    """Return the claims of a paper, read once a process."""
    return load_paper_yaml(claims_file(paper), Claims, "claims")
