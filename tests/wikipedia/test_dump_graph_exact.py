"""From wikitext to the graph: trees, See Also edges and groups are exactly what the builder of the dump put in."""

import bz2
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from synthetic_wiki import Article, Part, To, Wiki, Written, expected, graph_of, outline, row
from test_graph_exact import HUB, ONE_WAY, SHARDS, STRONG, WEAK, check, lead, wikis

from irpretrain.foundation.contracts import DOCUMENTS, REDIRECTS
from irpretrain.wikipedia.article import build_tree, read_sections

PACKS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    # Streams end anywhere, also within a page.
    "bzip2": lambda data: b"".join(bz2.compress(data[n : n + 700]) for n in range(0, len(data), 700)),
}


def check_documents(wiki: Wiki, written: Written) -> None:
    """Compare titles, trees, texts and links of the documents with those that were put in; count redirects."""
    rows = [row for path in written[0] for row in DOCUMENTS.read(path).to_pylist()]
    rows.sort(key=lambda row: (row["part"], row["position"]))
    assert [row["title"] for row in rows] == [article.title for article in wiki.articles]
    assert [row["disambiguation"] for row in rows] == [article.disambiguation for article in wiki.articles]
    for found, put_in, article in zip(rows, wiki.rows, wiki.articles, strict=True):
        sections = read_sections(found["sections"], found["body"])
        for boilerplate in (True, False):
            tree = build_tree(found["title"], sections, drop_boilerplate=not boilerplate)
            texts = [found["body"][node.start : node.end] for node in tree.nodes]
            paths = [tree.path(number) for number in range(len(tree.nodes))]
            assert list(zip(paths, texts, strict=True)) == outline(article, boilerplate)
        keys = ("start", "end", "section")
        assert [[link[key] for key in keys] for link in found["links"]] == [
            [link[key] for key in keys] for link in put_in["links"]
        ]
        assert (found["body"], found["sections"]) == (put_in["body"], put_in["sections"])
    assert sum(REDIRECTS.count(path) for path in written[1]) == len(wiki.redirects)


def check_all(collection: list[Wiki], folder: Path, shards: int, pack: str) -> None:
    written = [wiki.read_dump(folder / f"c{n}", shards, PACKS[pack]) for n, wiki in enumerate(collection)]
    for wiki, tables in zip(collection, written, strict=True):
        check_documents(wiki, tables)
    check(graph_of(written, folder), expected(collection))


@given(wikis(), st.sampled_from(SHARDS), st.sampled_from(sorted(PACKS)))
def test_random_dumps(no_worker, collection, shards, pack):
    # Pages without any text are no documents, and a corpus without documents is refused.
    texts = [[article for article in wiki.articles if row(article)["body"]] for wiki in collection]
    assume(any(texts))
    collection = [
        Wiki(articles, wiki.redirects, wiki.prefix)
        for articles, wiki in zip(texts, collection, strict=True)
        if articles
    ]
    with TemporaryDirectory() as name:
        check_all(collection, Path(name), shards, pack)


LISTS = Article(
    "Lists",
    [
        lead(To("hub", "a hub"), "and"),
        Part(2, "History", [To("Strong & weak")]),
        Part(4, "Uses", ["w"] * 9),
        Part(2, "See also", [To("hub"), To("Old name")]),
        Part(3, "External links", [To("weak")]),
        Part(3, "Others", [To("", "above"), To("One_way")]),
    ],
)


@pytest.mark.parametrize(("shards", "pack"), [(1, "plain"), (2, "bzip2")])
def test_a_dump_by_hand_with_the_guarded_parser(tmp_path, shards, pack):
    both = Article("Strong & weak", [lead(To("Lists"), "<", "5")], disambiguation=True)
    wiki = Wiki(
        [HUB, STRONG, WEAK, ONE_WAY, LISTS, both], [("Old name", "older Name"), ("Older Name", "Weak")]
    )
    assert expected([wiki]).see_also == {(4, 0), (4, 2), (4, 3)}
    check_all([wiki], tmp_path, shards, pack)
