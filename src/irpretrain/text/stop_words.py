"""Stop lists: words that are never drawn and do not count in document length.

The lists lie in `resources/stopwords`; their sources are in its README. An entry with an apostrophe is cut as any
text is, and each of its pieces is a stop word: INQUERY's only one, "doesn't", removes "doesn" and "t", so its 418
entries are 419 words. NLTK lists the pieces of its contractions itself.

Options name lists of English. In another language every name but `none` stands for that language's own list
(resources/languages.yaml), and a language without a list has no stop words.
"""

from pathlib import Path
from typing import Literal

from irpretrain.errors import IntegrityError, SetupError
from irpretrain.resources import resources_directory
from irpretrain.text.languages import ENGLISH, language
from irpretrain.text.words import find_words, word_kind

StopList = Literal["none", "inquery", "nltk+inquery"]
ENTRIES = {"inquery": 418, "nltk": 179}
"""Number of entries that each file must have."""


def load_stop_words(
    name: str,
    resources: str | Path | None = None,
    *,
    whole: bool = False,
    language_name: str = ENGLISH,
) -> frozenset[str]:
    """Return the stop words of a list, or of two lists joined by `+`.

    Args:
        name: none, inquery or nltk+inquery.
        resources: the project's resources directory; by default the one beside the package's source.
        whole: give entries with an apostrophe as they stand too, beside their pieces.
        language_name: language of the words.

    Raises:
        SetupError: the file is not there.
        IntegrityError: the file does not have the number of entries that it should.
    """
    if name == "none":
        return frozenset()
    directory = Path(resources) if resources is not None else resources_directory()
    if language_name == ENGLISH:
        entries_of = {f"{part}.txt": ENTRIES[part] for part in name.split("+")}
    else:
        stop_list = language(language_name).stop_list
        entries_of = {stop_list.file: stop_list.entries} if stop_list else {}
    entries = [
        entry
        for file, number in entries_of.items()
        for entry in _read(directory / "stopwords" / file, number)
    ]
    kind = word_kind("alphanumeric", language_name)
    pieces = frozenset(word for entry in entries for word in find_words(entry, kind))
    return pieces.union(entries) if whole else pieces


def _read(path: Path, expected: int) -> list[str]:
    if not path.exists():
        raise SetupError(
            f"{path}: there is no such stop list; run from the project's folder or name its resources/"
        )
    entries = path.read_text(encoding="utf-8").split()
    if len(entries) != expected or len(set(entries)) != expected:
        raise IntegrityError(
            path,
            f"this stop list should have {expected} different entries, but has {len(set(entries))}",
            remedy="Restore the file from the repository.",
        )
    return entries
