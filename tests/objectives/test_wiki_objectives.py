"""The objectives that read articles and links, on articles of a few words: what comes out is told by hand."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_groups import Made
from synthetic_wiki import Article, Expected, Part, To, Wiki, expected, lead

from irpretrain.config.objectives import OBJECTIVES
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import DOCUMENTS, GROUPS
from irpretrain.objectives.shard import Shard

WIKI_TYPES = [name for name in OBJECTIVES if name not in ("rop", "ares")]
DRAWN_LATER = ("rqp", "acm", "ict", "bfs")
"""Types that learn only from other shards which of their drafts become groups."""


def words(*numbers: int) -> str:
    return " ".join(f"word{number:02d}" for number in numbers)


# Titles are word00 to word05; every text is of words of its own.
TREE = Article(
    words(0),
    [
        lead(words(10, 11)),
        Part(2, words(20), [words(12, 13, 14)]),
        Part(3, words(21), [words(15)]),
        Part(3, words(22), [words(16, 17)]),
        Part(2, words(23)),
        Part(2, words(24), [words(18)]),
        Part(2, "External links", [words(19)]),
    ],
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Made:
    pages = [
        TREE,
        Article(words(1), [lead(words(30))]),
        Article(words(2), [lead(words(31))], disambiguation=True),
    ]
    return Made([Wiki(pages)], tmp_path_factory.mktemp("tree"), tiny_encoder)


def test_srr_reads_the_titles_on_the_path_and_the_texts_of_siblings(tree: Made) -> None:
    texts = {words(0, 20): words(12, 13, 14), words(0, 24): words(18)}
    deeper = {words(0, 20, 21): words(15), words(0, 20, 22): words(16, 17)}
    upper, lower = tree.groups("srr")
    for found, siblings in ((upper, texts), (lower, deeper)):
        [query] = found["queries"]
        assert found["documents"][0] == siblings[query]
        assert set(found["documents"]) == set(siblings.values())
        assert len(found["documents"]) == 2
        assert found["raw"]["scores"] == [1.0, 0.0]
    assert tree.counts[0] == {
        "documents": 3,
        "skipped": {"disambiguation": 1, "too_few_sections": 1},
        "groups_not_made": {},
        "groups": 2,
        "sequences": 4,
    }
    tree.groups("srr", minimum_candidates=3)
    assert tree.counts[0]["skipped"] == {"disambiguation": 1, "too_few_candidates": 1, "too_few_sections": 1}
    tree.groups("srr", minimum_sections=6)
    assert tree.counts[0]["skipped"] == {"disambiguation": 1, "too_few_sections": 2}


def test_rwi_writes_queries_as_long_as_the_path(tree: Made) -> None:
    groups = tree.groups("rwi", negatives=2, groups_per_document=None)
    titles = {
        words(12, 13, 14): words(20),
        words(15): words(20, 21),
        words(16, 17): words(20, 22),
        words(18): words(24),
    }
    assert {g["documents"][0] for g in groups} == set(titles)
    for found in groups:
        assert found["queries"][0] == f"{words(0)} {titles[found['documents'][0]]}"
        assert len(found["queries"]) == 3
        assert len({tuple(sorted(query.split())) for query in found["queries"]}) == 3
        assert {len(query.split()) for query in found["queries"]} == {len(found["queries"][0].split())}
    assert tree.counts[0]["skipped"] == {"disambiguation": 1, "no_section_with_text": 1}
    assert tree.counts[0]["negatives_lacking"] == sum(3 - len(found["queries"]) for found in groups) == 0


def test_ati_prefers_the_abstract_for_the_title(tree: Made) -> None:
    [found] = tree.groups("ati")
    assert found["queries"] == [words(0)]
    assert found["documents"] == [words(10, 11), words(12, 13, 14), words(15), words(16, 17), words(18)]
    assert tree.counts[0]["skipped"] == {"disambiguation": 1, "no_other_section": 1}
    [found] = tree.groups("ati", most_negatives=2)
    assert len(found["documents"]) == 3
    assert found["documents"][0] == words(10, 11)


def test_ati_leaves_out_an_article_without_an_abstract(tmp_path: Path, tiny_encoder: Path) -> None:
    sections = [Part(2, words(20), [words(12)]), Part(2, words(21), [words(13)])]
    made = Made([Wiki([Article(words(0), [lead(""), *sections])])], tmp_path, tiny_encoder)
    assert made.groups("ati") == []
    assert made.counts[0]["skipped"]["no_abstract"] == 1


def test_a_title_is_read_without_blanks_around_it(tmp_path: Path, tiny_encoder: Path) -> None:
    page = Article(f" {words(0)} ", [lead(words(10)), Part(2, words(20), [words(11)])])
    [found] = Made([Wiki([page])], tmp_path, tiny_encoder).groups("ati")
    assert found["queries"] == [words(0)]


def test_ati_compares_titles_of_articles_but_no_disambiguation_pages(tree: Made) -> None:
    [found] = tree.groups("ati", negatives="titles", most_negatives=2)
    assert (found["queries"], found["documents"]) == ([words(0), words(1)], [words(10, 11)])
    with pytest.raises(ValueError, match="most_negatives"):
        tree.groups("ati", negatives="titles", most_negatives=None)


def test_sections_beyond_what_the_token_store_keeps_are_not_there(tmp_path: Path, tiny_encoder: Path) -> None:
    # Title, separator (one unknown piece), lead, then a heading and its text: nine pieces.
    cut = TextConfig(words="alphanumeric", max_word_pieces=8)
    made = Made([Wiki([TREE])], tmp_path, tiny_encoder, text=cut)
    [found] = made.groups("ati")
    assert found["documents"] == [words(10, 11), words(12, 13, 14)]
    assert made.groups("srr") == []


SEE_ALSO = Part(2, "See also", [To(words(1)), To(words(2))])
LINKED = [
    Article(words(0), [lead(words(10, 11), To(words(3))), Part(2, words(20), [words(12)]), SEE_ALSO]),
    Article(words(1), [lead(words(30))]),
    Article(words(2), [lead(words(31), To(words(0)))]),
    Article(words(3), [lead(words(32))]),
    Article(words(4), [lead(words(33))]),
    Article(words(5), [lead(words(34))], disambiguation=True),
]


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Made:
    return Made([Wiki(LINKED)], tmp_path_factory.mktemp("linked"), tiny_encoder, segment_words=99)


def test_ltm_prefers_what_see_also_names_and_does_not_read_the_list(linked: Made) -> None:
    first, second = linked.groups("ltm", negatives=2)
    assert first["queries"] == second["queries"] == [f"{words(0)} [UNK] {words(10, 11, 3, 20, 12)}"]
    assert [first["ids"][0], second["ids"][0]] == ["d1", "d2"]
    assert set(first["ids"][1:]) == set(second["ids"][1:]) == {"d3", "d4"}  # d5 only lists meanings
    assert all(d["start"] == 0 and d["end"] == -1 for d in first["raw"]["documents"])
    assert linked.counts[0]["negatives_repeated"] == 0
    linked.groups("ltm", negatives=3)
    assert linked.counts[0]["negatives_repeated"] == 2
    groups = linked.groups("ltm", links="symmetric", negatives=1)
    pairs = [(g["raw"]["queries"][0]["document_id"], g["ids"][0]) for g in groups]
    assert pairs == [("d0", "d2"), ("d2", "d0")]


@pytest.mark.parametrize(
    ("links", "least", "used", "unused", "skipped"),
    [
        ("see-also", 1, 2, {}, {"no_links": 4}),
        ("symmetric", 1, 2, {}, {"no_links": 3}),
        # Document 1 has one word, document 2 two, the others, but for the first, one.
        ("symmetric", 2, 0, {"without_other_documents": 2}, {"no_other_documents": 2, "short": 3}),
        ("see-also", 3, 0, {"to_short_documents": 2}, {"short": 4, "short_links": 1}),
        ("see-also", 99, 0, {"of_skipped_documents": 2}, {"short": 5}),
    ],
)
def test_ltm_says_what_became_of_every_edge(
    linked: Made,
    monkeypatch: pytest.MonkeyPatch,
    links: str,
    least: int,
    used: int,
    unused: dict[str, int],
    skipped: dict[str, int],
) -> None:
    monkeypatch.setattr("irpretrain.objectives.ltm.MINIMUM_WORDS", least)
    linked.build("ltm", links=links)
    [counts] = linked.counts
    assert counts["edges_used"] == {"see-also": 0, "symmetric": 0, links: used}
    assert {name: number for name, number in counts["edges_not_used"].items() if number} == unused
    assert counts["skipped"] == {"disambiguation": 1, **skipped}


@pytest.mark.usefixtures("queries_of_two_words")
def test_wlp_prefers_linked_documents_for_sentences_of_the_lead(linked: Made) -> None:
    groups = linked.groups("wlp", negatives=1, groups_per_document=None)
    assert [(g["queries"][0], g["ids"]) for g in groups[:3]] == [
        (words(10, 11, 3), ["d1", "d4"]),
        (words(10, 11, 3), ["d2", "d4"]),
        (words(10, 11, 3), ["d3", "d4"]),
    ]
    assert [g["ids"][0] for g in groups[3:]] == ["d0"]


# Segments of eight words. word00 links 1 to 4: 1 links back from its first segment, 2 from a later one, 3 and 4 do not.
FRONT = [To(words(1)), To(words(2)), To(words(3)), words(*range(10, 15))]
PHP = [
    Article(words(0), [lead(*FRONT, To(words(4)), words(*range(15, 22)))]),
    Article(words(1), [lead(To(words(0)), words(*range(22, 29)))]),
    Article(words(2), [lead(words(*range(30, 38)), To(words(0)), words(*range(40, 47)))]),
    Article(words(3), [lead(words(*range(50, 58)))]),
    Article(words(4), [lead(words(*range(60, 68)))]),
    Article(words(5), [lead(words(68), To(words(1)))]),
]


@pytest.fixture(scope="module")
def php(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Made:
    return Made([Wiki(PHP)], tmp_path_factory.mktemp("php"), tiny_encoder, segment_words=8)


def reported(groups: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(g["queries"][0], g["ids"][0], Counter(g["ids"][1:]), g["anchors"]) for g in groups]


def test_the_three_stages_of_php(php: Made) -> None:
    first, second = words(1, 2, 3, *range(10, 15)), words(4, *range(15, 22))
    assert reported(php.groups("hp", negatives=2, minimum_words=8)) == [
        (first, "d1", Counter({"d4": 2}), [words(1), None, None]),
        (first, "d2", Counter({"d4": 2}), [words(2), None, None]),
        (first, "d3", Counter({"d4": 2}), [words(3), None, None]),
        (second, "d4", Counter({"d3": 2}), [words(4), None, None]),
    ]
    assert php.counts[0] == {
        "documents": 6,
        "skipped": {"disambiguation": 0, "no_links": 2, "no_segment_with_both": 2, "short": 1},
        "groups_not_made": {},
        "groups": 4,
        "sequences": 12,
        "negatives_repeated": 4,
        # Segments that link any: two of d0, the one of d1 and the second of d2; d0 links both from its first.
        "segments": 4,
        "segments_without_preferred": 0,
        "segments_without_others": 2,
        "segments_beyond_token_store": 0,
        "D1": 3,
        "D2": 1,
        "D3": 2,
        "D4": 2,
        "D5": 2,
    }
    assert reported(php.groups("shp", negatives=1, minimum_words=8)) == [
        (first, "d1", Counter({"d3": 1}), [words(1), words(3)]),
        (first, "d2", Counter({"d3": 1}), [words(2), words(3)]),
    ]
    names = ("segments", "segments_without_preferred", "segments_without_others")
    assert [php.counts[0][name] for name in names] == [4, 1, 2]
    assert reported(php.groups("mrds", negatives=1, minimum_words=8)) == [
        (first, "d1", Counter({"d2": 1}), [words(1), words(2)])
    ]


def test_php_with_caps(php: Made) -> None:
    caps = {"segments_per_document": 1, "positives_per_segment": 1}
    [found] = php.groups("hp", negatives=3, minimum_words=8, **caps)
    everything = php.groups("hp", negatives=3, minimum_words=8)
    assert len(everything) > 1
    assert (found["ids"][0], set(found["ids"][1:])) in [
        (group["ids"][0], set(group["ids"][1:])) for group in everything
    ]


def test_short_articles_are_neither_queries_nor_documents(php: Made) -> None:
    assert reported(php.groups("hp", negatives=1, minimum_words=1))[-1][0] != words(38, 1)
    assert php.groups("hp", minimum_words=17) == []
    assert php.counts[0]["skipped"] == {"disambiguation": 0, "no_links": 2, "short": 4}


# Sentences are lines here.
PROSE = Article(
    words(0), [lead(f"{words(10, 11)}\n{words(12, 13)}\n{words(14)}"), Part(2, words(20), [words(15, 16)])]
)
OTHER = Article(words(1), [lead(f"{words(30, 31)}\n{words(32)}"), Part(2, words(20), [words(33)])])


@pytest.fixture(scope="module")
def prose(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Made:
    return Made([Wiki([PROSE, OTHER])], tmp_path_factory.mktemp("prose"), tiny_encoder)


@pytest.mark.usefixtures("queries_of_two_words")
def test_ict_leaves_a_sentence_out_of_every_passage(prose: Made) -> None:
    # A passage that begins the body begins with the title.
    left = {words(10, 11): words(12, 13, 14), words(12, 13): words(10, 11, 14)}
    passages = {query: f"{words(0)} [UNK] {rest}" for query, rest in left.items()}
    passages |= {words(30, 31): f"{words(1)} [UNK] {words(32)}"}
    seen = set()
    for seed in range(1, 9):
        prose.seed = seed
        for found in prose.groups("ict", negatives=1, passage_words=6):
            [query] = found["queries"]
            own, other = found["documents"]
            assert own == passages[query]
            assert other in passages.values()
            assert set(found["ids"]) == {"d0", "d1"}
            seen.add((query, other))
    assert len(seen) == 4
    prose.seed = 1
    [found, _] = prose.groups("ict", negatives=1, keep_sentence=1.0)
    assert found["documents"] == [
        f"{words(0)} [UNK] {words(10, 11, 12, 13, 14)}",
        f"{words(1)} [UNK] {words(30, 31, 32)}",
    ]


@pytest.mark.usefixtures("queries_of_two_words")
def test_bfs_matches_the_lead_with_passages_of_the_article(prose: Made) -> None:
    groups = prose.groups("bfs", negatives=1, groups_per_document=None, passage_words=5)
    assert [g["queries"][0] for g in groups] == [words(10, 11), words(12, 13), words(30, 31)]
    for found in groups[:2]:
        rest = " ".join(w for w in words(10, 11, 12, 13, 14).split() if w not in found["queries"][0])
        assert found["documents"][0] in {f"{words(0)} [UNK] {rest}", words(15, 16)}
        assert found["documents"][1] in {f"{words(1)} [UNK] {words(32)}", words(33)}
        assert found["ids"][1:] == ["d1"]


@pytest.mark.usefixtures("queries_of_two_words")
def test_a_document_without_such_a_passage_gives_none(tmp_path: Path, tiny_encoder: Path) -> None:
    pages = [PROSE, OTHER, Article(words(2), [lead(words(40, 41))])]
    made = Made([Wiki(pages)], tmp_path, tiny_encoder)
    groups = made.groups("ict", negatives=2)
    assert [found["ids"] for found in groups] == [["d0", "d1"], ["d1", "d0"]]
    assert made.counts[0]["negatives_lacking"] == 2
    alone = Made([Wiki(pages[:1] + pages[2:])], tmp_path / "alone", tiny_encoder)
    assert alone.groups("ict", negatives=1) == []
    assert alone.counts[0]["groups_without_negatives"] == 1


def counted(made: Made, name: str) -> int:
    return sum(counts[name] for counts in made.counts)


def multi_piece_wikis(articles: int) -> list[Wiki]:
    """Articles of words of one to four pieces, in lines (sentences) of one to five words; the last ones are short."""
    rng = np.random.default_rng(7)

    def text(count: int) -> str:
        made = ["".join(rng.choice(list("abcdefghij"), size=int(rng.integers(1, 5)))) for _ in range(count)]
        return "".join(word + ("\n" if rng.random() < 0.3 else " ") for word in made)

    sizes = [int(rng.integers(20, 60)) for _ in range(articles - 2)] + [1, 2]
    return [Wiki([Article(words(n), [lead(text(size))]) for n, size in enumerate(sizes)])]


@pytest.mark.usefixtures("queries_of_one_word")
@pytest.mark.parametrize("type", ["ict", "bfs"])
def test_passages_of_other_documents_are_cut_as_the_articles_own(
    tmp_path: Path, tiny_encoder: Path, type: str
) -> None:
    """Where a passage begins and ends, and what is left out of it, tells nothing: it is a sentence in all of them."""
    made = Made(multi_piece_wikis(14), tmp_path, tiny_encoder, shards=2)
    options = {"passage_words": 9, "groups_per_document": None, "negatives": 3}
    lines = {
        row["document_id"]: made.sentences(row)
        for path in made.every
        for row in DOCUMENTS.read(path).to_pylist()
    }
    with_gap, lacking = Counter[tuple[bool, bool]](), 0
    for found in made.groups(type, **options):
        lacking += 1 + 3 - len(found["documents"])
        for location, span in enumerate(found["raw"]["documents"]):
            starts, ends = zip(*lines[span["document_id"]], strict=True)
            assert span["start"] in (0, *starts[1:])  # the first sentence has the title before it
            assert span["end"] in ends
            gap = (span["gap_start"], span["gap_end"])
            assert gap == (0, 0) or gap in lines[span["document_id"]]
            with_gap[location == 0, gap != (0, 0)] += 1
    assert lacking + 3 * counted(made, "groups_without_negatives") == counted(made, "negatives_lacking")
    assert with_gap[False, True] > 0
    if type == "ict":
        assert {gap for _, gap in with_gap} == {True}


# Each line is a sentence. "word70" leads to word01 in one article and to word02 in another.
HARP = [
    Article(
        words(0), [lead(words(10, 11), To(words(1), words(70)), words(12), To(words(3)), f"\n{words(13)}")]
    ),
    Article(words(1), [lead(words(20, 21))]),
    Article(words(2), [lead(words(22, 22))]),
    Article(words(3), [lead(words(23, 24), To(words(2), words(70)))]),
    Article(words(4), [lead(words(25, 26, 70))]),
]


@pytest.fixture(scope="module")
def harp(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Made:
    return Made([Wiki(HARP)], tmp_path_factory.mktemp("harp"), tiny_encoder, segment_words=99)


def test_rqp_prefers_the_anchor_with_its_surroundings_to_words_of_the_page(harp: Made) -> None:
    groups = harp.groups("rqp", groups_per_document=None)
    around = (
        {"word10", "word11", "word12", "word03"},
        {"word10", "word11", "word70", "word12"},
        {"word23", "word24"},
    )
    pages = {"word20", "word21"}, {"word23", "word24", "word70"}, {"word22"}
    assert [g["ids"] for g in groups] == [["d1"], ["d3"], ["d2"]]
    for found, context, page, anchor in zip(
        groups, around, pages, ("word70", "word03", "word70"), strict=True
    ):
        positive, negative = found["queries"]
        *drawn, last = positive.split()
        assert last == anchor
        assert drawn
        assert set(drawn) <= context
        assert set(negative.split()) <= page
    assert harp.counts[0] == {
        "documents": 5,
        "skipped": {"disambiguation": 0, "no_links": 3},
        "groups_not_made": {},
        "groups": 3,
        "sequences": 6,
        "documents_without_words": 0,
    }


def test_qdm_prefers_the_page_that_the_words_lead_to_here(harp: Made) -> None:
    first, second = harp.groups("qdm")
    assert [first["ids"], second["ids"]] == [["d1", "d2"], ["d2", "d1"]]
    assert first["queries"][0].split()[-1] == second["queries"][0].split()[-1] == "word70"
    assert set(first["queries"][0].split()[:-1]) <= {"word10", "word11", "word12", "word03"}
    assert harp.counts[0]["skipped"] == {"disambiguation": 0, "no_links": 3}


def test_rdp_prefers_the_page_of_the_rarer_anchor(harp: Made) -> None:
    [found] = harp.groups("rdp")
    assert found["queries"] == [words(10, 11, 70, 12, 3)]
    assert found["ids"] == ["d3", "d1"]  # word70 is in three documents of five, word03 in two


def test_acm_prefers_the_page_that_is_linked_beside(harp: Made) -> None:
    [found] = harp.groups("acm")
    [query] = found["queries"]
    assert query.split()[-1] == "word70"
    assert set(query.split()[:-1]) <= {"word20", "word21"}
    assert found["ids"][0] == "d3"
    assert found["ids"][1] in {"d2", "d4"}


FEW = [
    Article(
        words(0),
        [lead(words(10), To(words(1)), To(words(2)), "\n", words(11)), Part(2, words(20), [words(12)])],
    ),
    Article(words(1), [lead(words(30, 2))]),
    Article(words(2), [lead(words(31))]),
]


@pytest.mark.usefixtures("queries_of_two_words")
@pytest.mark.parametrize(
    ("type", "options", "articles", "pieces", "skipped"),
    [
        ("acm", {}, 3, None, {"no_links": 2, "no_other_documents": 1}),
        ("wlp", {}, 3, None, {"no_links": 2, "no_other_documents": 1}),
        ("ict", {}, 1, None, {"no_other_documents": 1}),
        ("ati", {"negatives": "titles", "most_negatives": 2}, 1, None, {"no_other_title": 1}),
        ("ict", {}, 3, 2, {"beyond_token_store": 1, "no_passage_with_a_sentence": 2}),
        ("rdp", {}, 3, 2, {"no_links": 2, "beyond_token_store": 1}),
    ],
)
def test_what_too_few_documents_or_word_pieces_leave_out_is_counted(
    tmp_path: Path,
    tiny_encoder: Path,
    type: str,
    options: dict[str, Any],
    articles: int,
    pieces: int | None,
    skipped: dict[str, int],
) -> None:
    text = TextConfig(words="alphanumeric", max_word_pieces=pieces)
    made = Made([Wiki(FEW[:articles])], tmp_path, tiny_encoder, text=text)
    assert made.groups(type, **options) == []
    assert made.counts[0]["skipped"] == {"disambiguation": 0, **skipped}


def random_wikis(seed: int) -> list[Wiki]:
    """Two corpora of articles with sections, links within and across them, and See Also lists."""
    rng = np.random.default_rng(seed)

    def word() -> str:
        return words(int(rng.integers(10, 80)))

    def piece() -> str | To:
        if rng.random() < 0.25:
            return To(
                title(int(rng.integers(24))), "" if rng.random() < 0.5 else words(int(rng.integers(70, 74)))
            )
        return word() + ("\n" if rng.random() < 0.2 else "")

    def title(number: int) -> str:
        return f"{words(number % 10)} {'abc'[number // 10]}"

    def article(number: int) -> Article:
        parts = [lead(*(piece() for _ in range(int(rng.integers(2, 25)))))]
        parts += [
            Part(int(rng.integers(2, 5)), word(), [piece() for _ in range(int(rng.integers(0, 12)))])
            for _ in range(int(rng.integers(0, 5)))
        ]
        if rng.random() < 0.6:
            parts.append(Part(2, "See also", [To(title(int(rng.integers(24)))) for _ in range(3)]))
        return Article(title(number), parts, disambiguation=bool(rng.random() < 0.1))

    return [Wiki([article(n) for n in range(14)]), Wiki([article(n) for n in range(14, 24)], prefix="e")]


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> list[Made]:
    folder = tmp_path_factory.mktemp("sharded")
    return [Made(random_wikis(3), folder / str(shards), tiny_encoder, shards) for shards in (1, 2, 4)]


@pytest.fixture(scope="module")
def truth(sharded: list[Made]) -> Expected:
    """The graph of the random wikis, found by looking at every pair of documents."""
    return expected(sharded[0].wikis)


@pytest.fixture(scope="module")
def articles(sharded: list[Made]) -> dict[int, str]:
    """Identifiers of the random wikis' documents by node, without disambiguation pages."""
    rows = [row for wiki in sharded[0].wikis for row in wiki.rows]
    return {node: row["document_id"] for node, row in enumerate(rows) if not row["disambiguation"]}


