"""Values for a page's script."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup


def script_json(value: Any) -> Markup:
    """Return JSON that cannot end the script element it stands in, whatever strings it holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
