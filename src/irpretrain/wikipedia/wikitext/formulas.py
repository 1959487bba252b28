"""Formulas that can be written in a line: `<math>E = mc^2</math>` is "E = mc^2"."""

import json
import re

from irpretrain.foundation.resources import read_resource

# Characters of TeX; what is longer is no part of a sentence.
LONGEST = 200

_TEX = json.loads(read_resource("wikipedia/tex.json"))
_LETTERS: dict[str, str] = _TEX["letters"]
_OPERATORS: dict[str, str] = _TEX["operators"]
# To be written behind their letter.
_ACCENTS: dict[str, str] = _TEX["accents"]
_WORDS, _NOTHING = frozenset(_TEX["words"]), frozenset(_TEX["nothing"])
# Wrappers in which spaces count.
_TEXTS = frozenset(["text", "textrm", "textbf", "textit", "mbox", "hbox"])
_WRAPPERS = _TEXTS | frozenset(
    ["mathrm", "mathbf", "mathit", "mathsf", "mathcal", "mathfrak", "operatorname", "boldsymbol", "mathbb"]
)
_BLACKBOARD = {"N": "ℕ", "Z": "ℤ", "Q": "ℚ", "R": "ℝ", "C": "ℂ", "P": "ℙ", "H": "ℍ"}
_TOKEN = re.compile(r"\\([a-zA-Z]+)|\\([,;:!> {}%#&_$|])|([{}^_])|(\s+)|([^\\{}^_\s])")
_COMMAND, _SYMBOL, _MARK, _SPACE = range(1, 5)
# An exponent or index without brackets; in brackets `x^{2y}` is not `x^2y`.
_BARE = re.compile(r"[-+−]?[0-9]+|[^\W\d_][\u0300-\u036f\u20d7]?|[′*+−°†-]")
# What stands in a root or below a fraction's bar without brackets.
_SINGLE = re.compile(r"[0-9.,]+|[d∂]?[^\W\d_][\u0300-\u036f\u20d7′]*|")
# What stands above a fraction's bar without brackets.
_PRODUCT = re.compile(r"[\w.,′°]*")
_FRACTION = re.compile("[0-9]+/[0-9]")
_ROOTS = {"": "√", "3": "∛", "4": "∜"}
_MAX_NESTED = 8


class _NotSimpleError(ValueError):
    """The formula needs more than a line."""


def in_a_line(tex: str) -> str:
    """Return a formula as plain text; "" for one that is not simple: matrices, long ones, unknown commands."""
    if len(tex) > LONGEST:
        return ""
    try:
        formula = _Formula(tex)
        text = formula.sequence(0)
    except _NotSimpleError:
        return ""
    return " ".join(text.split()).replace("( ", "(").replace(" )", ")")