def build(made: Made, type: str, **options: Any) -> list[dict[str, Any]]:
    """Return the groups of an objective whose articles may be short."""
    short = {"minimum_words": 3} if type in {"hp", "shp", "mrds"} else {}
    return GROUPS.read(made.build(type, **short, **options)).to_pylist()


@pytest.mark.parametrize(
    ("type", "preferred", "others"), [("hp", (0, 1, 2), (3,)), ("shp", (0, 1), (2,)), ("mrds", (0,), (1,))]
)
def test_php_makes_every_group_that_the_definition_asks_for(
    sharded: list[Made],
    truth: Expected,
    articles: dict[int, str],
    type: str,
    preferred: tuple[int, ...],
    others: tuple[int, ...],
) -> None:
    names = [row["document_id"] for wiki in sharded[0].wikis for row in wiki.rows]
    wanted: Counter[tuple[str, str, frozenset[str]]] = Counter()
    for (source, _), parts in truth.groups.items():
        positives = [names[node] for number in preferred for node in parts[number]]
        negatives = frozenset(names[node] for number in others for node in parts[number])
        # A segment asks only where it has an anchor: D4 alone makes no group.
        if source in articles and negatives:
            wanted.update((names[source], positive, negatives) for positive in positives)
    rows = sharded[0].groups(type, negatives=30, minimum_words=1)
    found = Counter(
        (g["raw"]["queries"][0]["document_id"], g["ids"][0], frozenset(g["ids"][1:])) for g in rows
    )
    assert found == wanted
    assert wanted
    assert all(len(g["ids"]) == 31 and len(g["anchors"]) == 31 and g["anchors"][0] for g in rows)


