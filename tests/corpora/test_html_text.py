"""Text of web pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irpretrain.corpora import web_pages
from irpretrain.corpora.web_pages import decode_page, page, page_text

PAGE = """<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN">
<HTML><HEAD><TITLE>Fish &amp; chips
 today</TITLE>
<style>p { color: red } </style><script type="text/javascript">if (a < b) document.write("<p>no</p>");</script>
<META http-equiv="Content-Type" content="text/html; charset=iso-8859-1"></HEAD>
<BODY bgcolor=white><!-- a comment with <b>markup</b> -->
<h1>Price&nbsp;list</h1><p>One<br>two <a href="x?a>b" title='it''s'>three</a>four
<table><tr><td>5</td><td>6</td></tr></table>
&lt;not a tag&gt; 7 < 8 &copy; &#233; &#xE9; &unknown;
</BODY></HTML>"""


def test_a_page():
    title, text = page_text(PAGE)
    assert title == "Fish & chips today"
    assert text == "Price list\nOne\ntwo threefour\n5 6\n<not a tag> 7 < 8 © é é &unknown;"


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        (
            "address article aside blockquote br center dd details dialog dir div dl dt fieldset figcaption figure "
            "footer form h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol option p pre section select table "
            "tbody tfoot thead tr ul",
            "a\nb\nc",
        ),
        ("td th", "a b c"),
        ("script style noscript template iframe object applet svg textarea", "ac"),
        ("b i em strong span font code sub sup a u tt", "abc"),
    ],
    ids=["lines", "cells", "hidden", "inline"],
)
def test_elements_part_words_as_a_browser_shows_them(elements: str, text: str) -> None:
    texts = {name: page_text(f"a<{name}>b</{name}>c")[1] for name in elements.split()}
    assert texts == dict.fromkeys(texts, text)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a<!-- never closed <p>b", "a"),
        ("a<script>b<p>c", "a"),
        ("a<script>b</script >c", "ac"),
        ("a<p title='b", "a"),
        ("a<p title=b <b>c</b>", "a\nc"),
        ("a<!-->b-->c", "ab-->c"),
        ("a<!doctype x>b<?php c ?>d", "abd"),
        ("a</p>b</ p>c<3", "a\nb</ p>c<3"),
        ("<title>only</title>", ""),
        ("<p>a<title>late</title>b", "a\nb"),
        ("<textarea>not <b>text</textarea>a", "a"),
        ("", ""),
        ("a\r\n\r\n\tb &#0; &#1114112;", "a\nb \ufffd \ufffd"),
    ],
)
def test_broken_markup(markup, text):
    assert page_text(markup)[1] == text


def test_the_first_title_counts():
    assert page_text("<title></title><title>a</title><svg><title>b</title></svg><title>c</title>")[0] == "a"


@pytest.mark.parametrize(
    ("content", "header", "expected"),
    [
        ("café".encode(), b"", "café"),
        ("café".encode("latin-1"), b"", "café"),
        (b"\x93a\x94", b"text/html; charset=ISO-8859-1", "“a”"),
        ("café".encode("latin-1"), b"text/html; charset=utf-8", "caf\ufffd"),
        ("中文".encode("gbk"), b"text/html;charset=GB2312", "中文"),
        (b"<meta charset='Shift_JIS'>" + "日本".encode("cp932"), b"", "<meta charset='Shift_JIS'>日本"),
        ("a\ufeffb".encode("utf-16"), b"charset=latin1", "a\ufeffb"),
        (b"\xef\xbb\xbfcaf\xc3\xa9", b"charset=latin1", "café"),
        (b"<meta charset=utf-16>caf\xc3\xa9", b"", "<meta charset=utf-16>café"),
        (b"abc", b"charset=rot13", "abc"),
        (b"abc", b"charset=unicode_escape", "abc"),
        (b"abc", b"charset=", "abc"),
    ],
)
def test_encodings(content, header, expected):
    assert decode_page(content, header) == expected


@pytest.mark.parametrize("part", [2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16])
def test_parts_of_iso_8859_are_read_as_pages_name_them(part):
    assert decode_page(b"a\xe4", f"charset=ISO-8859-{part}".encode()) == b"a\xe4".decode(f"iso8859_{part}")


def test_every_encoding_is_one_of_characters():
    for name in web_pages._CODECS:
        assert isinstance(decode_page(b"abcd", b"charset=" + name.encode()), str)


@pytest.mark.parametrize(
    ("header", "encoding"),
    [
        ("", "utf-8"),
        ("; charset=utf-8", "utf-8"),
        ("; charset=utf-16", "utf-16-le"),
    ],
)
def test_a_page_cut_inside_a_character_loses_that_character_alone(header, encoding):
    headers = f"Content-Type: text/plain{header}".encode()
    padding = "a" * ((web_pages.LONGEST_PAGE - len("中文".encode(encoding))) // len("a".encode(encoding)))
    assert page(0, "d0", "", headers, f"{padding}中文".encode(encoding)).body == f"{padding}中文"
    assert page(0, "d0", "", headers, f"{padding}a中文".encode(encoding)).body == f"{padding}a中"


TAGS = ["<p>", "</p>", "<!--", "-->", "<script>", "</script>", "<a href='", "<title>", "</title>"]
TAGS += ['"', "<", ">", "&", "&amp", ";", "x", "\n"]
HOSTILE = ["<", "<!--", "<a ", '<a "', "<a '", "<a b='c'", "<script>", "</", "&#", "<!", "<title>", "<p>"]


@given(st.lists(st.sampled_from(TAGS), max_size=30).map("".join))
def test_any_markup(markup):
    title, text = page_text(markup)
    assert "\n" not in title
    assert not any(line != line.strip() or not line for line in text.split("\n")) or text == ""


NAMED = st.sampled_from(sorted(web_pages._CODECS)).map(str.encode)


@given(st.binary(max_size=200), st.one_of(st.binary(max_size=60), NAMED), st.booleans())
def test_any_bytes(content, header, is_cut):
    page_text(decode_page(content, b"charset=" + header, is_cut))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_markup_takes_linear_time(piece):
    page_text(piece * 200_000)
