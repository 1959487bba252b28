"""Arguments of a template's call."""

import re

Arguments = dict[str, str]
"""Arguments of a call by name; those without one are called "1", "2", ..."""

PARAMETER = "@"
"""Name under which a function of a pattern such as `@ship HMS` finds what stands behind its name."""
_SEPARATOR = re.compile(r"(\[\[)|(\]\])|(\|)|=")


def split_arguments(text: str) -> Arguments:
    """Cut the arguments of a call at the bars and first equal signs outside of links."""
    arguments: Arguments = {}
    start, links, equal, position = 0, 0, -1, 0
    for mark in _SEPARATOR.finditer(text + "|"):
        kind = mark.lastindex
        if kind == 1:
            links += 1
        elif kind == 2:
            links = max(0, links - 1)
        elif kind is None:
            if equal < 0 and not links:
                equal = mark.start()
        elif not links or mark.start() == len(text):
            if equal >= 0:
                arguments[text[start:equal].strip()] = text[equal + 1 : mark.start()].strip()
            else:
                position += 1
                arguments[str(position)] = text[start : mark.start()].strip()
            start, equal = mark.end(), -1
    return arguments


def unnamed(arguments: Arguments) -> list[str]:
    """Return the arguments without a name that are not empty."""
    return [value for name, value in arguments.items() if name.isdecimal() and value]
