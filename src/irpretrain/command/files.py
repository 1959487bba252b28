"""What the commands share: arguments that are files or pipes, settings, and outputs that appear whole or not at all."""

import gzip
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click
import yaml

from irpretrain.foundation.atomic import atomic_file, check_output_file
from irpretrain.foundation.errors import ConfigError, InputError, IRPretrainError, count_of
from irpretrain.foundation.progress import print_line, progress

if TYPE_CHECKING:
    from irpretrain.foundation.files import FieldLine

STANDARD = "-"
JSONL_TEXT = "JSON objects, one per line"
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Session:
    """One call of the command: its inputs, its outputs (files and folders), and files in place of what can be read
    only once."""

    def __init__(self) -> None:
        self.inputs, self.outputs, self.folders = list[str](), list[str](), list[str]()
        self.names: dict[Path, str] = {}
        self._folder = ""

    def spooled(self, path: str) -> str:
        """Return a file with the content of standard input, or of a pipe: formats are known by reading twice."""
        if not self._folder:
            command = click.get_current_context().find_root()
            self._folder = command.with_resource(TemporaryDirectory(prefix="irpretrain-"))
        copy = Path(self._folder, f"input-{len(self.names) + 1}")
        if path == STANDARD and STANDARD in self.names.values():
            raise click.UsageError("Only one file can be standard input.")
        self.names[copy] = path
        with nullcontext(sys.stdin.buffer) if path == STANDARD else open(path, "rb") as source:
            with open(copy, "wb") as target:
                shutil.copyfileobj(source, target)
        return str(copy)

    def name(self, path: str) -> str:
        """Return what the user called a file."""
        return self.names.get(Path(path), path)

    def renamed(self, error: IRPretrainError) -> IRPretrainError:
        """Return an error that names what the user gave."""
        if not self.names:
            return error
        from irpretrain.library.inputs import renamed

        names = {path: "standard input" if name == STANDARD else name for path, name in self.names.items()}
        return renamed(error, names)


def displayed_name(path: str) -> str:
    """Return what messages call an input of the running command."""
    name = click.get_current_context().ensure_object(Session).name(path)
    return "standard input" if name == STANDARD else name


class Named(click.Path):
    """A file or folder with a name: an empty one, as of a variable of the shell without a value, is no path."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(value, param, ctx) or self.fail("the path is empty.", param, ctx)


class Input(Named):
    """A file, a folder, `-`, a pipe such as <(…), or a name that only the library knows, such as ir_datasets:<id>."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = str(super().convert(value, param, ctx))
        session = ctx.find_object(Session) if ctx is not None else None
        if session is None:  # a shell asks for completions
            return path
        is_pipe = path == STANDARD or (
            os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))
        )
        if not is_pipe:
            session.inputs.append(path)
        return session.spooled(path) if is_pipe else path


class Output(Named):
    """A file to write; `-` is standard output."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = str(super().convert(value, param, ctx))
        if path.lower().endswith((".bz2", ".xz", ".zst", ".zip")):
            raise InputError(path, "outputs are packed by gzip alone", remedy="Give a name that ends in .gz.")
        if path != STANDARD and ctx is not None and (session := ctx.find_object(Session)):
            session.outputs.append(path)
        return path


class Command(click.Command):
    """Checks the output before it runs, and prints what the function returns on stderr."""

    def __init__(self, *positional: Any, **options: Any) -> None:
        super().__init__(*positional, **options)
        self.params.append(click.Option(["-q", "--quiet"], is_flag=True, help="Print errors only."))

    def invoke(self, ctx: click.Context) -> None:
        session = ctx.ensure_object(Session)
        for output in session.outputs:
            check_output_file(output, session.inputs)
        with redirect_stderr(io.StringIO()) if ctx.params.pop("quiet") else nullcontext():
            print_line(super().invoke(ctx))


def combined(*decorators: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """Return one decorator for several options or arguments, in the order of the help."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


SEED = click.option("--seed", type=click.IntRange(0), default=1, help="Of all random draws.")


def output(description: str) -> Callable[[Decorated], Decorated]:
    """Return the argument OUTPUT of a command that writes one file."""
    return click.argument(
        "output", type=Output(), default=STANDARD, help=f"{description}; by default standard output."
    )


