"""The documentation as a site: what mkdocs.yml lists, the built pages, and how they look in a browser.

MKDOCS names the folder with the packages of envs/docs.lock (`make site` puts them into .venv/docs).
"""

import functools
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from importlib.metadata import distributions
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from packaging.requirements import Requirement

import irpretrain
from locked import normal, pins

ROOT = Path(__file__).resolve().parents[2]
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
OUTSIDE = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "results/README.md"}


def pages_of(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_of(entry)


def test_the_menu_has_every_page_once() -> None:
    listed = list(pages_of(SITE["nav"]))
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    there |= {
        path.relative_to(ROOT / "docs").as_posix()[:-5] + "md" for path in (ROOT / "docs").rglob("*.ipynb")
    }
    assert sorted(listed) == sorted(there | OUTSIDE)


def test_the_lock_lies_in_the_ranges_of_the_extra() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = pins("envs/docs.lock")
    for needs in map(Requirement, project["optional-dependencies"]["docs"]):
        assert needs.specifier.contains(versions[normal(needs.name)]), needs


def test_what_the_site_needs_is_pinned_for_users_too() -> None:
    """`make site` may run before, or without, what tests and linters need."""
    folder = _packages_of_the_site()
    there = pins("requirements.lock", "envs/torch.lock", "envs/docs.lock")
    for package in distributions(path=[str(folder)]):
        for needed in map(Requirement, package.requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert normal(needed.name) in there, f"{package.name} needs {needed}"


def test_there_is_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert citation["version"] == newest[1] == irpretrain.__version__


def test_the_papers_are_cited() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert len(citation["references"]) == len(list((ROOT / "resources/published").glob("*.yaml")))


class Tags(HTMLParser):
    """Links, anchors and what a page loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(unquote(unescape(values["href"])))
        elif tag == "link" and values.get("rel") not in ("prev", "next", "canonical"):
            self.loaded.append(values.get("href", ""))
        elif "src" in values:
            self.loaded.append(values["src"])


def _packages_of_the_site() -> Path:
    if "MKDOCS" not in os.environ:
        pytest.skip("MKDOCS names no folder with the packages of envs/docs.lock; make site fills .venv/docs")
    return Path(os.environ["MKDOCS"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    _packages_of_the_site()
    folder = tmp_path_factory.mktemp("site")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(os.environ["MKDOCS"]).resolve()), str(ROOT / "src")]),
        "HTTPS_PROXY": "http://127.0.0.1:9",  # nothing is fetched
    }
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def built(site: Path) -> dict[str, Tags]:
    pages = [path for path in site.rglob("*.html") if path.name != "404.html"]
    return {path.relative_to(site).as_posix(): Tags(path.read_text(encoding="utf-8")) for path in pages}


def targets(page: str, tags: Tags) -> Iterator[tuple[str, str]]:
    """Page and anchor of each link inside the site."""
    for link in tags.links:
        if not re.match(r"[a-z]+:", link):
            path, _, anchor = link.partition("#")
            yield os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page, anchor


@pytest.mark.deep
def test_links_and_anchors_lead_somewhere(site: Path, built: dict[str, Tags]) -> None:
    broken = [
        (page, target, anchor)
        for page, tags in built.items()
        for target, anchor in targets(page, tags)
        if not (site / target).exists()
        or (anchor and target in built and anchor not in built[target].anchors)
    ]
    assert broken == []


@pytest.mark.deep
def test_the_notebook_shows_what_it_drew(site: Path) -> None:
    page = (site / "tutorials/from-a-dump.html").read_text(encoding="utf-8")
    assert '<img alt="what the cell draws" src="data:image/png;base64,' in page
    assert "Alabama &gt; History &gt; 19th century" in page


@pytest.mark.deep
def test_every_page_is_two_clicks_away(built: dict[str, Tags]) -> None:
    first = {target for target, _ in targets("index.html", built["index.html"])} & set(built)
    second = {target for page in first for target, _ in targets(page, built[page])}
    assert set(built) - first - second == set()


@pytest.mark.deep
def test_no_page_loads_from_another_host(site: Path, built: dict[str, Tags]) -> None:
    foreign = [
        (page, link)
        for page, tags in built.items()
        for link in tags.loaded
        if re.match(r"([a-z]+:)?//", link)
    ]
    foreign += [(path.name, "url") for path in site.rglob("*.css") if "url(http" in path.read_text()]
    assert foreign == []


@pytest.fixture
def browser() -> Iterator[Any]:
    sys.path.append(str(ROOT / "tests/report"))
    import chromium

    program = chromium.find()
    if program is None:
        pytest.skip("no Chromium or Chrome on the PATH")
    with chromium.Browser(program) as page:
        yield page


@pytest.mark.deep
@pytest.mark.browser
def test_in_a_browser(site: Path, browser: Any) -> None:
    """It asks nobody else, complains of nothing, fits two widths, and its search finds a key."""
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = f"http://127.0.0.1:{server.server_port}"
        for position in (
            "index.html",
            "methods/prop.html",
            "reference/config/training.html",
            "reference/python.html",
        ):
            for width in (390, 1280):
                browser.resize(width, 900, mobile=width < 800)
                browser.visit(f"{home}/{position}")
                assert browser.complaints() == []
                assert [url for url in browser.requests() if not url.startswith((home, "blob:"))] == []
                assert browser.evaluate("document.documentElement.scrollWidth") <= width, (position, width)
        search_results(browser, "batch_groups")
        server.shutdown()


@pytest.mark.deep
@pytest.mark.browser
@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("out of memory", "troubleshooting.html"),
        ("my own data", "corpora.html"),
        ("my own data", "journeys/my-collection.html"),
    ],
)
def test_the_search_works_from_a_disk(site: Path, browser: Any, query: str, page: str) -> None:
    browser.resize(1280, 900)
    browser.open(site / "index.html")
    address = (site / page).as_uri()
    pages = [link.partition("?")[0] for link in search_results(browser, query)]
    assert address in pages[:2]
    assert browser.complaints() == []
    assert [url for url in browser.requests() if not url.startswith(("file:", "blob:"))] == []


@pytest.mark.deep
@pytest.mark.browser
def test_a_page_from_a_disk_has_formulas_and_the_version(site: Path, browser: Any) -> None:
    browser.open(site / "methods/prop.html")
    assert irpretrain.__version__ in browser.evaluate("document.querySelector('.md-header').innerText")
    above, below = browser.evaluate(
        "[...document.querySelector('mfrac').children].map(part => part.getBoundingClientRect().top)"
    )
    assert below > above + 5, "numerator and denominator in pixels from the top"


@pytest.mark.deep
@pytest.mark.browser
@pytest.mark.skipif("AXE" not in os.environ, reason="AXE names no folder with axe-core-python")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(site: Path, browser: Any, scheme: str) -> None:
    browser.resize(390, 900, mobile=True)
    browser.prefer(scheme)
    for page in ("index.html", "library.html", "results.html", "methods/prop.html"):
        browser.open(site / page)
        browser.wait_for("[...document.querySelectorAll('pre > code')].every((e) => e.tabIndex === 0)")
        assert browser.violations() == [], page


def search_results(browser: Any, query: str) -> list[str]:
    """The pages that the search of the page finds, best first."""
    browser.evaluate(
        "(() => {const i = document.querySelector('.md-search__input'); "
        f"i.focus(); i.value = {json.dumps(query)}; "
        "for (const e of ['keyup', 'input']) i.dispatchEvent(new Event(e, {bubbles: true}))})()"
    )
    links = ".md-search-result__item > .md-search-result__link:first-child"
    browser.wait_for(f"document.querySelectorAll('{links}').length > 0")
    return list(browser.evaluate(f"[...document.querySelectorAll('{links}')].map(link => link.href)"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass
