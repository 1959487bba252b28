"""The choices that the library's functions take: keys and values of the configuration, filled by a preset."""

import reprlib
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig, WordVectorsConfig
from irpretrain.config.base import Section, deep_merge, option
from irpretrain.config.explain import explain, explained
from irpretrain.config.graph import GraphConfig
from irpretrain.config.load import apply_preset
from irpretrain.config.pretraining import PretrainingConfig
from irpretrain.config.text import TextConfig
from irpretrain.errors import ConfigError
from irpretrain.objectives.registry import read_options
from irpretrain.papers.files import read_preset
from irpretrain.wording import worded


class Options(Section):
    """Sections of the configuration (docs/reference/config) that several functions share.

    Examples:
        >>> Options().text.words, Options(preset="released").text.words
        ('alphanumeric', 'letters')
        >>> Options(axioms={"stemming": "none"}, seed=3).axioms.stemming
        'none'
    """

    preset: Literal["paper", "released"] = option("paper", "Fills the keys that are left out.")
    seed: Annotated[int, Field(ge=0)] = option(1, "Seed of all random draws.")
    text: TextConfig = option(default_factory=lambda: TextConfig(**read_preset("paper")["text"]))
    graph: GraphConfig = option(default_factory=GraphConfig)
    axioms: AxiomsConfig = option(default_factory=AxiomsConfig)
    pseudo_queries: PseudoQueriesConfig = option(default_factory=PseudoQueriesConfig)
    word_vectors: WordVectorsConfig = option(default_factory=WordVectorsConfig)

    def __init__(self, **values: Any) -> None:
        """Check and fill the sections; ConfigError names every fault."""
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise explained(type(self), error, "Options") from None

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        vectors = values.get("word_vectors")
        if isinstance(vectors, dict) and vectors.get("files"):
            remedy = worded("Collection(..., vectors=FILE)", "--vectors FILE")
            raise ValueError(f"word_vectors.files: names files of the workflow's collections; give {remedy}")
        filled = apply_preset(values)
        own_keys = values.keys() | cls.model_fields.keys()
        return {key: value for key, value in filled.items() if key in own_keys}

    def objective(self, kind: str, **changes: Any) -> Any:
        """Return the options of an objective (a type of docs/reference/config): the preset's, with some changed.

        Raises:
            ConfigError: there is no such objective, or its options have a fault.
        """
        if not isinstance(kind, str):
            raise ConfigError(f"objective: one type is needed, such as rop, not {reprlib.repr(kind)}")
        objectives = apply_preset({"preset": self.preset, "objectives": {kind: {"type": kind, **changes}}})
        try:
            return read_options(kind, objectives["objectives"][kind])
        except ValueError as error:
            raise ConfigError(str(error)) from None

    def drawn(self, **changes: Any) -> PseudoQueriesConfig:
        """Return the options of pseudo-queries, with some changed."""
        return explain(
            PseudoQueriesConfig,
            deep_merge(self.pseudo_queries.model_dump(), changes),
            "pseudo_queries",
            top=True,
        )

    def training(self, kinds: list[str], **changes: Any) -> PretrainingConfig:
        """Return the options of pre-training on objectives of these types: the preset's, with some changed."""
        given = {
            "preset": self.preset,
            "objectives": {kind: {"type": kind} for kind in kinds},
            "pretraining": changes,
            "models": {"model": {"tasks": [{"objective": kind} for kind in kinds]}},
        }
        filled = apply_preset(given)
        training = deep_merge(filled["pretraining"], filled["models"]["model"].get("training", {}))
        return explain(PretrainingConfig, training, "pretraining", top=True)
