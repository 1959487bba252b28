"""What the tests of readers share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from irpretrain.corpora.registry import Kind, format_of
from irpretrain.foundation.records import Share


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Any]]:
    """Return a function that writes a file and returns the records that a format reads in it."""

    def read_content(
        kind: Kind,
        name: str,
        content: str | bytes,
        share: Share | None = None,
        file: str = "file",
        **options: Any,
    ) -> list[Any]:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        reader = format_of(kind, name)
        return list(reader.read(path, reader.options(**options), *([] if share is None else [share])))

    return read_content
