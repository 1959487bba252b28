"""Which files a source has: those of a folder by their endings or by patterns, and what it must not hold besides."""

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from irpretrain.corpora.registry import format_of
from irpretrain.foundation.errors import InputError, cli_or_api
from irpretrain.foundation.files import COMPRESSIONS, refuse_pipe

# Ends names of files in other packings, in several, or with other names than `COMPRESSIONS`, and of parts of files.
_UNREAD_ENDING = re.compile(
    r"(?:\.(?:zip|7z|rar|ace|arj|cab|tar|tgz|taz|tbz2?|txz|tlz|tzst|lz4|lz|lzma|lzo|lrz|br|sz|snappy|z|gzip|gz|bzip2|bz2|xz"
    r"|zstd|zst|part[0-9]*|[0-9]{1,5}))+$",
    re.IGNORECASE,
)

# What names of Wikipedia's dumps in many parts have after .xml: the first and the last page.
_PAGE_RANGE = re.compile(r"(?<=\.xml)-p\d+p\d+[^.]*")


def list_files(
    source: str | Path, suffixes: Sequence[str], patterns: Sequence[str] | None = None
) -> list[Path]:
    """Return the files of `source` in the order that numbers the parts of a corpus.

    A file is taken whatever its name; `patterns` beside it are refused. Of a folder and its sub-folders, files with one
    of `suffixes` (a suffix of compression may follow), or those whose relative path fits one of `patterns` (`*` is
    anything but /, `**/` any folders; any case), sorted by relative path (code points). Names that begin with a dot are
    hidden.
    """
    source = Path(source)
    if _is_file(source):
        if patterns is not None:
            remedy = "Leave `files` out (null, over an entry that has it), or give the folder as the path."
            raise InputError(source, "it is a file, and `files` chooses files of a folder", remedy=remedy)
        return [source]
    if not source.is_dir():
        refuse_pipe(source)
        raise InputError(source, "there is no such file or folder", remedy="Check the path.")
    matches = _by_suffix(suffixes) if patterns is None else _by_pattern(patterns)
    matching_paths = [path for path in _walk(source) if matches(path.relative_to(source))]
    for path in matching_paths:
        if path.is_symlink() and not path.exists():
            remedy = "Mend the link, or delete it if the file is not meant to count."
            raise InputError(path, "this link leads nowhere", remedy=remedy)
    if patterns is None:
        _refuse_unread(source, suffixes, set(matching_paths))
    paths = [path for path in matching_paths if path.is_file()]
    if not paths:
        requirement = (
            ("" if "" in suffixes else f" that ends in {', '.join(suffixes)} (compressed or not)")
            if patterns is None
            else f" that fits {' or '.join(patterns)}"
        )
        raise InputError(
            source,
            f"the folder holds no file{requirement}",
            remedy="Check the path and the format, or give a file.",
        )
    return sorted(paths, key=lambda path: path.relative_to(source).as_posix())


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # its name is too long, a folder on the way to it cannot be entered
        raise InputError(path, error.strerror or str(error), remedy="Check the path.") from None


# What a file or folder holds → words of the usual names, the most telling first. < or >: no letter before or after it.
_ROLE_WORDS = {
    "qrels": r"qrel|judge?ment|<(?:relevance|judged)>|\.rel>",
    "topics": r"queries|questions|topics|<(?:train|dev|test)?(?:query|question|topic)>|\.(?:qry|que)>",
    "runs": r"<top1000?>",  # first stages of MS MARCO, such as top1000.dev.tsv
    "documents": r"document|docs|corpus|collection|passage|article|<(?:full)?texts?>|\.all>",
}
_ROLE_PATTERNS = {
    role: re.compile(words.replace("<", "(?<![a-z])").replace(">", "(?![a-z])"))
    for role, words in _ROLE_WORDS.items()
}
# Where a word of CamelCase or TRECCase begins.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def role_of(name: str) -> str | None:
    """Return what the name of a file or folder says that it holds: qrels, topics, runs, documents."""
    words = _HUMP.sub("-", name).lower()
    return next((role for role, pattern in _ROLE_PATTERNS.items() if pattern.search(words)), None)


def document_files(source: str | Path, format_name: str, patterns: Sequence[str] | None = None) -> list[Path]:
    """Return the files of documents as `list_files` does.

    Raises:
        InputError: as in `list_files`; or, without patterns, as in `refuse_topics`.
    """
    paths = list_files(source, format_of("documents", format_name).suffixes, patterns)
    if patterns is None:
        refuse_topics(source, paths)
    return paths


