"""Wikitext that public parsers were reported to misread, and what MediaWiki shows of it (`cases/`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from irpretrain.wikipedia.article import Article
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article

FOLDER = Path(__file__).parent / "cases"
CASES = sorted(FOLDER.glob("*.wikitext"))


# of each class of cases: edition, wikitext, what MediaWiki shows
FAMILIES = (FOLDER / "families.tsv").read_text(encoding="utf-8").splitlines()


def read(code: str, wikitext: str) -> Article:
    language = WikiLanguage.of(SiteInfo(base=f"https://{code}.wikipedia.org/wiki/X"))
    return parse_article(language.with_page_names(wikitext, "T"), language)


@pytest.mark.parametrize("row", FAMILIES)
def test_others_of_its_class(row: str) -> None:
    code, wikitext, text = row.replace("\\n", "\n").split("\t")
    assert read(code, wikitext).text == text


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_a_case(path: Path) -> None:
    case = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    article = read(case["language"], path.read_text(encoding="utf-8"))
    actual = {
        "text": article.text,
        "links": [[link.target, article.text[link.start : link.end]] for link in article.links],
        "sections": [[section.level, section.heading] for section in article.sections if section.level],
    }
    assert {key: actual[key] for key in case["right"]} == case["right"]
