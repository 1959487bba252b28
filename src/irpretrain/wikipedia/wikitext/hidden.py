"""First step: comments, templates and elements that are no prose go; what a few templates show takes their place.

One scan over the tokens that matter. Its rules are MediaWiki's preprocessor's: what opens last closes first, an element
such as <ref> ends at the first closing tag, an unclosed comment reaches to the end of the page.
https://www.mediawiki.org/wiki/Preprocessor_ABNF
"""

import re
from functools import cache
from html import unescape

from irpretrain.wikipedia.wikitext.arguments import split_arguments
from irpretrain.wikipedia.wikitext.formulas import chemistry_in_a_line, in_a_line
from irpretrain.wikipedia.wikitext.images import PageRendering, caption_in_gallery, cut_at_bars
from irpretrain.wikipedia.wikitext.marks import BAR, BREAK, DROPPED, EQUAL, FRACTION, NOTHING
from irpretrain.wikipedia.wikitext.prose import (
    LONGEST,
    LONGEST_BEFORE,
    follows_prose,
    foreign_words,
    is_within_sentence,
    quotation,
    starts_line,
    words_in_sentence,
)
from irpretrain.wikipedia.wikitext.quantities import LONGEST_AMOUNT, amount, unit_behind
from irpretrain.wikipedia.wikitext.templates import DISAMBIGUATION, Templates

# Of MediaWiki's preprocessor: what stands in their opening tag, a `<` too, reaches to the first `>`.
DROPPED_ELEMENTS = (
    "ref|references|gallery|math|chem|ce|timeline|score|imagemap|templatestyles|templatedata|syntaxhighlight|source|graph|"
    "mapframe|maplink|hiero|inputbox|includeonly|indicator|categorytree"
)
LITERAL_ELEMENTS = "nowiki|pre"
# Their tags vanish before lines are read, so that a heading or a table may follow them.
INCLUSION_ELEMENTS = "noinclude|onlyinclude|translate|tvar"
# Templates within each other that are still shown; MediaWiki's own limit. It bounds the cost of nested ones.
DEEPEST = 40
# Marks a link among open braces.
_LINK = -1

# Arguments without a template in them, in which every link is closed.
_SIMPLE_ARGUMENTS_PATTERN = r"\|(?>(?:[^{}<\[]++|\[(?!\[)|\[\[[^{}<\[\]]*+\]\])*)"
_CLOSED_LINKS = re.compile(r"(?>(?:[^\[]++|\[(?!\[)|\[\[[^\[\]]*+\]\])*)")
_BRACKETS = re.compile(r"\[\[++|\]\]++")
# The first character as a set of its own: with groups in its place, re.search takes four times as long.
_TOKEN = re.compile(
    r"[{}<](?:(?<=\{)\{(?:([^{}<|\[]*+)"
    rf"({_SIMPLE_ARGUMENTS_PATTERN})?\}}\}}|(\{{*+))"  # the first: a template without anything in it
    r"|(?<=\})(\}++)|(?<=<)(?:(!--)"
    r"|((?i:ref)(?=[\s/>])[^<>]*+(?:(?<=/)>|>[^<]*+</ref>))"  # without a tag in it
    rf"|((?i:{DROPPED_ELEMENTS}|{LITERAL_ELEMENTS}))(?=[\s/>])"
    r"|((?i:table))(?=[\s/>])[^<>]*+>"
    rf"|(/?(?i:{INCLUSION_ELEMENTS})(?=[\s/>])[^<>]*+>)))"
)
_SIMPLE, _SIMPLE_ARGUMENTS, _OPEN, _CLOSE, _COMMENT, _REFERENCE, _ELEMENT, _TABLE, _INCLUSION = range(1, 10)
_FORMULAS = {"math": in_a_line, "chem": chemistry_in_a_line, "ce": chemistry_in_a_line}
_COUNTED_ELEMENTS = frozenset({*_FORMULAS, "gallery", "table"})
_LITERAL_NAMES = LITERAL_ELEMENTS.split("|")
# What may follow a template at the beginning of a line that shows no text in that line, such as an infobox.
_AFTER_SEPARATE_LINE = frozenset(" \t\n{*#:;=|![<")
_BLANKS = re.compile(r"[ \t]*+")
# A line of a table behind a template on a line of its own.
_ROW = re.compile(r"[ \t]*+\n[ \t]*+(?:\|(?!\||\}\})|!(?!!))")
_ALONE = re.compile(r"[ \t]*+(?:\n|\Z)")
_INDENT = f" \t:*#{DROPPED}{NOTHING}"
_OPENING_BRACKETS = ("(", "[", "（")
_REFERENCE_OR_END = re.compile(r"[)\]）]|<ref[\s>]", re.IGNORECASE)
_FRACTION = re.compile("[0-9]+/[0-9]")
_MARKUP = frozenset(f"'>]{NOTHING}")
_NOWIKI = re.compile("<(?i:nowiki)>")
_NOWIKI_END = re.compile("</(?i:nowiki)>")
_LITERAL = str.maketrans({character: f"&#{ord(character)};" for character in "[]{}|<>'=_:"})
_UNCUT_MARKS = str.maketrans({"|": BAR, "=": EQUAL})


