"""Names by which a wiki's pages are read: the form of resources/wikipedia/languages.yaml, and of what a user adds."""

import re
from collections.abc import Iterator

from pydantic import ValidationInfo, field_validator

from irpretrain.config.base import Section, option
from irpretrain.wikipedia.languages import heading_key
from irpretrain.wikipedia.wikitext.templates import pattern_fault

# A name without what no name has, and not of white space alone.
_NAME_PATTERN = r"[^\[\]{}|<>#:*]*[^\[\]{}|<>#:*\s_][^\[\]{}|<>#:*]*"


class Names(Section):
    """Names of one language edition, or names a user adds; letter case does not matter, an underscore is a space."""

    see_also: list[str] = option(
        [], "Headings of sections that list related articles; a final colon is ignored."
    )
    boilerplate: list[str] = option([], "Headings of sections without prose: references, links, notes.")
    disambiguation: list[str] = option([], "Templates of disambiguation pages; a final * matches any ending.")
    redirect: list[str] = option([], "Words of redirects without #, for dumps before 2010.")
    file: list[str] = option([], "Names of the file namespace, whose links are dropped.")
    category: list[str] = option([], "Names of the category namespace.")
    namespaces: list[str] = option([], "Names of other namespaces without articles.")
    wikis: list[str] = option([], "Prefixes of links to other wikis.")
    languages: list[str] = option([], "Prefixes of links to other language editions.")
    link_prefix: str | None = option(None, "Letters before a link that belong to its anchor, such as a-zäöü.")
    link_trail: str | None = option(None, "Letters after a link that belong to its anchor, such as a-zäöü.")
    image_options: list[str] = option(
        [], "Options in links to files, case-sensitive, with $1 for a value: left, $1px, alt=$1."
    )
    image_frames: list[str] = option([], "The options that show the caption: thumb, frame, thumb=$1.")
    templates: dict[str, str] = option(
        {}, "Templates to show: name to pattern, as in resources/wikipedia/templates.yaml."
    )

    @field_validator("see_also", "boilerplate")
    @classmethod
    def _check_headings(cls, names: list[str]) -> list[str]:
        for name in names:
            if not heading_key(name) or name.strip()[0] == "=":
                raise ValueError(f"{name!r} is not a heading; give only its text, without equal signs")
        return names

    @field_validator("disambiguation", "redirect", "file", "category", "namespaces", "wikis", "languages")
    @classmethod
    def _check_names(cls, names: list[str], info: ValidationInfo) -> list[str]:
        ending = r"\*?" if info.field_name == "disambiguation" else ""
        for name in names:
            if not re.fullmatch(_NAME_PATTERN + ending, name):
                raise ValueError(f"{name!r} is not a name; give only the name, without brackets and colon")
        return names

    @field_validator("link_prefix", "link_trail")
    @classmethod
    def _check_letters(cls, letters: str | None) -> str | None:
        if not letters:
            return letters
        try:
            if letters[0] == "^" or {"[", "]"} & set(letters):
                raise ValueError(f"{letters!r} must be letters, and ranges such as a-z, without brackets")
            re.compile(f"[{letters}]")
        except re.error as error:
            raise ValueError(f"{letters!r} must be letters, and ranges such as a-z: {error}") from None
        return letters

    @field_validator("templates")
    @classmethod
    def _check_templates(cls, patterns: dict[str, str]) -> dict[str, str]:
        for name, pattern in patterns.items():
            if not re.fullmatch(_NAME_PATTERN + r"[:*]?", name):
                raise ValueError(f"{name!r} is not a template name; give only the name, without braces")
            if fault := pattern_fault(pattern):
                raise ValueError(f"{name}: the pattern {pattern!r} {fault}")
        return patterns

    def faults(self) -> Iterator[str]:
        if keys_in_both := set(map(heading_key, self.see_also)) & set(map(heading_key, self.boilerplate)):
            yield f"{min(keys_in_both)!r} is in see_also and in boilerplate; a heading has one role"
