"""Pages between their borders, whatever the pieces; faults at their place."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_dumps import HEAD, articles, dump, page

from irpretrain.foundation.pieces import Damage, Piece
from irpretrain.wikipedia import pages
from irpretrain.wikipedia.dump import DamagedHeader, ForbiddenXml, NoDump, read_site
from irpretrain.wikipedia.pages import Fault, Page, read_pages


def cut(content, length):
    return [Piece(n, content[n : n + length]) for n in range(0, len(content), length)]


def read(content, longest=1000, length=1 << 20):
    return list(read_pages(cut(content, length), longest))


def reasons(found):
    return [f.reason if isinstance(f, Fault) else f.title for f in found]


def test_a_page():
    (found,) = read(dump(page(7, "Sun &amp; Moon", "a &lt;page&gt; b")))
    assert found == Page(len(HEAD), "Sun & Moon", "7", 0, None, "a <page> b")


def test_bytes_that_are_not_utf8_are_called_so():
    broken = dump(page(1), page(2, "B", "caf\xe9 au lait"), page(3)).decode().encode("latin-1")
    for length in (7, 1 << 20):
        first, fault, last = read(broken, length=length)
        assert (first.page_id, last.page_id) == ("1", "3")
        assert (fault.reason, fault.detail) == ("damaged XML", "page 'B': bytes that are not UTF-8")


def test_the_namespace_and_the_model():
    old = page(1).replace("<ns>0</ns>", "")
    wrong = page(2).replace("<ns>0</ns>", "<ns>x</ns>")
    data = page(3).replace("<text>", "<model>json</model><text>")
    first, fault, last = read(dump(old, wrong, data))
    assert (first.namespace, first.model) == (None, "")
    assert (fault.reason, fault.detail) == ("damaged XML", "page 'Title': its namespace is no number")
    assert (last.namespace, last.model) == (0, "json")


def test_deleted_hidden_and_empty_texts():
    hidden = page(1).replace("<text>Some text.</text>", '<text deleted="deleted" />')
    empty = page(2).replace("<text>Some text.</text>", '<text bytes="0" />')
    without = page(3).replace("<text>Some text.</text>", "")
    assert [(p.text, p.deleted) for p in read(dump(hidden, empty, without))] == [
        (None, True),
        (None, False),
        (None, False),
    ]


@given(st.integers(1, 400), st.integers(0, 2000), st.booleans())
def test_pieces_and_shares_change_nothing(length, border, damaged):
    content = dump(*articles(4, 5), "junk" if damaged else "", page(9, "Broken &"), *articles(2, 5))
    whole = read(content, length=1 << 20)
    assert read(content, length=length) == whole
    pieces = cut(content, length)
    first = min(border // length, len(pieces))
    shares = [
        [Piece(p.offset, p.text, n < first, n >= first) for n, p in enumerate(pieces)],
        [Piece(p.offset, p.text) for p in pieces[first:]],
    ]
    assert [found for share in shares for found in read_pages(share, 1000)] == whole


def test_pages_of_a_block_have_the_position_of_the_block_and_their_number():
    pages = "".join(articles(4, 5)).encode()
    blocks = [
        Piece(1000, pages[:700], is_block=True),
        Piece(9000, pages[700:] + b"</mediawiki>", is_block=True),
    ]
    started = pages[:700].count(b"<page>")
    assert [p.position for p in read_pages(blocks, 1000)] == [
        *range(1000, 1000 + started),
        *range(9000, 9004 - started),
    ]


@pytest.mark.parametrize(
    ("between", "fault"),
    [
        ("<page><title>B</title>", "page 'B': the next page begins"),
        ("<page><title>B</wrong></page>", "a page: mismatched tag"),
        ("<page><title>&bomb;</title></page>", "a page: undefined entity"),
        ("<page><!DOCTYPE a></page>", "a page: not well-formed (invalid token)"),
        ("<page>" + "<a>" * 65 + "</page>", "a page: elements are nested too deeply"),
        ("words", "after the page that begins here stands 'words'"),
        ("</page>", "after the page that begins here stands '</page>'"),
    ],
)
def test_what_is_broken_costs_no_other_page(between, fault):
    first, broken, last = read(dump(page(1, "A"), between, page(3, "C")))
    assert (first.title, last.title) == ("A", "C")
    assert broken.detail == fault


def test_a_tag_that_does_not_end_is_not_read_for_ever(monkeypatch):
    monkeypatch.setattr(pages, "max_record_bytes", lambda: 200)
    long_tag = page(2, "B").replace("<text>", f"<text a='{'x' * 2000}'>")
    first, broken, last = read(dump(page(1, "A"), long_tag, page(3, "C")), length=50)
    assert (first.title, last.title) == ("A", "C")
    assert broken.detail == "page 'B': a tag of more than 200 bytes"


@pytest.mark.parametrize("end", ["", "</mediawik", "junk", "</mediawiki>junk", "<a></b>"])
def test_a_dump_without_its_end(end):
    first, last = read(dump(page(1, "A"), end=end))
    assert first.title == "A"
    assert (last.reason, last.detail) == ("damaged XML", "the dump does not end with </mediawiki>")


def test_what_stands_behind_the_last_page():
    assert reasons(read(dump(page(1, "A"), "junk"))) == ["A", "damaged XML"]
    broken_off = read(dump(page(1, "A"), "<page><title>B</title>", end=""))
    assert reasons(broken_off) == ["A", "page breaks off", "damaged XML"]


def test_lost_bytes_end_the_page_and_are_reported_once():
    content = dump(*(page(n, f"T{n}") for n in range(1, 7)))
    middle = content.index(b"<title>T3")
    lost = Damage(middle, "the block here", "cannot be read")
    found = list(
        read_pages([Piece(0, content[:middle]), lost, Piece(middle + 9, content[middle + 9 :])], 100)
    )
    assert reasons(found) == ["T1", "T2", "page breaks off", "damaged archive", "T4", "T5", "T6"]
    others = Damage(middle, "the block here", "cannot be read", in_share=False)
    past = Piece(middle + 9, content[middle + 9 :], in_share=False, is_past=True)
    assert reasons(read_pages([Piece(0, content[:middle]), others, past], 100)) == [
        "T1",
        "T2",
        "page breaks off",
    ]


def test_reading_stops_when_nothing_of_the_share_is_left():
    content = dump(*(page(n, f"T{n}") for n in range(1, 7)))
    middle = content.index(b"<title>T3")

    def pieces():
        yield Piece(0, content[:middle])
        yield Piece(middle, content[middle:], in_share=False, is_past=True)
        pytest.fail("one piece too many was asked for")

    assert reasons(read_pages(pieces(), 100)) == ["T1", "T2", "T3"]


def test_the_header():
    site = read_site(piece.text for piece in cut(dump(page(1)), 7))
    assert (site.database, site.base) == ("testwiki", "https://t.example/wiki/Main_Page")
    assert site.namespaces == {0: "", 6: "Datei", 14: "Kategorie"}
    assert read_site([b""]).database == ""


BOMB = b'<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]><mediawiki>&c;</mediawiki>'
OUTSIDE = b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><mediawiki/>'


@pytest.mark.parametrize("content", [BOMB, BOMB.replace(b"DOCTYPE a", b"DOCTYPE html"), OUTSIDE])
def test_entities_are_forbidden_whatever_the_document_type(content):
    with pytest.raises(ForbiddenXml):
        read_site([content])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<mediawiki>\n</b>" + b" " * 70_000, "mismatched tag in line 2"),
        (b'<?xml version="1.0" encoding="latin-1"?><a>', "the encoding is latin-1, not UTF-8"),
    ],
)
def test_broken_headers(content, reason):
    with pytest.raises(DamagedHeader, match=reason):
        read_site([content])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            b'\n{"name": "Earth", "article_body": {"html": "<b>x</b>"}}\n',
            """this is not XML; it begins with '{"name": "Earth", "a'""",
        ),
        (b"-- MySQL dump 10.16\nDROP TABLE x;", "this is not XML; it begins with '-- MySQL dump 10.16'"),
        (b"\x00" * 9, "this is not XML; it begins with 00 00 00"),
        (dump(page(1)).decode().encode("utf-16"), "this is not XML; it begins with ff fe 3c 00"),
        (b"<feed><doc/></feed>", "this begins with <feed>, not with <mediawiki>"),
        (b"<html><br></body>", "this begins with <html>, not with <mediawiki>"),
        (b"<!DOCTYPE html><html><br></body>", r"this is a web page \(HTML\)"),
    ],
)
@pytest.mark.parametrize("length", [5, 100])
def test_files_that_are_no_dumps(content, reason, length):
    with pytest.raises(NoDump, match=reason):
        read_site(content[n : n + length] for n in range(0, len(content), length))


def test_a_page_with_attributes_is_not_passed_over_in_silence():
    with pytest.raises(DamagedHeader, match="the tag <page> has attributes"):
        read_site([dump(page(1).replace("<page>", '<page xml:space="preserve">'), page(2))])
    found = read(dump(page(1), page(2).replace("<page>", '<page xml:space="preserve">'), page(3)))
    assert reasons(found) == ["Title", "damaged XML", "Title"]


def test_memory_stays_flat_over_many_pages_and_one_huge_one():
    def pieces():
        yield Piece(0, HEAD.encode())
        for number in range(60):
            yield Piece(number, page(number, text="word " * 200_000).encode())
        yield Piece(0, b"<page><title>Huge</title><ns>0</ns><id>1</id><revision><text>")
        for _ in range(60):
            yield Piece(0, b"x" * 1_000_000)
        yield Piece(0, b"</text></revision></page>")
        for _ in range(60):
            yield Piece(0, b"junk" * 250_000)
        yield Piece(0, b"</mediawiki>")

    tracemalloc.start()
    found = [
        (f.title, f.oversized) if isinstance(f, Page) else f.reason for f in read_pages(pieces(), 2_000_000)
    ]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 62
    assert found[-2:] == [("Huge", True), "damaged XML"]
    assert peak < 20_000_000


def revision(text, time="", model="wikitext"):
    stamp = f"<timestamp>{time}</timestamp>" if time else ""
    element = "" if text is None else f"<text>{text}</text>"
    return f"<revision>{stamp}<model>{model}</model>{element}</revision>"


@pytest.mark.parametrize(
    ("revisions", "text"),
    [
        ([("a", "2020-01-02T00:00:00Z"), ("b", "2021-01-02T00:00:00Z"), ("c", "2019-01-02T00:00:00Z")], "b"),
        ([("b", "2021-01-02T00:00:00Z"), ("a", "2020-01-02T00:00:00Z")], "b"),
        ([("a", "2020-01-02T00:00:00Z"), ("b", "2020-01-02T00:00:00Z")], "b"),
        ([("a",), ("b",)], "b"),
        ([("b", "2021-01-02T00:00:00Z", "json"), ("a",)], "b"),
        ([("", "2021-01-02T00:00:00Z"), ("a", "2020-01-02T00:00:00Z")], None),
        ([("a",), (None,)], None),
        ([("long",), ("b",)], "b"),
        ([("b", "2021-01-02T00:00:00Z"), ("long", "2020-01-02T00:00:00Z")], "b"),
        ([("a",), ("long",)], "too long"),
        ([("long",), (None,)], None),
    ],
    ids=["middle", "first", "equal", "no-times", "one-time", "emptied", "without-text", "long-before",
         "long-behind", "long", "long-before-none"],
)  # fmt: skip
def test_the_newest_revision_of_a_page_counts(revisions, text):
    given = "".join(revision(*each) for each in revisions)
    whole = page(1).partition("<revision>")[0] + given + "</page>"
    [found] = read(dump(whole), longest=3)
    assert (found.title, "too long" if found.oversized else found.text) == ("Title", text)
    assert found.model == (revisions[0][2] if len(revisions[0]) > 2 else "wikitext")