def test_ltm_makes_a_group_of_every_see_also_edge_between_articles(
    sharded: list[Made], truth: Expected, articles: dict[int, str]
) -> None:
    made = sharded[0]
    wanted = {(articles[s], articles[t]) for s, t in truth.see_also if s in articles and t in articles}
    rows = made.groups("ltm", negatives=2)
    assert {(g["raw"]["queries"][0]["document_id"], g["ids"][0]) for g in rows} == wanted
    assert len(rows) == len(wanted)
    edges = [counts["edges_not_used"]["to_disambiguation_pages"] for counts in made.counts]
    assert sum(edges) == sum(s in articles and t not in articles for s, t in truth.see_also) > 0
    linked = {name: {t for s, t in wanted if s == name} for name in articles.values()}
    for found in rows:
        source = found["raw"]["queries"][0]["document_id"]
        assert not ({source} | linked[source]) & set(found["ids"][1:])


@pytest.mark.parametrize(
    ("type", "options"),
    [*((type, {}) for type in WIKI_TYPES), ("ati", {"negatives": "titles", "most_negatives": 3})],
)
def test_shards_change_no_byte_and_counts_balance(
    sharded: list[Made], type: str, options: dict[str, Any]
) -> None:
    sums = []
    for made in sharded:
        build(made, type, **options)
        outputs = [p for corpus in range(2) for p in sorted(made.folder.glob(f"{type}-{corpus}-*.parquet"))]
        for counts, output in zip(made.counts, outputs, strict=True):
            rows = GROUPS.read(output).to_pylist()
            assert counts["groups"] == len(rows)
            assert counts["sequences"] == sum(max(len(r["queries"]), len(r["documents"])) for r in rows)
            if type not in DRAWN_LATER:
                used = len({(row["part"], row["position"]) for row in rows})
                assert counts["documents"] == used + sum(counts["skipped"].values())
        sums.append(sum((Counter(dict(numbers(counts))) for counts in made.counts), Counter[str]()))
    assert sums[0] == sums[1] == sums[2]
    assert sums[0]["documents"] == 24
    assert sums[0]["groups"] > 0
    assert len({(made.folder / f"{type}.parquet").read_bytes() for made in sharded}) == 1


