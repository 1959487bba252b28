"""What differs between language editions of Wikipedia; the names are in resources/wikipedia."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from irpretrain.foundation.records import Role
from irpretrain.foundation.resources import parse_yaml, read_resource
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.titles import normal_name, redirect_word
from irpretrain.wikipedia.wikitext.dates import Calendar
from irpretrain.wikipedia.wikitext.images import ImageOptions
from irpretrain.wikipedia.wikitext.templates import DISAMBIGUATION, Templates

if TYPE_CHECKING:
    from irpretrain.wikipedia.names import Names

# Marks that are vowels. Accents, and vowel points of Hebrew and Arabic, are marks too, which `\w` leaves out.
_VOWELS = r"\u0900-\u0963\u0966-\u109f\u1780-\u17ff\u1b00-\u1bff\u3099\u309a\ua980-\ua9ff\uabc0-\uabff"
_NO_LETTER = re.compile(rf"[^\w{_VOWELS}]|[_\u0640]")
_SAME_LETTERS = str.maketrans("ıيىكة", "iییکه")
# Bengali and Devanagari writers type it for a colon.
_VISARGA = "\u0903\u0983"


@lru_cache(maxsize=1 << 16)  # most pages have the same headings
def heading_key(heading: str) -> str:
    """Return what headings are compared by: their letters and digits, without case and accents.

    Editors write the same heading with and without blanks, accents, joiners within or a colon at the end.
    """
    letters = _NO_LETTER.sub("", unicodedata.normalize("NFKD", heading.lower()))
    return unicodedata.normalize("NFC", letters.translate(_SAME_LETTERS).rstrip(_VISARGA))


# Comments, what is shown as it is written or read by an extension, and what only other pages show.
_NO_MARKUP = (
    r"(?s:!--.*?(?:-->|\Z)|(?P<tag>(?i:nowiki|pre|syntaxhighlight|source|math|chem|ce|timeline|score|templatedata|hiero"
    r"|includeonly))(?=[\s>])[^<>]*+(?<!/)>.*?(?:(?i:</(?P=tag)\s*+>)|\Z))"
)
_PLAIN = str.maketrans({character: f"&#{ord(character)};" for character in "&'*:;=_<>[]{|}"})
# Numbers of MediaWiki's namespaces.
ARTICLES, FILES, CATEGORIES = 0, 6, 14


@dataclass(frozen=True)
class WikiLanguage:
    """One wiki's names, in small letters with single spaces."""

    code: str  # of the language edition, such as en; "" where it is not known
    roles: Mapping[str, Role]  # what headings say of their sections, by `heading_key`
    disambiguation: frozenset[str]  # templates; a name may end in `*`
    redirects: frozenset[str]  # words behind # that make a page a redirect, by `redirect_word`
    hidden: frozenset[str]  # namespaces whose links are not shown (files, categories)
    namespaces: frozenset[str]  # namespaces that hold no articles, the hidden ones included
    wikis: frozenset[str]  # prefixes of other wikis
    languages: frozenset[str]  # prefixes of other editions; a link to one without a label is not shown
    # link_prefix, link_trail: letters before and behind a link that belong to its anchor, in the notation of a regular
    # expression's character class; no prefix ("") in most languages.
    link_prefix: str
    link_trail: str
    images: ImageOptions = field(compare=False)  # options in links to files
    templates: Templates = field(compare=False)  # what is shown of templates
    dots_capitals: bool  # whether a title that is linked with a small i begins with İ

    @classmethod
    def of(cls, site: SiteInfo, added_names: Names | None = None) -> Self:
        """Return the language of a dump: the names we know, those of its siteinfo, and those the user adds.

        Where the user gives a heading, a link trail or a template that is known, the user's counts.
        """
        code = language_code(site)
        names_by_language = _read("languages.yaml")
        # Of each the keys of `Names`.
        name_sets: list[Mapping[str, Any]] = [
            names_by_language["all"],
            _read("mediawiki.json").get(code, {}),
            names_by_language.get(code, {}),
            added_names.model_dump() if added_names else {},
        ]
        if not names_are_known(code):
            name_sets.insert(1, names_by_language["en"])

        def names_of(key: str) -> list[str]:
            return [name for name_set in name_sets for name in name_set.get(key, ())]

        def last_letters(key: str) -> str:
            letters_by_set = (name_set.get(key) for name_set in reversed(name_sets))
            return next((letters for letters in letters_by_set if letters is not None), "")

        namespaces = _normal_names(name for number, name in site.namespaces.items() if number != ARTICLES)
        hidden_namespaces = [site.namespaces.get(number, "") for number in (FILES, CATEGORIES)]
        hidden = _normal_names([*hidden_namespaces, *names_of("file"), *names_of("category")])
        disambiguation = _normal_names(names_of("disambiguation"))
        uses_dotted_capitals = (code or site.language) in _read("editions.yaml")["dotted_capitals"]
        return cls(
            code=code,
            roles={heading: role for name_set in name_sets for heading, role in _roles(name_set).items()},
            disambiguation=disambiguation,
            redirects=frozenset(map(redirect_word, names_of("redirect"))),
            hidden=hidden,
            namespaces=hidden | namespaces | _normal_names(names_of("namespaces")),
            wikis=_normal_names(names_of("wikis")),
            languages=_normal_names(names_of("languages")) - {code},
            link_prefix=last_letters("link_prefix"),
            link_trail=last_letters("link_trail"),
            images=ImageOptions(names_of("image_options"), names_of("image_frames")),
            templates=_templates(code, disambiguation, added_names),
            dots_capitals=uses_dotted_capitals and site.case != "case-sensitive",
        )

    def with_dotted_capital(self, target: str) -> str:
        """Return what a link or redirect leads to with İ for a small i at its beginning, where titles have it so."""
        return f"İ{target[1:]}" if self.dots_capitals and target.startswith("i") else target

    def role(self, heading: str) -> Role:
        """Return what a heading says of its section."""
        return self.roles.get(heading_key(heading), "")

    def in_other_namespace(self, title: str) -> bool:
        """Whether the title of a page begins with the name of a namespace other than that of articles."""
        prefix, colon, _ = title.partition(":")
        return bool(colon) and normal_name(prefix) in self.namespaces

    def with_page_names(self, wikitext: str, title: str) -> str:
        """Return a page's wikitext with its names in place of PAGENAME, FULLPAGENAME, NAMESPACE, or with E behind these
        words, as in an address."""
        if self._page_name_patterns[0].search(wikitext) is None:
            return wikitext
        prefix, _, name = title.partition(":") if self.in_other_namespace(title) else ("", "", title)
        names = {"NAMESPACE": prefix, "FULLPAGENAME": title, "PAGENAME": name}
        names |= {
            f"{variable}E": quote(value.strip().replace(" ", "_"), ";@$!*(),/:~")
            for variable, value in names.items()
        }
        names = {
            word: names[variable].strip().translate(_PLAIN)
            for word, variable in self._variable_of_word.items()
        }
        return self._page_name_patterns[1].sub(lambda call: names[call[1]] if call[1] else call[0], wikitext)

    @cached_property
    def switches(self) -> re.Pattern[str]:
        """What finds behaviour switches such as __NOTOC__, those that mark a disambiguation page in a group of that
        name; other words between underscores are text."""
        words = _read("behaviour_switches.json")
        pattern_of_kind = {
            switch_kind: "|".join(
                re.escape(word)
                for code in ("all", self.code)
                for word in words.get(code, {}).get(switch_kind, "").split()
            )
            for switch_kind in ("any_case", "exact", "disambiguation")
        }
        return re.compile(
            rf"(?i:{pattern_of_kind['any_case']})|{pattern_of_kind['exact']}|(?P<disambiguation>{pattern_of_kind['disambiguation']})"
        )

    @cached_property
    def _variable_of_word(self) -> Mapping[str, str]:
        names = _read("page_names.json")
        encoded_names = {f"{word}E": f"{variable}E" for word, variable in names["all"].items()}
        return names["all"] | encoded_names | names.get(self.code, {})

    @cached_property
    def _page_name_patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """What finds a name fast, and what finds names and whatever holds none, from its first character on."""
        call_pattern = rf"\{{\s*+({'|'.join(map(re.escape, self._variable_of_word))})\s*+\}}\}}"
        call_or_literal = rf"[{{<](?:(?<=\{{)(?<!\{{\{{){call_pattern}|(?<=<){_NO_MARKUP})"
        return re.compile(rf"\{{{call_pattern}"), re.compile(call_or_literal)


