"""The choices that the library's functions take: keys and values of the configuration, filled by a preset."""

import reprlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from irpretrain.config.axioms import AxiomsConfig, PseudoQueriesConfig, WordVectorsConfig
from irpretrain.config.base import Section, config_error, deep_merge, explain, option
from irpretrain.config.load import apply_preset
from irpretrain.config.objectives import OBJECTIVES, needs, options_class, read_options
from irpretrain.config.pretraining import PretrainingConfig, TaskConfig
from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.config.text import GraphConfig, TextConfig
from irpretrain.foundation.errors import ConfigError, cli_or_api

# What a search of documents reads, by model.
READ_OF_TEXTS = [f"text.{key}" for key in TextConfig.model_fields if key != "max_word_pieces"]
READ_OF_AXIOMS = [f"axioms.{key}" for key in ("bm25", "stemming", "stop_list", "threads", "memory_mb")]
READ_OF_RETRIEVAL = [f"retrieval.{key}" for key in ("bm25", "stemmer", "stop_list", "threads")]
READ_BY_BM25 = [*READ_OF_TEXTS, *READ_OF_RETRIEVAL, "axioms.memory_mb"]
READ_BY_SEARCH = {"bm25": READ_BY_BM25, "ares-bm25": [*READ_OF_TEXTS, *READ_OF_AXIOMS]}
# What an objective reads beside texts, by what it needs (`config.objectives.NEEDS`).
READ_BY_NEED = {"graph": ["graph"], "axiom_values": ["axioms", "pseudo_queries", "word_vectors"]}


def read_by_objective(options: Any) -> list[str]:
    """Return the sections that the objective of these options reads."""
    needed = needs(options)
    return ["text", *(name for need, names in READ_BY_NEED.items() if need in needed for name in names)]


def unread_keys(sections: Mapping[str, Any], read: Collection[str]) -> Iterator[str]:
    """Yield keys of the sections of `Options` that are not read; sections tell other faults, and those of what is."""
    for section, values in sections.items():
        if section not in Options.model_fields or section in read:
            continue
        names = list(values) if isinstance(values, dict) else []
        section_class: Any = Options.model_fields[section].annotation
        if any(key.startswith(f"{section}.") for key in read):
            names = [name for name in names if name in section_class.model_fields]
        elif not names:
            yield section
        yield from (key for name in names if (key := f"{section}.{name}") not in read)


def unread_message(key: str, use: str, read: Iterable[str]) -> str:
    """Return why a key is refused; `use` is what does not read it, "this search by bm25"."""
    remedy = f"It reads {', '.join(read)}."
    if key == "retrieval.depth" and "search" in use:
        remedy = cli_or_api("Give depth to the search.", "Give --depth.")
    return f"{key} changes nothing in {use}. {remedy}"


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
    text: TextConfig
    graph: GraphConfig = GraphConfig()
    retrieval: RetrievalConfig = RetrievalConfig()
    axioms: AxiomsConfig = AxiomsConfig()
    pseudo_queries: PseudoQueriesConfig = PseudoQueriesConfig()
    word_vectors: WordVectorsConfig = WordVectorsConfig()

    def __init__(self, **values: Any) -> None:
        """Check and fill the sections; ConfigError names every fault."""
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise config_error(type(self), error, "Options") from None

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        vectors = values.get("word_vectors")
        if isinstance(vectors, dict) and vectors.get("files"):
            remedy = cli_or_api("give Collection(..., vectors=FILE)", "leave it out")
            raise ValueError(f"word_vectors.files: names files of the workflow's collections; {remedy}")
        completed_values = apply_preset(values)
        section_keys = values.keys() | cls.model_fields.keys()
        return {key: value for key, value in completed_values.items() if key in section_keys}

    def changes(self) -> dict[str, Any]:
        """Return the arguments that make these options: the preset, if not the default, and what differs from it."""
        return dict(self.__repr_args__())

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Yield the preset, if it is not the default, and the keys whose values it does not have."""
        if self.preset != type(self).model_fields["preset"].default:
            yield "preset", self.preset
        preset_values = type(self)(preset=self.preset).model_dump()
        for name, value in self.model_dump().items():
            if value == preset_values[name]:
                continue
            if isinstance(value, dict):
                value = {key: value[key] for key in value if value[key] != preset_values[name].get(key)}
            yield name, value

    __str__ = Section.__repr__  # pydantic's is empty where nothing differs

    def objective(self, objective_type: str, **changes: Any) -> Any:
        """Return the options of an objective (a type of docs/reference/config): the preset's, with some changed.

        Raises:
            ConfigError: there is no such objective, or its options have a fault.
        """
        if not isinstance(objective_type, str):
            raise ConfigError(
                f"objective: one type is needed, such as rop, not {reprlib.repr(objective_type)}"
            )
        objectives = apply_preset(
            {"preset": self.preset, "objectives": {objective_type: {"type": objective_type, **changes}}}
        )
        try:
            return read_options(objective_type, objectives["objectives"][objective_type])
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

    def training(self, objective_types: list[str], **changes: Any) -> PretrainingConfig:
        """Return the options of pre-training on objectives of these types: the preset's, with some changed.

        Groups of the user's own have a type that no objective has.
        """
        known_types = [objective_type for objective_type in objective_types if objective_type in OBJECTIVES]
        values = {
            "preset": self.preset,
            "objectives": {objective_type: {"type": objective_type} for objective_type in known_types},
            "pretraining": changes,
            "models": {"model": {"tasks": [{"objective": objective_type} for objective_type in known_types]}},
        }
        completed_values = apply_preset(values)
        training_options = deep_merge(
            completed_values["pretraining"], completed_values["models"]["model"].get("training", {})
        )
        options = explain(PretrainingConfig, training_options, "pretraining", top=True)
        words_of_segments = self.graph.words_of_segments({name: options_class(name) for name in known_types})
        if faults := list(
            options.task_faults(
                [TaskConfig(objective=objective_type) for objective_type in objective_types],
                words_of_segments,
            )
        ):
            raise ConfigError("\n  - ".join(["pretraining:", *faults]))
        return options
