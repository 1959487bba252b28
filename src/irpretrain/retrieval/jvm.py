"""Lucene's and Anserini's classes inside this process, through pyjnius.

A process has one Java virtual machine, which cannot be stopped or given other options; the first call starts it.
Only what needs single classes runs here (analysis of words, statistics of an index); indexing and search are
processes of their own (`irpretrain.retrieval.java`).
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from typing import Any

from irpretrain.errors import SetupError
from irpretrain.retrieval.java import anserini_jar, java

MEMORY_MB = 512
"""Heap of the virtual machine in this process: no index is held in it."""


@cache
def java_class(name: str) -> Any:
    """Return a class of Java, Lucene or Anserini by its whole name.

    Raises:
        SetupError: pyjnius, the Java runtime or Anserini's jar is not installed.
    """
    _start()
    from jnius import autoclass

    return autoclass(name)


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
    jnius_config.add_options(f"-Xmx{MEMORY_MB}m", "-Djava.util.logging.ConsoleHandler.level=OFF")