def language_code(site: SiteInfo) -> str:
    """Return the code of the language edition, from the address or the name of the database; "" if neither tells."""
    codes = []
    if host := re.match(r"(?:https?:)?//([a-z-]+)\.(?:m\.)?wikipedia\.org\b", site.base):
        # The address may have the language's code where the database has the edition's: be-tarask, be_x_oldwiki.
        codes.append(_edition_code(host[1]))
    if database := re.fullmatch(r"([a-z_]+?)wiki", site.database):
        codes.append(database[1].replace("_", "-"))
    return next((code for code in codes if code in _read("mediawiki.json")), codes[0] if codes else "")


def _edition_code(language: str) -> str:
    return _read("editions.yaml")["editions"].get(language, language)


def edition_of(language: str) -> str:
    """Return the edition whose pages are in a language, by its code of BCP 47; "" where there is none of that code.

    Nothing is cut off a code: no edition is in pt-BR or zh-Hans (pt and zh are), but wikis of others are.
    """
    code = _edition_code(language.lower())
    return code if code in _read("mediawiki.json") else ""


def database_of(code: str) -> str:
    """Return the name of the database of an edition, from the code in its address."""
    return f"{_edition_code(code).replace('-', '_')}wiki"


def names_are_known(code: str) -> bool:
    """Whether headings of See Also lists of a language edition stand in resources/wikipedia/languages.yaml."""
    return code != "all" and "see_also" in _read("languages.yaml").get(code, {})