def remove_hidden(text: str, templates: Templates, page: PageRendering | None = None) -> str:
    """Return `text` without comments, templates (but see `templates`), arguments and elements that are no prose.

    Formulas are shown that can be written in a line, and captions of galleries if `page` keeps them.
    What <nowiki> and <pre> protect is written as character references, so that no later step takes it for markup.
    """
    return _Scan(text, templates, page or PageRendering()).run()


class _Scan:
    """The scan over one page. `output` is the text so far; open templates know where they began in it."""

    def __init__(self, text: str, templates: Templates, page: PageRendering) -> None:
        self.text, self.templates, self.page = text, templates, page
        self.output: list[str] = []
        # Of each: braces that are not closed yet, index of `output` that is kept for them; or `_LINK` and the brackets
        # of a link within a template, which closes before the template does.
        self.open_brackets: list[list[int]] = []
        self.open_link_count = 0  # how many of them are links
        self.unclosed_elements: set[str] = set()  # elements without a closing tag from here on
        self.no_tag_ends = False  # whether no tag ends from here on
        self.checked_piece: str | None = None  # the piece that `ends_with_line_start` is about
        self.ends_with_line_start = False

    def run(self) -> str:
        text, output, pattern_of, search = self.text, self.output, self.templates.pattern, _TOKEN.search
        position = 0
        while token := search(text, position):
            start = token.start()
            if start > position:
                output.append(text[position:start])
                if self.open_brackets:
                    self._follow_links(output[-1])
            position = token.end()
            token_kind = token.lastindex or 0
            if token_kind <= _SIMPLE_ARGUMENTS:
                pattern, arguments = pattern_of(token[1]), token[2] or ""
                result = None
                if (pattern or (arguments and pattern is None)) and self._depth < DEEPEST:
                    result = self._call(pattern, token[1], arguments[1:], position, len(output))
                if result is not None:
                    self._add(result)
                elif output and output[-1][-1:] == "\n":
                    position = self._drop(position)
                else:
                    output.append(DROPPED)
            elif token_kind == _REFERENCE:
                position = self._drop_element("ref", position)
            elif token_kind == _OPEN:
                self.open_brackets.append([position - start, len(output)])
                output.append("")
            elif token_kind == _CLOSE:
                position = self._close(position - start, position)
            elif token_kind == _COMMENT:
                position = self._comments(position)
            elif token_kind == _ELEMENT:
                position = self._extension(token, start, position)
            elif token_kind == _TABLE:
                is_empty = token[0].endswith("/>")
                position = self._drop(position) if is_empty else self._element("table", start, position)
        output.append(text[position:])
        for open_brace_count, index in self.open_brackets:
            if open_brace_count != _LINK:
                output[index] = "{" * open_brace_count
        return "".join(output).replace(BAR, "|").replace(EQUAL, "=")

    @property
    def _depth(self) -> int:
        """How many templates are open."""
        return len(self.open_brackets) - self.open_link_count

    def _follow_links(self, piece: str) -> None:
        """Open and close the links of a piece of text within a template."""
        is_link = self.open_brackets[-1][0] == _LINK
        if ("]]" if is_link else "[[") not in piece or (not is_link and _CLOSED_LINKS.fullmatch(piece)):
            return
        for run in _BRACKETS.finditer(piece):
            length = len(run[0])
            if run[0][0] == "[":
                self.open_brackets.append([_LINK, length])
                self.open_link_count += 1
                continue
            while length >= 2 and self.open_brackets[-1][0] == _LINK:
                length -= 2
                self.open_brackets[-1][1] -= 2
                if self.open_brackets[-1][1] < 2:
                    self.open_brackets.pop()
                    self.open_link_count -= 1

    def _last_character(self) -> str:
        """Return the character that is shown last; "" at the beginning and behind opening braces."""
        return self.output[-1][-1:] if self.output else ""

    def _add(self, rendered: str) -> None:
        rendered = self._spaced_fraction(rendered)
        if "'" in rendered[:1] + rendered[-1:]:
            rendered = NOTHING + rendered + NOTHING
        self.output.append(rendered.translate(_UNCUT_MARKS) if self.open_brackets else rendered)

    def _spaced_fraction(self, rendered: str) -> str:
        """Keep a fraction apart from a digit before it; markup may be between."""
        if "/" in rendered and _FRACTION.match(rendered):
            previous_character = self._last_character()
            return (
                " " if previous_character.isdecimal() else FRACTION if previous_character in _MARKUP else ""
            ) + rendered
        return rendered

    def _drop(self, position: int) -> int:
        if self._last_character() != "\n" or self.text[position : position + 1] not in _AFTER_SEPARATE_LINE:
            self.output.append(DROPPED)
            return position
        if _ROW.match(self.text, position):
            self.output.append("{|")  # it opens a table
        return self._after_blanks(position)  # else the line would begin with a space: preformatted text

    def _after_blanks(self, position: int) -> int:
        blanks = _BLANKS.match(self.text, position)
        return blanks.end() if blanks else position

    def _comments(self, position: int) -> int:
        """Return where to go on behind a run of comments; lines that hold nothing else go."""
        text, blanks_between = self.text, ""
        while (end := text.find("-->", position)) >= 0:
            position = end + len("-->")
            after_blanks = self._after_blanks(position)
            if text.startswith("<!--", after_blanks):
                blanks_between = blanks_between or text[position:after_blanks]
                position = after_blanks + len("<!--")
                continue
            if text[after_blanks : after_blanks + 1] == "\n" and self._at_line_start():
                self.output[-1] = self.output[-1].rstrip(" \t")
                return after_blanks + 1
            self.output += [blanks_between] if blanks_between else []
            return position
        return len(text)

    def _at_line_start(self) -> bool:
        """Whether nothing but blanks is shown of the line; each piece that is shown is looked at once."""
        if not self.output:
            return False
        if self.output[-1] is not self.checked_piece:
            self.checked_piece = self.output[-1]
            self.ends_with_line_start = self.checked_piece.rstrip(" \t")[-1:] == "\n"
        return self.ends_with_line_start

    def _close(self, braces: int, position: int) -> int:
        output = self.output
        while braces >= 2 and self.open_brackets and self.open_brackets[-1][0] != _LINK:
            open_call = self.open_brackets[-1]
            index = open_call[1]
            closed_braces = 3 if braces >= 3 and open_call[0] >= 3 else 2
            is_too_deep = self._depth + open_call[0] // 2 > DEEPEST
            if is_too_deep:
                result = None
            elif closed_braces == 2:
                result = self._show(index + 1, position)
            else:
                result = self._default(index + 1)
            del output[index:]
            braces -= closed_braces
            open_call[0] -= closed_braces
            if open_call[0]:
                output.append("{" if open_call[0] == 1 else "")
            if open_call[0] < 2:
                self.open_brackets.pop()
            if result is None:
                position = self._drop(position)
            else:
                self._add(result)
        if braces:
            output.append("}" * braces)
        return position

    def _default(self, first_piece: int) -> str | None:
        default_parts = cut_at_bars("".join(self.output[first_piece:]))
        return default_parts[1] if len(default_parts) > 1 else None

    def _show(self, first_piece: int, position: int) -> str | None:
        """Return what a template shows whose call ends at `position` and begins at an index of `output`; None:
        nothing."""
        name = self.output[first_piece].partition("|")[0] if first_piece < len(self.output) else ""
        pattern = self.templates.pattern(name)
        if pattern == "":
            return None
        name, _, arguments = "".join(self.output[first_piece:]).partition("|")
        return self._call(pattern, name, arguments, position, first_piece - 1)

    def _call(self, pattern: str | None, name: str, arguments: str, position: int, index: int) -> str | None:
        """Return what a call shows that ends at `position` and begins at an index of `output`; None: nothing."""
        if pattern == DISAMBIGUATION:
            self.page.disambiguation = True
            return None
        unit = self.templates.unit(pattern)
        if pattern and not unit:
            return self.templates.show(pattern, name, arguments) or None
        if not arguments:
            return unit_behind(self._text_before(index, LONGEST_AMOUNT), unit) or None
        if len(arguments) > LONGEST:
            return None
        text_before = self._text_before(index, LONGEST_BEFORE)
        is_alone_on_line = _ALONE.match(self.text, position) is not None
        in_sentence = not (is_alone_on_line and starts_line(text_before))
        is_quotation = (
            is_alone_on_line
            and not text_before.rpartition("\n")[2].strip(_INDENT)
            and follows_prose(text_before)
        )
        if not (in_sentence or is_quotation):  # most of them: before the arguments are read
            return None
        parameters, calendar = split_arguments(arguments), self.templates.calendar
        if in_sentence:
            words = calendar.date(parameters) if calendar.is_date(parameters) else amount(unit, parameters)
            words = words or words_in_sentence(parameters, arguments)
            words = words or foreign_words(name, parameters, self.templates.languages)
            if words and is_within_sentence(text_before, words, self.text, position):
                return words
        if is_quotation and quotation(parameters, calendar):
            return self.templates.show("@quote 0", name, arguments)
        return None

    def _text_before(self, index: int, length: int) -> str:
        pieces: list[str] = []
        for piece in reversed(self.output[max(0, index - length) : index]):
            pieces.append(piece[-length:])
            length -= len(piece)
            if length <= 0:
                break
        return "".join(reversed(pieces))

    def _extension(self, tag: re.Match[str], start: int, position: int) -> int:
        end = -1 if self.no_tag_ends else self.text.find(">", position)
        if end < 0:
            self.no_tag_ends = True
            self.output.append(tag[0])
            return position
        name = tag[_ELEMENT].lower()
        if self.text[end - 1] != "/":
            return self._element(name, start, end + 1)
        if name in _LITERAL_NAMES:
            self.output.append(NOTHING)
            return end + 1
        return self._drop_element(name, end + 1)

    def _element(self, name: str, start: int, position: int) -> int:
        if name not in self.unclosed_elements:
            content_end, element_end = _end(self.text, name, position)
            if element_end >= 0:
                if name in _LITERAL_NAMES:
                    self.output.append(_literal(name, self.text[position:content_end]))
                    return element_end
                if name in _COUNTED_ELEMENTS:
                    return self._part(name, position, content_end, element_end)
                return self._drop_element(name, element_end)
            self.unclosed_elements.add(name)
        position = start + 1 + len(name)
        self.output.append(self.text[start:position])
        return position

    def _part(self, name: str, position: int, content_end: int, element_end: int) -> int:
        """Deal with a formula, gallery or table whose content is between `position` and `content_end`; return
        `element_end` or beyond."""
        content = self.text[position:content_end]
        if name in _FORMULAS:
            formula = _FORMULAS[name](unescape(content))
            self.page.count("formulas", bool(formula))
            if formula := formula or self.page.rendering.formula_word:
                self.output.append(_literal("nowiki", self._spaced_fraction(formula)))
                return element_end
        elif name == "table":
            self.page.count("tables", False)
        else:
            if self.page.keeps("galleries"):
                lines = remove_hidden(content, self.templates, self.page).split("\n")
                captions = (caption_in_gallery(line, self.page.images) for line in lines)
                self._add("".join(f"\n\n{caption}" for caption in captions if caption) + "\n\n")
                return element_end
        return self._drop_element(name, element_end)

    def _drop_element(self, name: str, position: int) -> int:
        if name != "ref":
            return self._drop(position)
        # A reference is a mark in the line, not a gap: what stands around it stays, and so does its line. What stands
        # alone in brackets is a gap.
        output = self.output
        if self._last_character() in _OPENING_BRACKETS and _REFERENCE_OR_END.match(self.text, position):
            return self._drop(position)
        if output and output[-1] and output[-1][-1] in "'\n]=":
            output.append(NOTHING)
        return position


