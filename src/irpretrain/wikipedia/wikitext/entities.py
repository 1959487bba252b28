"""Entities and character references, as HTML 5 and MediaWiki's Sanitizer read them."""

import re
from html.entities import html5

_ENTITY = re.compile(
    r"&(?:([a-zA-Z][a-zA-Z0-9]{1,30};|רלמ;|رلم;)|#0*([0-9]{1,7});|#[xX]0*([0-9a-fA-F]{1,6});)"
)
# Those that MediaWiki adds, for writers of Hebrew and Arabic.
_ALIASES = {"רלמ;": "rlm;", "رلم;": "rlm;"}
# Of numbers: no control characters, surrogates or noncharacters.
_ALLOWED = re.compile("[\t\n -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def decode_entities(text: str) -> str:
    """Return `text` with characters for entities and character references; what HTML 5 does not know or allow stays."""
    if "&" not in text:
        return text
    return _ENTITY.sub(_entity, text.replace("&nbsp;", " "))


def _entity(reference: re.Match[str]) -> str:
    if reference[1]:
        character = html5.get(_ALIASES.get(reference[1], reference[1]), reference[0])
    else:
        number = int(reference[2]) if reference[2] else int(reference[3], 16)
        character = chr(number) if number < 0x110000 else ""
        character = character if _ALLOWED.match(character) else reference[0]
    return " " if character.isspace() else character