def _roles(names: Mapping[str, Any]) -> dict[str, Role]:
    """Return what the headings that are named say of their sections, by `heading_key`."""
    roles: dict[str, Role] = dict.fromkeys(map(heading_key, names.get("boilerplate", ())), "boilerplate")
    return roles | dict.fromkeys(map(heading_key, names.get("see_also", ())), "see-also")


def _normal_names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(normal_name, names)) - {""}


def _templates(code: str, disambiguation: frozenset[str], added_names: Names | None) -> Templates:
    locale = _read("cldr.json").get(code, {})
    patterns = _language_templates(code, locale.get("languages", ""))
    templates_of_language = _read("templates.yaml")
    for names in (
        templates_of_language["all"],
        templates_of_language.get(code, {}),
        added_names.templates if added_names else {},
    ):
        patterns.update({normal_name(name): pattern for name, pattern in names.items()})
    patterns.update(dict.fromkeys(disambiguation, DISAMBIGUATION))
    calendar = Calendar(**{key: text for key, text in locale.items() if key != "languages"})
    return Templates(
        patterns, calendar, frozenset([*_read("mediawiki.json"), *_read("editions.yaml")["other_languages"]])
    )


def _language_templates(code: str, languages: str) -> dict[str, str]:
    """Return what templates show whose name is a language's: its code, its name, or that cut by a dot."""
    editions = _read("editions.yaml")
    patterns = dict.fromkeys(editions["language_templates"], "{text|1}")
    for name in filter(None, languages.split("|")):
        pattern = editions["with_name"].get(code, "{text|1}").replace("NAME", name)
        key = normal_name(name)
        abbreviations = (f"{key[:length]}." for length in range(2, len(key)))
        patterns |= dict.fromkeys((key, key.removeprefix("ال"), *abbreviations), pattern)
    return patterns


@cache
def _read(name: str) -> Any:
    text = read_resource(f"wikipedia/{name}")
    return json.loads(text) if name.endswith(".json") else parse_yaml(text)
