"""What an output may replace: never an input, and of folders only an empty one or what the same function wrote."""

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryFile

from irpretrain.errors import ConfigError, InputError


def check_output_file(output: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raise an error where a file cannot be written without loss.

    Raises:
        InputError: a folder, or a device, has the name of the output, or no file can be created there.
        ConfigError: the output is an input, or one lies in the other, by whatever path.
    """
    path = Path(output)
    _check_inputs(path, inputs)
    if path.exists() and not path.is_file():
        what = "this is a folder" if path.is_dir() else "this is a device or a pipe"
        raise InputError(path, f"{what}, so no file can be written here", remedy="Name a file.")
    _check_writable(path)


def check_output_folder(
    output: str | Path, inputs: Iterable[str | Path], is_earlier: Callable[[Path], bool], what: str
) -> None:
    """Raise an error where a folder cannot be written without loss.

    Args:
        output: the folder to write.
        inputs: what is read.
        is_earlier: whether a folder that is not empty was written by the same function.
        what: what that function writes, for the message.

    Raises:
        InputError: a file has the name of the output, the folder holds something else, or it cannot be created.
        ConfigError: the output is an input, or one lies in the other, by whatever path.
    """
    path = Path(output)
    _check_inputs(path, inputs)
    if path.exists() and not path.is_dir():
        raise InputError(path, "this is no folder", remedy="Name a folder that is new or empty.")
    if path.is_dir() and (names := sorted(entry.name for entry in path.iterdir())) and not is_earlier(path):
        raise InputError(
            path,
            f"the folder is not {what}: it holds {names[0]}",
            remedy="Name a folder that is new or empty, or remove this one yourself.",
        )
    _check_writable(path)


def _check_writable(path: Path) -> None:
    """Raise InputError, before hours of work, where an output cannot be created; nothing is left behind."""
    folder = next(parent for parent in path.absolute().parents if parent.is_dir())
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            path,
            f"nothing can be created in {folder}: {error.strerror or error}",
            remedy="Name a place that you may write to.",
        ) from None


def _check_inputs(output: Path, inputs: Iterable[str | Path]) -> None:
    for given in map(Path, inputs):
        if not given.exists():
            continue
        place, read_place = output.resolve(), given.resolve()
        within = place.is_relative_to(read_place) or read_place.is_relative_to(place)
        read = [given, *(given.rglob("*") if given.is_dir() else ())] if output.exists() else []
        if within or any(path.exists() and path.samefile(output) for path in read):
            raise ConfigError(f"{output}: would replace the input {given}; name another output")