def settings(description: str, *names: str) -> Callable[[Decorated], Decorated]:
    """Return the option --set, whose value is a mapping of keys to YAML's values."""
    return click.option(
        *(names or ["--set"]),
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_settings,
        help=f"{description}; repeat it.",
    )


def _settings(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    return {} if ctx.resilient_parsing else read_arguments(param.opts[0], values)


def read_settings(option: str, texts: Iterable[str]) -> dict[str, Any]:
    """Return what an option sets: KEY=VALUE with YAML's values; a key with dots leads into a section."""
    from irpretrain.config.yaml_files import StrictLoader

    settings: dict[str, Any] = {}
    for setting_text in texts:
        key, separator, text = setting_text.partition("=")
        if not (key and separator):
            raise ConfigError(f"{option} {setting_text}: write KEY=VALUE")
        *sections, last_key = key.split(".")
        parent = settings
        for section in sections:
            parent = parent.setdefault(section, {})
            if not isinstance(parent, dict):
                raise ConfigError(f"{option} {setting_text}: {section} has a value already")
        try:
            parent[last_key] = yaml.load(text, StrictLoader)
        except (yaml.YAMLError, RecursionError):  # RecursionError: too many brackets
            raise ConfigError(f"{option} {setting_text}: {text!r} cannot be read as a value") from None
    return settings


# Parameters of the library's functions that commands fill, which no key may.
_FILLED = ("path", "format", "options", "encoder", "output", "groups", "seed", "preset")


def read_arguments(option: str, texts: Iterable[str]) -> dict[str, Any]:
    """Return what an option sets, to be passed on by name; ConfigError for a key that the command fills itself."""
    settings = read_settings(option, texts)
    for key in filter(settings.__contains__, _FILLED):
        parameter = next((p for p in click.get_current_context().command.params if p.name == key), None)
        if parameter is None:
            raise ConfigError(f"{option} {key}: there is no such key")
        instead = parameter.opts[0] if isinstance(parameter, click.Option) else f"the argument {key.upper()}"
        raise ConfigError(f"{option} {key}: give {instead} instead")
    return settings


def read_pairs(path: str, keys: tuple[str, ...]) -> "Iterator[FieldLine]":
    """Yield the JSON objects of a file, which have these keys, with texts as values."""
    from irpretrain.corpora.checked import read_objects
    from irpretrain.corpora.file_lists import require_file
    from irpretrain.foundation.records import Malformed

    for entry in read_objects(require_file(path)):
        if isinstance(entry, Malformed):
            raise InputError(path, str(entry), entry.line, f"{entry.remedy}.")
        for key in keys:
            if not isinstance(entry.fields.get(key), str):
                raise InputError(
                    path, f"{key} is missing or no text", entry.line, f"Give {' and '.join(keys)}."
                )
        yield entry


def write_objects(path: str, rows: Iterable[dict[str, Any]], unit: str, total: int | None = None) -> str:
    """Write rows as JSON objects, whole or not at all, and return what was written."""
    return write_lines(path, (json.dumps(row, ensure_ascii=False) for row in rows), unit, total)


def write_lines(path: str, lines: Iterable[str], unit: str, total: int | None = None) -> str:
    """Write lines, whole or not at all, and return what was written."""
    count = 0
    with open_output(path) as handle:
        for line in progress(lines, "irpretrain", f"{unit}s", total):
            handle.write(f"{line}\n")
            count += 1
    return written_text(path, count, unit)


def written_text(path: str, count: int, unit: str) -> str:
    return f"{count_of(count, unit)} in {'standard output' if path == STANDARD else path}"


@contextmanager
def open_output(path: str) -> Iterator[TextIO]:
    """Open an output that appears whole or not at all, gzip where its name ends in .gz; or standard output for `-`."""
    if path == STANDARD:
        if sys.stdout is None:
            raise InputError("standard output", "it is closed", remedy="Name a file to write to.")
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")  # type: ignore[union-attr]
        yield sys.stdout
        sys.stdout.flush()
        return
    with atomic_file(path) as temporary, open(temporary, "wb") as binary_file:
        output_file: Any = binary_file
        if path.endswith(".gz"):
            output_file = gzip.GzipFile("", "wb", fileobj=binary_file, mtime=0)
        # half a character, which JSON can hold, becomes the escape that JSON has for it
        with io.TextIOWrapper(output_file, encoding="utf-8", errors="backslashreplace") as text_file:
            yield text_file
