"""What the documentation points at exists: links, headings, files, modules, functions."""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel

from irpretrain.config import Config
from irpretrain.foundation.errors import SetupError

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path
    for where in ("*.md", "results/*.md", "docs/**/*.md", "resources/**/*.md", "configs/**/*.md")
    for path in ROOT.glob(where)
)
FOLDERS = (
    "src",
    "docs",
    "rules",
    "scripts",
    "resources",
    "tests",
    "benchmarks",
    "configs",
    "envs",
    "profiles",
)
EXAMPLES = {"configs/fruit.yaml"}
"""Files that a page tells the reader to make."""
pages = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())


@cache
def prose(page: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The headings of a page, as hosts of repositories turn them into anchors."""
    headings = re.findall(r"^#+ +(.+?) *$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    """Targets of links and pictures, those of the web left out."""
    targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", prose(page)))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def code_words(page: Path) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`\n]+)`", prose(page))


@pages
def test_every_link_leads_somewhere(page):
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pages
def test_every_named_file_of_the_repository_exists(page):
    """Stars stand for anything, `<name>` too, and `{a,b}` for each of several."""
    missing = []
    for word in code_words(page):
        if re.fullmatch(rf"(?:{'|'.join(FOLDERS)})/[\w./<>*{{}},-]*", word):
            missing += [one for one in alternatives(word) if one not in EXAMPLES and not exists(one)]
    assert missing == []


def alternatives(word: str) -> list[str]:
    braces = re.search(r"\{([^{}]*)\}", word)
    if braces is None:
        return [word]
    parts = braces[1].split(",")
    return [one for part in parts for one in alternatives(word.replace(braces[0], part, 1))]


def exists(path: str) -> bool:
    return any(ROOT.glob(re.sub(r"<[^>]*>", "*", path).rstrip("/")))


def resolve(dotted: str) -> object:
    """The module, class or function that `irpretrain.<dotted>` names.

    Raises:
        AttributeError: there is none.
    """
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(["irpretrain", *parts[:length]])
        try:
            found: object = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not name.startswith(error.name or "?"):
                raise
            continue
        for attribute in parts[length:]:
            found = getattr(found, attribute)
        return found
    raise AttributeError(dotted)


def is_library(dotted: str) -> bool:
    try:
        resolve(dotted)
    except AttributeError:
        return False
    except SetupError:  # a module of an extra
        return is_in_the_sources(dotted)
    return True


@pages
def test_every_named_part_of_the_library_exists(page):
    named = [
        dotted
        for word in code_words(page)
        for dotted in re.findall(r"(?<![\w./])irpretrain\.([\w.]*\w)", word)
    ]
    assert [f"irpretrain.{dotted}" for dotted in named if not is_library(dotted)] == []


def is_in_the_sources(dotted: str) -> bool:
    """Whether `irpretrain.<dotted>` is a module or a function of one, read from its text: training imports slowly."""
    path = ROOT / "src" / "irpretrain" / dotted.replace(".", "/")
    if path.with_suffix(".py").is_file():
        return True
    tree = ast.parse(path.parent.with_suffix(".py").read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == path.name for node in tree.body)


def test_every_page_is_linked_from_another():
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in links(page)
        if page.parent
    }
    orphans = [page for page in PAGES if page.is_relative_to(ROOT / "docs") and page not in linked]
    assert [page.relative_to(ROOT).as_posix() for page in orphans] == []


def test_pages_name_no_path_of_one_machine():
    for page in PAGES:
        found = re.findall(
            r"(?<![\w.:/])/(?:home|root|work|tmp|Users|mnt)/[\w/.-]+", page.read_text(encoding="utf-8")
        )
        assert found == [], page


def key_exists(key: str) -> bool:
    """Whether `section.key` of the configuration exists; below a named entry anything is taken as right."""
    model: object = Config
    for part in key.split("."):
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return True
        if part not in model.model_fields:
            return False
        model = model.model_fields[part].annotation
    return True


@pages
def test_every_named_key_of_the_configuration_exists(page):
    # Its sections; entries with names of their own, such as models.<name>, have keys that differ by type.
    sections = [name for name, field in Config.model_fields.items() if inspect.isclass(field.annotation)]
    assert {"text", "pretraining", "finetuning"} <= set(sections)
    keys = [
        word for word in code_words(page) if re.fullmatch(rf"(?:{'|'.join(sections)})(?:\.[a-z_]+)+", word)
    ]
    assert [key for key in keys if not key_exists(key) and not is_library(key)] == []


# Of torch, of published code, and a rule that rules/report.smk makes.
NAMES_FROM_ELSEWHERE = {"_version", "has_answer", "make_tables_prop"}


def test_names_in_backticks_of_docstrings_and_comments_exist_in_the_code() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    others = [path.read_text(encoding="utf-8") for path in [ROOT / "config.yaml", *ROOT.glob("rules/*.smk")]]
    words = {
        word for text in [*sources, *others] for word in re.findall(r"\w+", re.sub(r"`[^`\n]*`", "", text))
    }
    names = {name for text in sources for name in re.findall(r"`([A-Z_][A-Z0-9_]+|[a-z]+_\w+|_\w+)`", text)}
    assert len(names) > 100
    assert names - words - NAMES_FROM_ELSEWHERE == set()
