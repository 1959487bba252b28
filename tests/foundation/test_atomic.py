"""Outputs appear whole or not at all, whatever happens to the process that writes them."""

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import pytest

from fresh_process import call
from irpretrain.foundation import atomic
from irpretrain.foundation.atomic import (
    atomic_directory,
    atomic_file,
    check_output_file,
    check_output_folder,
    folder_to_write,
    working_directory,
    write_text,
    write_together,
)
from irpretrain.foundation.errors import ConfigError, InputError
from patience import PATIENCE

HOST = socket.gethostname()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


def write_weights(target: Path, text: str) -> None:
    with atomic_directory(target) as temporary:
        (temporary / "weights").write_text(text)


def write_half(temporary: Path) -> None:
    (temporary / "weights" if temporary.is_dir() else temporary).write_text("half")


def fail(output: AbstractContextManager[Path], error: type[BaseException]) -> None:
    with output as temporary:
        write_half(temporary)
        raise error


def read(target: Path) -> str:
    return (target if target.is_file() else target / "weights").read_text()


KINDS = pytest.mark.parametrize("write", [write_text, write_weights], ids=["file", "directory"])
"""Outputs of both kinds, by what writes a text into one."""


@pytest.fixture
def dead_process() -> int:
    """The id of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_every_byte_is_on_the_disk_before_a_name_points_at_it(tmp_path, monkeypatch):
    """A file that is renamed first can be empty after a power failure."""
    flushed, renamed = dict[int, bytes](), []
    fsync, rename = os.fsync, os.rename

    def flush(descriptor: int) -> None:
        flushed[os.fstat(descriptor).st_ino] = Path(f"/proc/self/fd/{descriptor}").read_bytes()
        fsync(descriptor)

    def point_at(source, target, **places):
        files = [path for path in (Path(source), *Path(source).rglob("*")) if path.is_file()]
        assert [flushed.get(path.stat().st_ino) for path in files] == [path.read_bytes() for path in files]
        renamed.append(Path(target).name)
        rename(source, target, **places)

    monkeypatch.setattr(atomic.os, "fsync", flush)
    monkeypatch.setattr(atomic.os, "replace", point_at)
    write_text(tmp_path / "run", "whole")
    write_weights(tmp_path / "model", "whole")
    (tmp_path / "old").mkdir()
    write_weights(tmp_path / "old", "whole")
    write_together(
        {tmp_path / "both": lambda folder: (folder / "weights").write_text("whole")},
        {tmp_path / "metrics": lambda path: path.write_text("whole")},
        before_replacing=lambda: check_flushed(tmp_path, flushed),
    )
    assert set(renamed) >= {"run", "model", "old", "both", "metrics"}


def check_flushed(folder: Path, flushed: dict[int, bytes]) -> None:
    """All that is written together is on the disk before the first of it is renamed."""
    written = [path for path in folder.rglob("*") if path.is_file() and ".partial" in str(path)]
    assert [flushed.get(path.stat().st_ino) for path in written] == [b"whole", b"whole"]


def test_a_working_directory_is_this_process_s_alone_and_goes(tmp_path, dead_process):
    """A job whose workflow was killed may live on beside the same job of the resumed one."""
    dead, alive = (
        tmp_path / f".index.input.{HOST}.{number}.partial" for number in (dead_process, os.getppid())
    )
    for folder in (dead, alive):
        folder.mkdir()
    with working_directory(tmp_path / "index", "input") as own, atomic_directory(tmp_path / "index") as index:
        assert not list(own.iterdir())
        assert mode(own) == 0o700
        (own / "documents").write_text("a")
        (index / "segments").write_text("b")
        assert names(tmp_path) == sorted([alive.name, own.name, index.name])
    assert names(tmp_path) == [alive.name, "index"]
    with pytest.raises(KeyboardInterrupt):
        fail(working_directory(tmp_path / "index", "input"), KeyboardInterrupt)
    assert names(tmp_path) == [alive.name, "index"]


@pytest.mark.parametrize("manager", [atomic_file, atomic_directory])
def test_an_output_appears_at_the_end_with_its_folders(tmp_path, manager):
    target = tmp_path / "a" / "b" / "output"
    with manager(target) as temporary:
        written = temporary if manager is atomic_file else temporary / "inner/weights"
        written.parent.mkdir(exist_ok=True)
        written.write_text("new")
        assert not target.exists()
        assert temporary.parent == target.parent
    assert list(contents(target.parent).values()) == ["new"]
    assert names(target.parent) == ["output"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("manager", [atomic_file, atomic_directory])
def test_a_failure_leaves_what_was_there(tmp_path, manager, error):
    write_text(tmp_path / "file", "old")
    write_weights(tmp_path / "directory", "old")
    for target in (tmp_path / "new", tmp_path / manager.__name__.removeprefix("atomic_")):
        with pytest.raises(error):
            fail(manager(target), error)
    assert contents(tmp_path) == {"file": "old", "directory/weights": "old"}


def test_a_writer_that_makes_no_file_fails(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_file(tmp_path / "file"):
        pass
    assert names(tmp_path) == []
    write_text(tmp_path / "file", "old")
    with pytest.raises(FileNotFoundError), atomic_file(tmp_path / "file"):
        pass
    assert contents(tmp_path) == {"file": "old"}


def test_a_file_may_become_empty(tmp_path):
    for text in ("old", ""):
        write_text(tmp_path / "file", text)
    assert contents(tmp_path) == {"file": ""}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("permissions", [0o600, 0o400, 0o640, 0o666])
def test_a_file_is_as_private_as_the_old_one_from_the_beginning(tmp_path, permissions):
    target = tmp_path / "file"
    target.touch()
    target.chmod(permissions)
    with atomic_file(target) as temporary:
        temporary.write_text("new")
        assert mode(temporary) & ~0o600 & ~permissions == 0
    assert (target.read_text(), mode(target)) == ("new", permissions)


@pytest.mark.parametrize("permissions", [0o700, 0o500, 0o750, 0o777])
def test_a_directory_and_its_files_are_as_private_as_the_old_from_the_beginning(tmp_path, permissions):
    target = tmp_path / "model"
    write_weights(target, "old")
    (target / "old").touch()
    (target / "weights").chmod(0o600)
    target.chmod(permissions)
    with atomic_directory(target) as temporary:
        (temporary / "weights").write_text("new")
        (temporary / "more").write_text("new")
        assert mode(temporary) & ~0o700 & ~permissions == 0
    assert contents(target) == {"weights": "new", "more": "new"}
    assert (mode(target), mode(target / "weights")) == (permissions, 0o600)
    assert names(tmp_path) == ["model"]


def test_a_directory_comes_back_when_the_new_one_cannot_take_its_position(tmp_path, monkeypatch):
    target = tmp_path / "model"
    write_weights(target, "old")
    replace = os.replace

    def refuse(source, destination):
        if Path(destination) == target and not str(source).endswith(".old.partial"):
            raise OSError("the file system became read-only")
        replace(source, destination)

    monkeypatch.setattr(atomic.os, "replace", refuse)
    with pytest.raises(OSError, match="read-only"):
        write_weights(target, "new")
    assert contents(target) == {"weights": "old"}
    assert names(tmp_path) == ["model"]


def test_text_is_utf_8_whatever_the_locale(tmp_path):
    code = "import sys; from irpretrain.foundation.atomic import write_text; write_text(sys.argv[1], '\\u03a9 \\u00e9')"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "text")], check=True, env=environment)
    assert (tmp_path / "text").read_bytes() == "Ω é".encode()


def write_until_killed(manager, target):
    with manager(target) as temporary:
        write_half(temporary)
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(("manager", "write"), [(atomic_file, write_text), (atomic_directory, write_weights)])
def test_sigkill_in_the_middle_leaves_the_old_whole_and_the_next_write_cleans_up(tmp_path, manager, write):
    target = tmp_path / "target"
    write(target, "old")
    killed = subprocess.run(call(write_until_killed, manager, target))
    assert killed.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 2, "the killed process left its part beside the target"
    assert read(target) == "old"
    write(target, "new")
    assert read(target) == "new"
    assert names(tmp_path) == ["target"]


def test_a_writer_of_a_temporary_file_that_is_atomic_itself_adds_no_second_one(tmp_path):
    """A kill would leave its name, which no later write knows."""
    with atomic_file(tmp_path / "target") as temporary:
        with atomic_file(temporary) as inner_temporary:
            inner_temporary.write_text("new")
            assert names(tmp_path) == [temporary.name]
        assert temporary.read_text() == "new"
    assert contents(tmp_path) == {"target": "new"}


def replace_until_killed_after_one_rename(target):
    replace = os.replace

    def once(*paths):
        replace(*paths)
        os.kill(os.getpid(), signal.SIGKILL)

    atomic.os.replace = once
    write_weights(target, "new")


def test_a_kill_between_the_two_renames_leaves_no_part_of_a_directory(tmp_path):
    target = tmp_path / "target"
    write_weights(target, "old")
    killed = subprocess.run(call(replace_until_killed_after_one_rename, target))
    assert killed.returncode == -signal.SIGKILL
    assert not target.exists()
    write_weights(target, "new")
    assert contents(target) == {"weights": "new"}
    assert names(tmp_path) == ["target"]


def test_only_dead_processes_of_this_host_are_cleaned_up_after(tmp_path, dead_process):
    retained = [
        f".target.{HOST}.{os.getppid()}.partial",
        f".target.{HOST}.{10**30}.partial",  # no number of a process
        f".target.elsewhere-{HOST}.{dead_process}.partial",
        f".target.txt.{HOST}.{dead_process}.partial",
        f"target.{HOST}.{dead_process}.partial",
        ".target.partial",
    ]
    gone = [f".target.{HOST}.{dead_process}.partial", f".target.{HOST}.{dead_process}.old.partial"]
    for name in (*retained, gone[0]):
        (tmp_path / name).write_text("half")
    (tmp_path / gone[1]).mkdir()
    (tmp_path / gone[1] / "weights").write_text("half")
    write_text(tmp_path / "target", "new")
    assert names(tmp_path) == sorted([*retained, "target"])


def test_a_leftover_under_this_process_own_id_does_not_get_into_the_target(tmp_path):
    """In a container the same few process ids come again and again."""
    leftover = tmp_path / f".model.{HOST}.{os.getpid()}.partial"
    leftover.mkdir()
    (leftover / "stale").write_text("stale")
    write_weights(tmp_path / "model", "new")
    assert contents(tmp_path / "model") == {"weights": "new"}


def write_theirs(target):
    with atomic_file(target) as temporary:
        temporary.write_text("theirs")
        print("ready", flush=True)
        sys.stdin.read()


def test_two_processes_that_write_one_target_do_not_meet(tmp_path):
    with subprocess.Popen(
        call(write_theirs, tmp_path / "target"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        write_text(tmp_path / "target", "ours")
        assert (tmp_path / "target").read_text() == "ours"
        other.communicate(timeout=PATIENCE)
    assert other.returncode == 0
    assert (tmp_path / "target").read_text() == "theirs"
    assert names(tmp_path) == ["target"]


def run_stage(stage, output, killed):
    from irpretrain import Collection
    from irpretrain.text import statistics
    from irpretrain.wikipedia import links

    collection = Collection(["apple pie"])
    graph, text = collection._graph, collection.options.text
    if killed:
        statistics.stream_texts = links._anchors = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    if stage == "words":
        statistics.count_words(collection.documents, text, output)
    else:
        links.write_anchor_texts([collection.documents], graph, 256, 1, output)


@pytest.mark.parametrize("stage", ["words", pytest.param("anchors", marks=pytest.mark.deep)])
def test_what_a_killed_stage_leaves_behind_goes_with_the_next(stage, tmp_path):
    output = tmp_path / "out" / "table"
    killed = subprocess.run(call(run_stage, stage, output, True), timeout=PATIENCE)
    assert killed.returncode == -signal.SIGKILL
    assert any(stage in name for name in names(tmp_path / "out"))
    subprocess.run(call(run_stage, stage, output, False), timeout=PATIENCE, check=True)
    assert names(tmp_path / "out") == ["table"]


@KINDS
@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("links", [1, 3])
def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path, write, exists, links):
    end = link = tmp_path / "far/output"
    for number in range(links):
        (tmp_path / f"{number}").symlink_to(os.path.relpath(link, tmp_path))
        link = tmp_path / f"{number}"
    if exists:
        write(end, "old")
    write(link, "new")
    assert read(end) == "new"
    assert link.is_symlink()
    assert names(tmp_path / "far") == ["output"]


def special_file(folder: Path, kind: str) -> Path:
    """A file of that kind in the folder, or a link to one."""
    path = folder / "special"
    if kind == "device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root makes devices")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "file":
        path.write_text("ten years")
    elif kind == "folder":
        path.mkdir()
        (path / "thesis").write_text("ten years")
    elif kind == "circle":
        path.symlink_to(folder / "other")
        (folder / "other").symlink_to(path)
    return path


def test_neither_an_input_in_the_output_nor_an_output_in_the_input_is_allowed(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "documents").write_text("precious")
    with pytest.raises(ConfigError, match="would replace the input"):
        check_output_file(tmp_path / "texts" / "run", [tmp_path / "texts"])
    with pytest.raises(ConfigError, match="would replace the input"):
        check_output_folder(tmp_path / "texts", [tmp_path / "texts" / "documents"], lambda _: True, "texts")
    check_output_file(tmp_path / "run", [tmp_path / "texts"])


def test_a_folder_with_something_else_is_no_output(tmp_path):
    output = tmp_path / "model"
    check_output_folder(output, [], lambda _: False, "a model")
    output.mkdir()
    check_output_folder(output, [], lambda _: False, "a model")
    for name in "hgfedcba":
        (output / name).touch()
    with pytest.raises(InputError, match=r"model: the folder is not a model: it holds a\n"):
        check_output_folder(output, [], lambda _: False, "a model")
    check_output_folder(output, [], lambda _: True, "a model")
    assert len(names(output)) == 8


@pytest.mark.parametrize("kind", ["device", "socket", "pipe", "folder", "circle", "file"])
@pytest.mark.parametrize("linked", [False, True])
def test_only_files_are_replaced_by_files_and_folders_by_folders(tmp_path, kind, linked):
    path = special_file(tmp_path, kind)
    if linked:
        (tmp_path / "link").symlink_to(path)
        path = tmp_path / "link"
    before = {entry.name: entry.lstat().st_mode for entry in tmp_path.iterdir()}
    fault = "links lead in a circle" if kind == "circle" else "no file can be"
    if kind != "file":
        for write in (lambda: write_text(path, "new"), lambda: check_output_file(path, [])):
            with pytest.raises(InputError, match=fault):
                write()
    if kind != "folder":
        with pytest.raises(InputError, match="circle" if kind == "circle" else "this is no folder"):
            write_weights(path, "new")
    assert {entry.name: entry.lstat().st_mode for entry in tmp_path.iterdir()} == before


def test_what_the_shell_has_opened_is_not_replaced(tmp_path):
    """As /dev/stdout, which leads to /proc/self/fd/1 and so to the file of `>> log`."""
    log = tmp_path / "log"
    with open(log, "w") as handle:
        handle.write("earlier lines")
        handle.flush()
        (tmp_path / "stdout").symlink_to(f"/proc/self/fd/{handle.fileno()}")
        with pytest.raises(InputError, match="a device or an open file"):
            write_text(tmp_path / "stdout", "new")
    assert log.read_text() == "earlier lines"
    assert names(tmp_path) == ["log", "stdout"]


@KINDS
def test_threads_that_write_one_target_write_it_whole(tmp_path, write):
    target, texts = tmp_path / "target", [f"{number}\n" * 50 for number in range(4)]
    failures = list[BaseException]()
    write(target, "old")
    written = target if target.is_file() else target / "weights"
    written.chmod(0o600)

    def write_often(text: str) -> None:
        try:
            for _ in range(40):
                write(target, text)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write_often, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert written.read_text() in texts
    assert mode(written) == 0o600
    assert names(tmp_path) == ["target"]


@pytest.mark.parametrize("kind", [pytest.param("file", marks=pytest.mark.deep), "directory"])
def test_a_target_that_others_move_meanwhile_can_be_written(tmp_path, kind):
    """As by a second process, whose locks are its own."""
    target, aside = tmp_path / "target", tmp_path / "aside"
    moving = True

    def move() -> None:
        while moving:
            with suppress(OSError):
                os.rename(target, aside)
            with suppress(OSError):
                os.rename(aside, target)

    thread = threading.Thread(target=move)
    target.touch() if kind == "file" else target.mkdir()
    thread.start()
    try:
        for _ in range(1000):
            if kind == "directory":
                folder_to_write(target)
            else:
                write_text(target, "new")
    finally:
        moving = False
        thread.join()


def test_the_longest_name_that_can_be_written_is_allowed(tmp_path):
    room = 255 - len(f"..{HOST}.{os.getpid()}.partial")
    longest = tmp_path / ("n" * room)
    check_output_file(longest, [])
    write_text(longest, "whole")
    with pytest.raises(InputError, match="Give it a shorter name"):
        check_output_file(tmp_path / ("n" * (room + 1)), [])
