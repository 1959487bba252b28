"""Wikitext that public parsers were reported to misread, with more of its kind, and what MediaWiki shows of it."""

from pathlib import Path

import pytest
from wiki_pages import links_of, text_of, wiki

# Edition, wikitext, what MediaWiki shows, and, of a reported one, the report and MediaWiki's rule.
CASES = Path(__file__).with_name("mediawiki_cases.tsv").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("row", CASES)
def test_text(row: str) -> None:
    code, wikitext, text, *_ = row.replace("\\n", "\n").split("\t")
    assert text_of(wiki(code).with_page_names(wikitext, "T"), wiki(code)) == text


@pytest.mark.parametrize(
    ("code", "wikitext", "links"),
    [
        ("uk", "за[[лізниця]]", [("залізниця", "лізниця")]),  # letters before a link belong to its anchor
        ("en", "{{#switch: 2|1=[[t|x]]|2=[[u|I}}}]]|3}}", [("I}}}", "u")]),
        ("ja", "{{仮リンク|丙|en|C|label=丁}}{{ill2|戦艦|en|Battleship}}", [("丁", "丙"), ("戦艦", "戦艦")]),
    ],
)
def test_links(code: str, wikitext: str, links: list[tuple[str, str]]) -> None:
    assert links_of(wikitext, wiki(code)) == links