def refuse_topics(source: str | Path, paths: Sequence[Path]) -> None:
    """Raise InputError where some files of a folder are named like topics, judgements or runs, others are not.

    The file's own name counts first, then its folders from the innermost.
    """
    if len(paths) == 1:
        return
    documents: list[Path] = []
    other_files: list[Path] = []
    for path in paths:
        relative_path = path.relative_to(source)
        role = next(filter(None, map(role_of, reversed(relative_path.parts))), "documents")
        (documents if role == "documents" else other_files).append(relative_path)
    if documents and other_files:
        fault = f"{other_files[0]} is named like topics, judgements or a run, {documents[0]} is not"
        remedy = f"Put the documents into a folder of their own, or {files_option_advice()}."
        raise InputError(source, fault, remedy=remedy)


def files_option_advice() -> str:
    """Return how to say which files of a folder are documents, in a message's imperative."""
    return "name the files that count: " + cli_or_api(
        "files: [PATTERN, …] of the corpus, files=[PATTERN, …] in Python", "--option 'files=[PATTERN, …]'"
    )


def _refuse_unread(source: Path, suffixes: Sequence[str], matching_paths: Collection[Path]) -> None:
    """Raise InputError where a file of the format lies in the folder alone in a packing or in parts not read."""
    endings = tuple(filter(None, suffixes))
    for path in sorted(_walk(source)):
        unpacked = path.with_name(_UNREAD_ENDING.sub("", path.name) or path.name)
        if path in matching_paths or unpacked == path or unpacked in matching_paths:
            continue
        if _PAGE_RANGE.sub("", unpacked.name.lower()).endswith(endings):
            raise InputError(
                path,
                "files whose names end like this one are not read, and it would be left out",
                remedy=f"Unpack, join or rename it, or {files_option_advice()}.",
            )


def _walk(folder: Path) -> Iterator[Path]:
    seen_folders = set[tuple[int, int]]()
    for folder_path, folders, names in os.walk(folder, onerror=_refuse_folder, followlinks=True):
        status = os.stat(folder_path)
        if (status.st_dev, status.st_ino) in seen_folders:  # a link that leads back up
            folders.clear()
            continue
        seen_folders.add((status.st_dev, status.st_ino))
        # Of two ways to a folder, the first by name counts, whatever the order of the file system.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(folder_path) / name for name in names if not name.startswith("."))


def _refuse_folder(error: OSError) -> None:
    remedy = "Make it readable (chmod u+rx), or move it elsewhere if its files are not meant to count."
    raise InputError(error.filename, f"the folder cannot be read: {error.strerror or error}", remedy=remedy)


def _by_suffix(suffixes: Sequence[str]) -> Callable[[Path], bool]:
    endings = tuple(suffix + compression for suffix in suffixes for compression in ("", *COMPRESSIONS))
    return lambda path: _PAGE_RANGE.sub("", path.name.lower()).endswith(endings)


def _by_pattern(patterns: Sequence[str]) -> Callable[[Path], bool]:
    expression_of_wildcard = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    expressions = [
        re.compile(
            re.sub(
                r"\*\*/|.",
                lambda wildcard: expression_of_wildcard.get(wildcard[0], re.escape(wildcard[0])),
                pattern,
            ),
            re.IGNORECASE,
        )
        for pattern in patterns
    ]
    return lambda path: any(expression.fullmatch(path.as_posix()) for expression in expressions)


def files_of_sources(sources: str | Path | Sequence[str | Path], suffixes: Sequence[str]) -> list[Path]:
    """Return the files of topics, judgements or a run: a source is a file, or a folder for formats with `suffixes`."""
    source_list = [sources] if isinstance(sources, str | Path) else sources
    return [
        path
        for source in source_list
        for path in (
            list_files(source, suffixes) if suffixes and os.path.isdir(source) else [require_file(source)]
        )
    ]


def require_file(source: str | Path) -> Path:
    path = Path(source)
    if os.path.isdir(path):
        raise InputError(path, "this is a folder; a file is needed here", remedy="Give one of its files.")
    if not _is_file(path):
        refuse_pipe(path)
        raise InputError(path, "there is no such file", remedy="Check the path.")
    return path
