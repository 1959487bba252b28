"""What tests of pages share: a text that a page must not take for its own, and what a browser finds in a page."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

HOSTILE = (
    "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">&amp;{{ 7*7 }}"
)


class Page(HTMLParser):
    """Elements with their attributes, and all text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]

    @property
    def text(self) -> str:
        """The text, with single spaces."""
        return " ".join("".join(self.texts).split())

    def assert_no_code_of_texts(self) -> None:
        """Nothing of the texts has become an element that loads or runs, and nothing is asked of a network."""
        assert not {"img", "iframe", "object"} & set(self.tags)
        assert not any(name.startswith("on") for _, attributes in self.elements for name in attributes)
        links = [a[key] for _, a in self.elements for key in ("src", "href") if key in a]
        assert links == ["data:,"]
