"""The embedded excerpt of the English Wikipedia, read where its package has it."""

import bz2
from pathlib import Path

import pytest

from irpretrain.corpora.embedded import installed_path, read_manifest
from irpretrain.wikipedia.dump import DumpReader
from irpretrain.wikipedia.languages import WikiLanguage

MANIFEST = Path(__file__).parents[2] / "resources/embedded.yaml"


@pytest.fixture(scope="session")
def excerpt():
    """(title, wikitext) of the 106 articles, and the wiki's language."""
    with bz2.open(installed_path(read_manifest(MANIFEST).asset("enwiki-excerpt"))) as stream:
        reader = DumpReader(stream, 1_000_000)
        pages = [(p.title, p.text) for p in reader.pages() if p.namespace == 0 and p.redirect is None]
    return pages, WikiLanguage.of(reader.site)