class _Formula:
    def __init__(self, tex: str) -> None:
        self._tokens = [
            (match.lastindex, match[0].lstrip("\\") or match[0]) for match in _TOKEN.finditer(tex)
        ]
        if sum(len(match[0]) for match in _TOKEN.finditer(tex)) < len(tex):
            raise _NotSimpleError
        self._position = 0

    def sequence(self, depth: int) -> str:
        """Read up to the closing brace of the group, or to the end of the formula where `depth` is 0."""
        if depth > _MAX_NESTED:
            raise _NotSimpleError
        pieces: list[str] = []
        while self._position < len(self._tokens):
            token_kind, token = self._tokens[self._position]
            if token_kind == _MARK and token == "}":
                if not depth:
                    raise _NotSimpleError
                return "".join(pieces)
            piece = self._item(depth)
            if pieces and _joins_numbers(pieces[-1], piece, token_kind):
                pieces.append(" ")
            pieces.append(piece)
        if depth:
            raise _NotSimpleError
        return "".join(pieces)

    def _item(self, depth: int) -> str:
        token_kind, token = self._tokens[self._position]
        self._position += 1
        if token_kind == _COMMAND:
            return self._command(token, depth)
        if token_kind == _SYMBOL:
            return token if token in "{}%#&_$|" and token else " " if token in ",;:> " else ""
        if token_kind == _SPACE:
            return " "
        if token_kind != _MARK:
            return {"-": "−", "~": " ", "&": " "}.get(token, token)
        if token == "{":
            text = self.sequence(depth + 1)
            self._position += 1
            return text
        if token == "}":
            raise _NotSimpleError
        start = self._position
        text = self._argument(depth)
        if token == "^" and text in ("°", "′", "*"):
            return text
        needs_no_brackets = _BARE.fullmatch(text) or (text.isalpha() and self._is_word(start))
        return token + (text if needs_no_brackets else f"({text})")

    def _is_word(self, start: int) -> bool:
        r"""Whether the letters since a token are one word, as in `x_{\text{max}}`, and none follows directly."""
        is_wrapped = any(
            token_kind == _COMMAND and name in _WRAPPERS
            for token_kind, name in self._tokens[start : self._position]
        )
        return is_wrapped and not self._token().isalnum()

    def _argument(self, depth: int) -> str:
        return self._spaced_argument(depth).strip()

    def _spaced_argument(self, depth: int) -> str:
        while self._position < len(self._tokens) and self._tokens[self._position][0] == _SPACE:
            self._position += 1
        if self._position >= len(self._tokens) or depth >= _MAX_NESTED:
            raise _NotSimpleError
        return self._item(depth + 1)

    def _command(self, name: str, depth: int) -> str:
        if name in _NOTHING:
            return ""
        if name in _LETTERS:
            return _LETTERS[name]
        if name in _OPERATORS:
            return f" {_OPERATORS[name]} "
        if name in _WORDS:
            return f" {name}" if self._token() in ("(", "^", "_") else f" {name} "
        if name in _ACCENTS:
            text = self._argument(depth)
            if len(text) != 1:
                raise _NotSimpleError
            return text + _ACCENTS[name]
        if name in _TEXTS:
            return self._spaced_argument(depth)
        if name in _WRAPPERS:
            text = self._argument(depth)
            return _BLACKBOARD.get(text, text) if name == "mathbb" else text
        if name in ("frac", "tfrac", "dfrac"):
            numerator = self._argument(depth)
            numerator_text = numerator if _PRODUCT.fullmatch(numerator) else f"({numerator})"
            return f"{numerator_text}/{_bracketed(self._argument(depth))}"
        if name == "sqrt":
            degree = self._degree(depth)
            radicand = _bracketed(self._argument(depth))
            return (
                f"{radicand}^(1/{_bracketed(degree)})" if degree not in _ROOTS else _ROOTS[degree] + radicand
            )
        raise _NotSimpleError

    def _degree(self, depth: int) -> str:
        pieces: list[str] = []
        if self._token() == "[":
            self._position += 1
            while self._token() != "]":
                pieces.append(self._argument(depth))
            self._position += 1
        return "".join(pieces)

    def _token(self) -> str:
        return self._tokens[self._position][1] if self._position < len(self._tokens) else ""


def _joins_numbers(previous_piece: str, piece: str, token_kind: int | None) -> bool:
    """Whether two pieces side by side look like one number: `x^{2}3`, `3\\tfrac12`."""
    if not piece[:1].isdecimal() or not previous_piece[-1:].isalnum():
        return False
    if _FRACTION.match(piece):
        return True
    return previous_piece[-1].isdecimal() and (
        token_kind in (_COMMAND, _MARK) or previous_piece[0] in "^_" or "/" in previous_piece[1:]
    )


def _bracketed(text: str) -> str:
    return text if _SINGLE.fullmatch(text) else f"({text})"


_ARROWS = (("<=>", " ⇌ "), ("<->", " ↔ "), ("->", " → "), ("<-", " ← "))
_CHARGE = re.compile(r"\^\{([0-9]*[-+])\}")
_INDEX = re.compile(r"(?<=[\w)\]])_(?:\{(\w+)\}|(?=\w))")
_MASS = re.compile(r"(?<![\w)\]])\^(?:\{([0-9]+)\}|(?=[0-9]))")
_LINE_OF_CHEMISTRY = re.compile(r"[^\\{}_\[\]$]*(?:\[[^\\{}_\[\]$]*\][^\\{}_\[\]$]*)*")


def chemistry_in_a_line(formula: str) -> str:
    """Return a chemical formula as plain text, `SO4^2-` as "SO4^2−"; "" for one that needs more than a line.

    The markup is that of mhchem: https://mhchem.github.io/MathJax-mhchem/
    """
    if len(formula) > LONGEST or "->[" in formula:
        return ""
    for arrow, character in _ARROWS:
        formula = formula.replace(arrow, character)
    formula = _MASS.sub(r"\1", _INDEX.sub(r"\1", _CHARGE.sub(r"^\1", formula)))
    if not _LINE_OF_CHEMISTRY.fullmatch(formula):
        return ""
    return re.sub(r"(?<=[\w)\]^])-(?!\w)", "−", " ".join(formula.split()))
