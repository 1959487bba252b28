"""Section `text`: how documents become words (for language models) and word pieces (for the encoder). Section
`graph`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from irpretrain.config.base import LISTED_ONCE, Section, option
from irpretrain.text.languages import ENGLISH, read_languages, unknown_language
from irpretrain.text.words import WordKind, word_kind


class TextConfig(Section):
    """Words, and the text of a document."""

    language: str = option(
        ENGLISH,
        "Language of all texts; it decides words, stop words, stems, terms of indexes and sentence ends "
        "(docs/languages.md): english, german, french, spanish, italian, portuguese, dutch, russian, arabic, hindi, "
        "japanese, chinese, korean, or other.",
    )
    words: Literal["alphanumeric", "letters"] = option(
        ..., "A word is a run of letters and digits, or of letters alone; always lower-cased."
    )
    fields: Annotated[list[Literal["url", "title", "body"]], LISTED_ONCE] = option(
        ["title", "body"], "Fields of a document's text, in this order.", min_length=1
    )
    separator: str = option(". ", "Text between two non-empty fields.")
    max_word_pieces: int | None = option(
        None, "Maximum word pieces of a document in the token store; null: all.", unit="word pieces", ge=1
    )

    @property
    def word_kind(self) -> WordKind:
        """How texts are cut into words."""
        return word_kind(self.words, self.language)

    @field_validator("language")
    @classmethod
    def _check_language(cls, name: str) -> str:
        if name != ENGLISH and name not in read_languages():
            raise ValueError(unknown_language(name))
        return name

    @model_serializer(mode="wrap")
    def _leave_out_english(self, values_of: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Results of English are those of before this key: what names it among its settings would be made again.
        values: dict[str, Any] = values_of(self)
        return {key: value for key, value in values.items() if (key, value) != ("language", ENGLISH)}


class EncoderConfig(Section):
    """The pre-trained encoder."""

    path: str = option(
        ...,
        "Hugging Face directory of an encoder (docs/methods/training.md: families), or "
        "embedded:<asset>. Or a name in the hub's cache on this machine, such as "
        "google-bert/bert-base-uncased (@ and a commit may follow). An overlay with "
        "another path inherits no other key of the encoder below it.",
        min_length=1,
    )
    label: str = option("", "Name in tables; by default the path.", decides=False)
    layers: int | None = option(None, "Keep only the first layers; null: all.", ge=1)
    vocabulary_size: int | None = option(
        None, "Expected vocabulary size; checked if set.", unit="word pieces", ge=1
    )

    @property
    def full_label(self) -> str:
        """Its name, and how many of its layers are used where not all are."""
        return f"{self.label}, first {self.layers} layers" if self.layers else self.label

    @property
    def source(self) -> str:
        """Its path, and how many of its layers are used where not all are."""
        return f"{self.path}, {self.layers} layers" if self.layers else self.path

    @model_validator(mode="before")
    @classmethod
    def _call_it_by_its_path(cls, values: Any) -> Any:
        return (
            {"label": values["path"], **values} if isinstance(values, dict) and "path" in values else values
        )


class GraphConfig(Section):
    """Links between a collection's documents; definitions in docs/methods/wikipedia-graph.md."""

    segment_words: int = option(
        128,
        "Length of a segment; a rest under half joins the segment before.",
        unit="words",
        ge=8,
    )
    title_case: Literal["first-letter", "case-sensitive"] = option(
        "first-letter", "Whether a title always starts with a capital, as the dump's `case` says."
    )
    mentions: Literal["none", "titles"] = option(
        "none",
        "titles: exact mentions of other documents' titles are links (for corpora without hyperlinks).",
    )
    mention_lower: bool = option(False, "Also match titles with a small first letter.")
    memory_mb: int = option(
        4000, "Memory of the joins; larger joins use disk.", unit="MB", decides=False, ge=256
    )
    threads: int = option(
        2, "Threads of the joins. No effect on results.", unit="threads", decides=False, ge=1
    )

    def words_of_segments(self, objectives: Mapping[str, Any]) -> dict[str, int]:
        """Return the length of segments for those objectives, as options or their class, whose queries are such."""
        names = (
            name for name, options in objectives.items() if getattr(options, "queries_are_segments", False)
        )
        return dict.fromkeys(names, self.segment_words)
