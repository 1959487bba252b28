"""Contestants that take turns, each in a process of its own, and tables of what they did a second.

A process each, so that none runs with another's allocator, threads or Java. One works at a time while the others wait,
and who begins changes from round to round: what else the machine does disturbs all alike. Figures are medians over
the rounds; a ratio is the median of the rounds' ratios, with the smallest and the largest.
"""

import argparse
import importlib.util
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class Turn(NamedTuple):
    """What a contestant did in one turn.

    Attributes:
        amount: of work done, in whatever the table counts (word pieces, pairs, queries).
        wall, cpu: seconds by the clock, and of processors (all threads and child processes).
        facts: what else it tells: scores, losses.
    """

    amount: float
    wall: float
    cpu: float
    facts: dict[str, Any]


class Contestant(Protocol):
    """Made in its own process from a specification; then asked for turns, the first to warm up."""

    def turn(self, number: int) -> Turn:
        """Do the work of a round, counted from 0; round 0 is not timed by anybody."""


class Stopwatch:
    """Seconds by the clock and of processors since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), _processor_seconds()

    def turn(self, amount: float, **facts: Any) -> Turn:
        """Return a turn that ends now."""
        wall, cpu = time.perf_counter() - self._wall, _processor_seconds() - self._cpu
        return Turn(amount, wall, cpu, facts)


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Player:
    """A contestant's process.

    Args:
        name: in tables.
        make: from the specification to the contestant; called in the process.
        specification: what it needs, pickled.
    """

    def __init__(self, name: str, make: Callable[..., Contestant], specification: Any) -> None:
        self.name = name
        # Forked from a server that has imported what takes long and done nothing else.
        context = multiprocessing.get_context("forkserver")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_serve, args=(there, make, specification))
        self._process.start()
        there.close()

    def ask(self, number: int) -> Turn:
        """Let it have a turn; ends the program with the contestant's own message where it fails."""
        self._send(number)
        return self._answer()

    def ready(self) -> None:
        """Wait until it is made."""
        self._answer()

    def stop(self) -> None:
        """End the process."""
        self._send(None)
        self._process.join(10)
        if self._process.is_alive():
            self._process.terminate()

    def _send(self, number: int | None) -> None:
        try:
            self._here.send(number)
        except OSError:
            if number is not None:
                sys.exit(f"{self.name}: its process has ended")

    def _answer(self) -> Any:
        try:
            answer = self._here.recv()
        except EOFError:
            sys.exit(f"{self.name}: its process ended without a word; did the memory run out?")
        if isinstance(answer, str):
            sys.exit(f"{self.name} failed:\n{answer}")
        return answer


def _serve(connection: Connection, make: Callable[..., Contestant], specification: Any) -> None:
    try:
        with quiet():
            contestant = make(specification)
        connection.send(None)
        while (number := connection.recv()) is not None:
            with quiet():
                done = contestant.turn(number)
            connection.send(done)
    except (KeyboardInterrupt, EOFError):
        pass
    except BaseException:
        connection.send(traceback.format_exc())


@contextmanager
def quiet() -> Iterator[None]:
    """Drop what libraries print, whatever language they are written in; what is raised stays."""
    retained = os.dup(1), os.dup(2)
    with open(os.devnull, "w") as nowhere:
        sys.stdout.flush()
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        for number, copy in enumerate(retained, 1):
            os.dup2(copy, number)
            os.close(copy)


@contextmanager
def playing(
    makers: Mapping[str, Callable[..., Contestant]], specification: Any, imports: Sequence[str] = ()
) -> Iterator[list[Player]]:
    """Yield the players, each in its process, and end these; `imports` are modules that all of them need."""
    multiprocessing.set_forkserver_preload([*imports])
    players: list[Player] = []
    try:
        for name, make in makers.items():
            players.append(Player(name, make, specification))
        for player in players:
            player.ready()
        yield players
    finally:
        for player in players:
            player.stop()


def play(players: Sequence[Player], rounds: int) -> dict[str, list[Turn]]:
    """Return the turns of each player: round 0 to warm up, and then `rounds` that count."""
    turns: dict[str, list[Turn]] = {player.name: [] for player in players}
    for number in range(rounds + 1):
        first = number % len(players)
        for player in (*players[first:], *players[:first]):
            turns[player.name].append(player.ask(number))
    return turns


