"""Format `cord19`: CORD-19 (Wang et al., 2020): a table of papers, metadata.csv, and one JSON file per parsed full
text.

A paper's title and abstract are its document, as in TREC-COVID; with `text: full` the parsed text follows the abstract.
A paper with several sources has several rows; the first counts.
"""

import csv
import io
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

from irpretrain.config.base import Section, option
from irpretrain.corpora.characters import clean_line, identifier_fault
from irpretrain.corpora.checked import document, several_in_one
from irpretrain.corpora.fields import repeated_names
from irpretrain.corpora.files import DAMAGE, GET_AGAIN, damage_text, open_bytes
from irpretrain.corpora.records import AnyDocument, Malformed, Share, Skipped, everything, most_bytes
from irpretrain.corpora.registry import Format
from irpretrain.foundation.atomic import parse_json

NEEDED = ("cord_uid", "title", "abstract")

# Begins a row: every cord_uid has eight letters and digits.
_ROW = re.compile("^[0-9a-z]{8},", re.MULTILINE)
REPEATED = "repeated identifier"


class Cord19DocumentOptions(Section):
    """Options of the format cord19."""

    text: Literal["abstract", "full"] = option(
        "abstract",
        "full: with the parsed full text, as the release unpacks it beside metadata.csv.",
    )


def folders_beside(path: Path, options: Cord19DocumentOptions) -> list[Path]:
    """Return the folders of parses beside a table, `*/pdf_json` and `*/pmc_json` in every release."""
    names = ("pdf_json", "pmc_json") if options.text == "full" else ()
    return [folder for name in names for folder in sorted(path.parent.glob(f"*/{name}"))]


def read(path: Path, options: Cord19DocumentOptions, share: Share = everything) -> Iterator[AnyDocument]:
    """Yield the papers of one table; a position is the number of the row behind the header."""
    seen = set[str]()
    for row in _rows(path):
        if isinstance(row, Malformed):
            if share(row.position):
                yield row
            continue
        position, line, cells = row
        identifier = cells["cord_uid"]
        repeated = identifier in seen
        seen.add(identifier)
        if share(position):
            yield Skipped(position, REPEATED) if repeated else _document(path, position, line, cells, options)


def _rows(path: Path) -> Iterator[tuple[int, int, dict[str, str]] | Malformed]:
    """Yield (position, line, cells by column) of every row; a fault of the file ends it."""
    position, columns = -1, list[str]()
    # A process reads one table at a time; the limit is the module's own and holds for all of its readers.
    csv.field_size_limit(most_bytes())
    with open_bytes(path) as stream, io.TextIOWrapper(stream, "utf-8-sig", newline="") as text:
        table = csv.reader(iter(partial(text.readline, most_bytes()), ""), strict=True)
        try:
            for cells in table:
                if position < 0:
                    position, columns = 0, [name.lstrip("\ufeff").strip() for name in cells]
                    if missing := [name for name in NEEDED if name not in columns]:
                        detail = f"there is no column {missing[0]}; there are {', '.join(columns[:20])}"
                        yield Malformed(0, "no table of CORD-19", clean_line(detail)[:300], 1)
                        return
                    if repeated := repeated_names(columns):
                        detail = f"its header names a column twice: {clean_line(repeated[0])[:80]}"
                        yield Malformed(0, "no table of CORD-19", detail, 1)
                        return
                elif len(cells) != len(columns):
                    detail = f"{len(cells)} instead of {len(columns)}"
                    yield Malformed(position, "wrong number of columns", detail, table.line_num)
                    position += 1
                elif rows := sum(len(_ROW.findall(cell)) for cell in cells if "\n" in cell):
                    yield several_in_one(position, rows + 1, "<cord_uid>,", table.line_num)
                    position += 1
                else:
                    yield position, table.line_num, dict(zip(columns, cells, strict=True))
                    position += 1
        except csv.Error as error:
            reason, detail = "broken CSV", str(error)
        except UnicodeDecodeError as error:
            reason, detail = "not valid UTF-8", str(error)
        except DAMAGE as error:
            reason, detail = "damaged archive", damage_text(path, error)
        else:
            if position < 0:
                yield Malformed(0, "no table of CORD-19", "the file is empty", 1)
            return
        line = table.line_num + 1
        yield Malformed(max(position, 0), reason, detail, line, remedy=GET_AGAIN, loses_more=True)


def _document(
    path: Path, position: int, line: int, cells: dict[str, str], options: Cord19DocumentOptions
) -> AnyDocument:
    identifier = cells["cord_uid"]
    if fault := identifier_fault(identifier):
        return Malformed(position, "bad identifier", fault, line)
    parts = [cells["abstract"]]
    if options.text == "full" and (name := _parse_of(cells)):
        full = _full_text(path.parent, name)
        if isinstance(full, str):
            return Malformed(position, "no full text", f"{identifier}: {full}", line)
        parts += full
    url, body = cells.get("url", "").split(";")[0], "\n".join(filter(str.strip, parts))
    return document(position, identifier, cells["title"], body, url, line)


def _parse_of(cells: dict[str, str]) -> str:
    """Return the path of a paper's parse from its row; empty if it has none."""
    # Releases from 12 May 2020 on have columns of paths; before, a folder and the identifiers in the file names.
    for column in ("pmc_json_files", "pdf_json_files"):
        if path := cells.get(column, "").split(";")[0].strip():
            return path
    folder = cells.get("full_text_file", "").strip()
    if folder and cells.get("has_pmc_xml_parse", "").strip() == "True":
        return f"{folder}/pmc_json/{cells.get('pmcid', '').strip()}.xml.json"
    if folder and cells.get("has_pdf_parse", "").strip() == "True":
        return f"{folder}/pdf_json/{cells.get('sha', '').split(';')[0].strip()}.json"
    return ""


def _full_text(folder: Path, name: str) -> list[str] | str:
    """Return the paragraphs of a parse, each under its heading where that changes; or why there are none."""
    try:
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            return f"{name[:80]!r} leads out of the folder of metadata.csv"
        parse = parse_json(path.read_bytes())
    except FileNotFoundError:
        return f"there is no file {name[:120]}"
    except (OSError, ValueError, RecursionError) as error:
        return f"{name[:120]}: {' '.join(str(error).split())}"
    body: Any = parse.get("body_text") if isinstance(parse, dict) else None
    if not isinstance(body, list):
        return f"{name[:120]} has no list body_text"
    paragraphs, heading = list[str](), ""
    for paragraph in body:
        text = paragraph.get("text") if isinstance(paragraph, dict) else None
        section = paragraph.get("section", "") if isinstance(paragraph, dict) else ""
        if not isinstance(text, str) or not isinstance(section, str | None):
            return f"{name[:120]} has a paragraph without text"
        if section and section != heading:
            paragraphs.append(section)
        heading = section or heading
        paragraphs.append(text)
    return paragraphs


DOCUMENTS = Format(Cord19DocumentOptions, read, suffixes=(".csv",), folders_beside=folders_beside)
