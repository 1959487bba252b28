"""The embedded excerpt of the English Wikipedia, read where its package has it; a parser without a worker."""

from pathlib import Path

import pytest

from irpretrain.corpora.embedded import installed_path, read_manifest
from irpretrain.foundation.pieces import read_pieces
from irpretrain.foundation.records import WHOLE_FILE
from irpretrain.wikipedia.dump import read_site
from irpretrain.wikipedia.guarded_parser import GuardedParser
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.pages import read_pages
from irpretrain.wikipedia.wikitext import parse_article

MANIFEST = Path(__file__).parents[2] / "resources/embedded.yaml"


@pytest.fixture(scope="session")
def excerpt():
    """(title, wikitext) of the 106 articles, and the wiki's language."""
    path = installed_path(read_manifest(MANIFEST).asset("enwiki-excerpt"))
    found = list(read_pages(read_pieces(path, WHOLE_FILE), 1_000_000))
    site = read_site(piece.text for piece in read_pieces(path, WHOLE_FILE))
    pages = [(p.title, p.text) for p in found if p.namespace == 0 and p.redirect is None]
    return pages, WikiLanguage.of(site)


@pytest.fixture
def no_worker(monkeypatch):
    """Parse in this process: for tests that read thousands of files."""

    def parse(self, items):
        for item, text in items:
            yield item, None if text is None else parse_article(text, *self._settings.arguments)

    monkeypatch.setattr(GuardedParser, "parse", parse)