@cache
def _tags(name: str) -> re.Pattern[str]:
    """Return what finds the tags that an element's end depends on: only tables stand in each other."""
    return re.compile(r"<(/?)(?i:table)(?=[\s/>])[^<>]*+>" if name == "table" else rf"<(/)(?i:{name})\s*>")


def _end(text: str, name: str, position: int) -> tuple[int, int]:
    depth = 1
    for tag in _tags(name).finditer(text, position):
        depth += -1 if tag[1] else 1
        if not depth:
            return tag.span()
    return -1, -1


def _literal(name: str, content: str) -> str:
    if name == "nowiki":
        return f"{NOTHING}{content.translate(_LITERAL)}{NOTHING}".replace("\n", "\n" + NOTHING)
    output = _without_nowiki(content).translate(_LITERAL)
    return f"{BREAK}{output}{BREAK}".replace("\n", BREAK)


def _without_nowiki(content: str) -> str:
    """Return the content of <pre> without pairs of <nowiki> and </nowiki>; a lone tag is text."""
    pieces, position = [], 0
    for end in _NOWIKI_END.finditer(content):
        if start := _NOWIKI.search(content, position, end.start()):
            pieces += [content[position : start.start()], content[start.end() : end.start()]]
            position = end.end()
    return "".join([*pieces, content[position:]])