def numbers(counts: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, int]]:
    """All counts of a shard by their names, those of nested ones too."""
    for name, value in counts.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{prefix}{name}: ")
        else:
            yield f"{prefix}{name}", value


@pytest.mark.parametrize("type", WIKI_TYPES)
def test_groups_are_sound(sharded: list[Made], type: str) -> None:
    """The preferred sequence is never among the others, spans hold word pieces, and a draw depends on the seed."""
    made = sharded[0]
    lengths = dict(zip(made.store.document_ids.to_pylist(), made.store.lengths.tolist(), strict=True))
    for row in build(made, type):
        sequences = row["queries"] if len(row["queries"]) > 1 else row["documents"]
        assert len(row["scores"]) == len(sequences) >= 2
        assert row["scores"] == [1.0] + [0.0] * (len(sequences) - 1)
        assert sequences[0] not in sequences[1:]
        assert all(query["text"].strip() or query["document_id"] for query in row["queries"])
        for span in [*row["documents"], *(query for query in row["queries"] if query["document_id"])]:
            length = lengths[span["document_id"]]
            end = length if span["end"] == -1 else span["end"]
            assert 0 <= span["start"] < end <= length
        if row["anchors"]:
            [query] = row["queries"]
            assert all(
                (a["start"], a["end"]) == (-1, -1) or query["start"] <= a["start"] < a["end"] <= query["end"]
                for a in row["anchors"]
            )


@pytest.mark.parametrize("type", ["ltm", "wlp", "acm", "ict", "bfs"])
def test_where_others_are_drawn_at_random_no_document_is_a_disambiguation_page(
    sharded: list[Made], articles: dict[int, str], type: str
) -> None:
    """Random documents never are, so a preferred one that is would be told by its form alone."""
    options = {} if type == "ltm" else {"groups_per_document": None}
    rows = build(sharded[0], type, **options)
    assert rows
    assert len(articles) < 24
    assert {document["document_id"] for row in rows for document in row["documents"]} <= {*articles.values()}


@pytest.mark.parametrize("type", WIKI_TYPES)
def test_no_two_draws_of_an_objective_share_a_stream(
    sharded: list[Made], type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream is of an objective and a document, or of a passage or page of one."""
    original, drawn = Shard.stream, list[tuple[str, str]]()

    def stream(self: Shard, objective: str, identifier: str) -> np.random.Generator:
        drawn.append((objective, identifier))
        return original(self, objective, identifier)

    monkeypatch.setattr(Shard, "stream", stream)
    build(sharded[0], type)
    assert {objective.split()[0] for objective, _ in drawn} == {type}
    assert len(set(drawn)) == len(drawn) > 1