class Ratio(NamedTuple):
    """Median of the rounds' ratios, and their smallest and largest."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f} to {self.most:.2f})"


def ratio(ours: Sequence[Turn], theirs: Sequence[Turn], seconds: str) -> Ratio:
    """How many times as much ours did a second; `seconds` is wall or cpu. Round 0 does not count."""
    found = [
        (a.amount / getattr(a, seconds)) / (b.amount / getattr(b, seconds))
        for a, b in zip(ours[1:], theirs[1:], strict=True)
    ]
    return Ratio(statistics.median(found), min(found), max(found))


def rate(turns: Sequence[Turn], seconds: str) -> float:
    """Median over the rounds of the amount a second."""
    return statistics.median(turn.amount / getattr(turn, seconds) for turn in turns[1:])


def rows(turns: Mapping[str, Sequence[Turn]], start: str, digits: int = 0) -> list[str]:
    """Return a table's rows: `start` (its first cells), system, amount a second by the clock and of processors, and
    how many times as fast the first system is."""
    ours = next(iter(turns.values()))
    return [
        f"| {start} | {name} | {rate(own, 'wall'):,.{digits}f} | {rate(own, 'cpu'):,.{digits}f} | "
        + ("1.00 | 1.00 |" if own is ours else f"{ratio(ours, own, 'wall')} | {ratio(ours, own, 'cpu')} |")
        for name, own in turns.items()
    ]


HEAD = """\
| {first} | system | {amount}/s | {amount}/s of processor time | ours is faster by, clock | by, processor time |
|{lines}---|---:|---:|---:|---:|"""


def head(first: str, amount: str) -> str:
    """Return the head of the table of `rows`; `first` names its first cells."""
    return HEAD.format(first=first, amount=amount, lines="---|" * (first.count("|") + 1))


def options(description: str | None, *, models: bool) -> argparse.ArgumentParser:
    """Return a parser of the options that all comparisons have; with `models` also those of what a model computes."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if models:
        parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
        parser.add_argument("--encoder", help="minilm (default on CPU), base (on a GPU), or a directory")
        parser.add_argument("--precision", choices=["fp32", "bf16"], help="default: fp32; on a GPU bf16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--articles", type=int, help="only so many articles of SQuAD's files, for a trial")
    parser.add_argument("--folder", type=Path, help="where to work, kept; by default a temporary folder")
    return parser


def read_options(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what is given; of a model also `gpu`, and encoder and precision as the device suits them."""
    given = parser.parse_args(arguments)
    if "device" in given:
        given.gpu = given.device == "cuda"
        given.encoder = given.encoder or ("base" if given.gpu else "minilm")
        given.precision = given.precision or ("bf16" if given.gpu else "fp32")
    return given


def heading(given: argparse.Namespace, distributions: Sequence[str], work: str) -> str:
    """Return the lines that say where, with which versions and how something is compared; `work`: what a round has."""
    first = f"{device_name(given.device)}, {given.precision}, " if "device" in given else ""
    return f"{describe_machine(distributions)}\n{first}{given.threads} threads, {given.rounds} rounds{work}"


def installed(packages: Mapping[str, str], without: str, install: str) -> set[str]:
    """Return which packages (module → distribution) are there, and say what is left out where one is not.

    Args:
        packages: of the competitors.
        without: what the script does without them.
        install: how to install them.
    """
    found = {module for module in packages if importlib.util.find_spec(module) is not None}
    lacking = [name for module, name in packages.items() if module not in found]
    if lacking:
        print(f"{', '.join(lacking)}: not installed, so {without}. To compare: {install}", flush=True)
    return found


def describe_machine(distributions: Sequence[str]) -> str:
    """Return a line with the day, the processor, the load and versions."""
    parts = [f"{datetime.now(UTC):%Y-%m-%d}", f"{_processor()}, {os.cpu_count()} cores"]
    parts.append(f"load {os.getloadavg()[0]:.1f} at the start")
    parts.append(f"Python {platform.python_version()}")
    for name in distributions:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(parts)


def device_name(device: str) -> str:
    """Return what computes: cpu, or the name of the first GPU, to which all contestants are then limited."""
    if device == "cpu":
        return device
    # The Hugging Face Trainer would spread its batches over all that it sees.
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")
    import torch

    if not torch.cuda.is_available():
        sys.exit("--device cuda: torch finds no GPU")
    return torch.cuda.get_device_name()


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text(errors="replace").splitlines() if facts.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
