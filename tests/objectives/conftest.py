"""The builder of synthetic wikis lies beside the tests of the graph."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "wikipedia"))
