"""Chinese criminal cases, each a JSON file `<query>/<document>.json` (LeCaRD, Ma et al., 2021; CAIL).

As documents: a candidate of several queries lies in several folders; the first folder by name counts. As a run: each
query's folder has its candidates; their order has no meaning, and all have the score 0.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from irpretrain.config.base import Section, option
from irpretrain.corpora.checked import NoOptions, document, read_json, retrieved
from irpretrain.corpora.formats.cord19 import REPEATED
from irpretrain.corpora.registry import Format
from irpretrain.foundation.records import WHOLE_FILE, AnyDocument, Malformed, Retrieved, Share, Skipped

# Key of the case's name.
TITLE = "ajName"


class LecardDocumentOptions(Section):
    """Options of the format lecard."""

    body_fields: list[str] = option(
        ["qw"],
        "Texts: qw is the whole judgement, ajjbqk the facts, cpfxgc the reasoning, pjjg the sentence.",
        min_length=1,
    )


def read_documents(
    path: Path, options: LecardDocumentOptions, share: Share = WHOLE_FILE
) -> Iterator[AnyDocument]:
    """Yield the case of one file, at position 0."""
    if not share(0):
        return
    identifier = path.name.partition(".")[0]
    if _first_folders(path.parent.parent).get(identifier, path.parent.name) < path.parent.name:
        yield Skipped(0, REPEATED)
    else:
        yield _document(identifier, path, options)


def _document(identifier: str, path: Path, options: LecardDocumentOptions) -> AnyDocument:
    content = read_json(path)
    if isinstance(content, Malformed):
        return replace(content, loses_more=False)  # a file holds one case
    record = content if isinstance(content, dict) else {}
    title, *fields = (record.get(name) for name in (TITLE, *options.body_fields))
    texts = [text.strip() for text in fields if isinstance(text, str)]
    if not isinstance(title, str) or len(texts) < len(fields):
        required = ", ".join([TITLE, *options.body_fields])
        return Malformed(0, "no text", f"case {identifier} must have the texts {required}")
    return document(0, identifier, title, "\n".join(filter(None, texts)))


@lru_cache(maxsize=4)
def _first_folders(folder: Path) -> dict[str, str]:
    folders: dict[str, str] = {}
    for query_folder in sorted(path for path in folder.iterdir() if path.is_dir()):
        for case_file in query_folder.iterdir():
            folders.setdefault(case_file.name.partition(".")[0], query_folder.name)
    return folders


def read_runs(path: Path, options: NoOptions) -> Iterator[Retrieved | Malformed]:
    """Yield the one candidate of a file's name; the file is not opened."""
    yield retrieved(path.parent.name, path.name.partition(".")[0], None, "0", 0, None)


DOCUMENTS = Format(LecardDocumentOptions, read_documents, suffixes=(".json",))
RUNS = Format(NoOptions, read_runs, suffixes=(".json",))
