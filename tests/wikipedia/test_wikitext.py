"""Wikitext to text, sections and links, one construct at a time; every expected value was written by hand."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wiki_pages import ENGLISH, links_of, text_of, wiki

from irpretrain.foundation.characters import clean_text
from irpretrain.foundation.records import Section
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article
from irpretrain.wikipedia.wikitext.arguments import split_arguments


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("", ""),
        ("'''Bold''' and ''italic'' and '''''both'''''", "Bold and italic and both"),
        ("the letter {{Template: angbr|a}}", "the letter ⟨a⟩"),
        ("born on {{some day|1990-05-12}} in Rome", "born on May 12, 1990 in Rome"),
        ("L'''Aurore'' and l''''amour'''", "L'Aurore and l'amour"),
        ("''''''six''''' x'' y", "'six x y"),
        ("it's 5' '''3\" tall", 'it\'s 5\' 3" tall'),
        ("[[OS&nbsp;X]] 5&nbsp;km &amp; &#65; &#x42; &eacute; &nosuch; &#0; &amp;lt;",
         "OS X 5 km & A B é &nosuch; &#0; &lt;"),
        ("a&#10;* b &#1;&#x110000; c &#xD800;", "a * b &#1;&#x110000; c &#xD800;"),
        ("a{{Infobox|x={{y}}}} b {{{1|}}}c", "a b c"),
        ("a{{x|{{{1|{{y}}}}}}} b {{{{x}}}} c", "a b {} c"),
        ("a {{lc:BIG}} b {{uc:small}} {{ucfirst:word}} {{lcfirst:WORD}} c", "a big b SMALL Word wORD c"),
        ("no table\n|- is open\n|+ here\n\n|- or here", "no table |- is open |+ here\n|- or here"),
        ("{{open}}\n|- class=x\n| a row\n|}\nprose", "prose"),
        ("a {{#if:x|y|z}} b {{PAGENAME}} {{DEFAULTSORT:Z}}", "a y b"),
        ("{{#switch:b|a=w|c=x|d=y|z}} {{#switch:b|a|b|c=x|d=y|z}} {{#switch:b|a=w|#default=x|c=y}}", "z x x"),
        ("a<ref>b</ref> c<ref name=x /> d<!-- e -->", "a c d"),
        ("a<REF name=\"x\">{{cite|<!-- </ref> -->}}</Ref > b", "a -->}} b"),
        ("a <!-- {{ --> b }} c <!-- never closed [[x]]", "a b }} c"),
        ("one\n{|\n! head\n|-\n| cell\n|}\ntwo", "one\ntwo"),
        ("one\n:{| class=a\n| {|\n| inner\n|}\n|}\ntwo", "one\n|} two"),
        ("one\n{|\n| a\n{|\n| b\n|}\ntwo", "one\ntwo"),
        ("one\n{|\n| never closed\n\ntwo", "one\ntwo"),
        ("one\n{|\n<tr><td>a\n{|\n| b\n</table></TABLE >\n'''two''' [[three]]", "one\ntwo three"),
        ("one\n{|\n| a\n</table> two\n</table>\nthree", "one\ntwo\nthree"),
        ("one <table><tr><td>a<table>b</table></td></tr></table> two", "one two"),
        ("* one\n** two\n# three\n: four", "one\ntwo\nthree\nfour"),
        ("; term: meaning\n; [[Star Trek: Nemesis]]: film\n; http://a.b : c",
         "term meaning\nStar Trek: Nemesis film\nhttp://a.b c"),
        ("a\n\n\nb\n----\nc\n-----d", "a\nb\nc\nd"),
        ("a<br>b<br/>* c", "a\nb\n* c"),
        ("<div class=\"x\">a</div><p>b</p>c", "a\nb\nc"),
        ("[http://a.b label] [http://a.b] http://c.d [//e.f] [mailto:g@h i]", "label [1] http://c.d [2] i"),
        ("[http://a.b label [x] y] [not a link]", "label [x y] [not a link]"),
        ("<nowiki>[[not a link]] ''x'' {{y}} &lt;</nowiki> <b>bold</b> x<sub>2</sub>",
         "[[not a link]] ''x'' {{y}} < bold x2"),
        ("<nowiki/>* x\n<nowiki>== a ==</nowiki>", "* x == a =="),
        ("a\n<pre>\n* {{x}}\n  [[y]] <nowiki>''</nowiki>\n</pre>\nb", "a\n* {{x}}\n[[y]] ''\nb"),
        ("<math>\\int x</math> <gallery>\nFile:a.png\n</gallery> text", "text"),
        ("a <noinclude>b</noinclude> <includeonly>c</includeonly> <onlyinclude>d</onlyinclude>", "a b d"),
        ("a < b > c <unknown> <3", "a < b > c <unknown> <3"),
        ("a <ref name=x and <math b", "a <ref name=x and <math b"),
        ("__NOTOC__ a __TOC__ b__c__", "a b__c__"),
        ("Zeus ({{IPA|x}}; ) god, ({{x}}, b) (c, {{x}}) main()", "Zeus god, (b) (c) main()"),
        ("a {{x}}, b {{y}}.", "a, b."),
        ("a\r\n\nb\r\rc\x07d\ud800", "a\nb\nc d\ufffd"),
        ("\x01a\x02 [[b\x01|c]] \x04", "a c"),
        ("[[broken {{ also <ref> ''", "[[broken {{ also"),
        ("]] }} |} [[ {{", "]] }} |} [[ {{"),
        # What a template shows cuts no argument around it.
        ("where {{math|''x'' {{=}} 5}} holds", "where x = 5 holds"),
        ("{{math|''E'' {{=}} ''mc''<sup>2</sup>}}", "E = mc2"),
        ("{{quote|We say that 1 + 1 {{=}} 2 and so on}}", "We say that 1 + 1 = 2 and so on"),
        ("{{nowrap|a {{!}} b}} {{lang|fr|a {{=}} b}}", "a | b a = b"),
        ("{{nowrap|{{math|1=x = 5}} and {{nowrap|a {{!}} b}}}}", "x = 5 and a | b"),
        ("was {{madeup|the place where x {{=}} 5}} then", "was the place where x = 5 then"),
        ("{{nowrap|[[A{{!}}b]]}} [[A{{!}}c]]", "b c"),
        ("{{quote|\na\n{{{!}}\n{{!}} cell {{=}} 1\n{{!}}}\nb}}", "a\nb"),
        ("{{{!}}\n{{!}} cell\n{{!}}}\nb", "b"),
        ("{{nowrap|a {{=}} b", "{{nowrap|a = b"),
        # Templates that are shown.
        ("{{convert|5|km|mi}} {{Convert|5|to|7.5|km|abbr=on}} {{convert|5|ft|8|in|m}}",
         "5 km 5 to 7.5 km 5 ft 8 in"),
        ("{{convert|3|-|4|kg|0}} {{cvt|1,000|m|ft|2}}", "3–4 kg 1,000 m"),
        ("{{lang|fr|[[chat|le chat]]}} {{lang-de|Hund}} {{transl|ru|ISO|pes}} {{IPA|kæt}}",
         "le chat Hund pes"),
        ("{{nihongo|Mount Fuji|富士山|Fujisan}} {{nihongo||富士山|Fujisan}}",
         "Mount Fuji (富士山, Fujisan) Fujisan (富士山)"),
        ("{{Start_date|1990|5|12}} {{birth date|1990|05|02|df=y}} {{end date|1990|5}} {{end date|1990}}",
         "May 12, 1990 2 May 1990 May 1990 1990"),
        ("{{circa|1900}} {{as of|2010|March}} {{frac|1|2}} {{frac|2|3|4}} {{formatnum:1234}}",
         "c. 1900 As of March 2010 1/2 2 3/4 1,234"),
        ("{{as of|2010|5}}, {{As of|2015|6|30}}, {{as of|2015|06|30|df=US}}, {{as of|2015|Sept.|03|df=us|lc=y}}",
         "As of May 2010, As of 30 June 2015, As of June 30, 2015, as of September 3, 2015"),
        ("{{as of|2010|lc=y}}, {{as of|2010|since=y}}, {{as of|2010|2|bare=y}}, {{as of|May 2010}}, {{as of}}.",
         "as of 2010, Since 2010, February 2010, As of May 2010."),
        ("{{as of|2009|4|alt=since the [[election]]}} {{as of|2010|13}}", "since the election As of 2010"),
        ("{{nowrap|a {{nowrap|b}} <br/> c}} {{abbr|d|e}} {{small|1=f=g}}", "a b\nc d f=g"),
        ("a{{quote|text=b\n* c|author=d}}e", "a\nb\nc\n— d\ne"),
        ("{{columns-list|30em|\n* [[a]]\n}} {{plainlist|\n* b\n}}{{ubl|c|d}}", "a\nb\nc\nd"),
        ("{{ill|Titel|de}} {{ill|de|Titel|lt=x}} {{flag|France}} {{nowrap}} {{quote|}}", "Titel x France"),
        ("{{sic|teh}} a{{'}}b {{chem|H|2|O}} {{angbr|a}}{{snd}}b", "teh a'b H2O ⟨a⟩ – b"),
        ("{{lang|en|<nowiki>a|b=c</nowiki>}} {{lang|en|a[[b|c=d]]}}", "a|b=c ac=d"),
    ],
)  # fmt: skip
def test_text(wikitext, text):
    assert text_of(wikitext) == text
    assert clean_text(text) == text


@pytest.mark.parametrize(
    ("wikitext", "links", "text"),
    [
        ("[[Cat]] [[Dog|dogs]]", [("Cat", "Cat"), ("dogs", "Dog")], "Cat dogs"),
        ("[[bus]]es [[Public transport|bus]]es, [[a]]<nowiki/>b",
         [("buses", "bus"), ("buses", "Public transport"), ("a", "a")], "buses buses, ab"),
        ("[[Dog|''big'' '''dogs''']]s", [("big dogss", "Dog")], "big dogss"),
        ("x[[ cat |  big&nbsp;cat&nbsp; ]]y", [("big cat y", "cat")], "x big cat y"),
        ("[[foo_bar__baz]] [[a%20b&amp;c]]",
         [("foo_bar__baz", "foo bar baz"), ("a b&c", "a b&c")], "foo_bar__baz a b&c"),
        ("[[Cat#Food_and drink|eats]] [[#History|above]] [[#x]]",
         [("eats", "Cat#Food and drink"), ("above", "#History"), ("#x", "#x")], "eats above #x"),
        ("[[a|b|c]] [[a|b\nc]] [[a|b<br>c]]", [("b|c", "a"), ("b c", "a"), ("b c", "a")], "b|c b c b c"),
        ("[[a|b [c] d]]s [[a|[http://x y] z]]", [("b [c] ds", "a"), ("[http://x y] z", "a")],
         "b [c] ds [http://x y] z"),
        ("[[Rome, Georgia|]] [[Ares (god)|]]", [], "[[Rome, Georgia|]] [[Ares (god)|]]"),
        ("[[a|b [[c|d]] e]]", [("d", "c")], "[[a|b d e]]"),
        ("[[|x]] [[a| ]] [[]] [[ ]]", [], "[[|x]] [[]] [[ ]]"),
        ("[[<nowiki>a</nowiki>|b]] [[a{b|c]]", [], "[[a|b]] [[a{b|c]]"),
        (f"[[{'x' * 256}|long]] [[{'x' * 255}|b]]", [("b", "x" * 255)], f"[[{'x' * 256}|long]] b"),
        ("[[Help:]] [[a%2525b]] [[./a]] [[a&amp;amp;b]] [[%3c]]", [],
         "[[Help:]] [[a%2525b]] [[./a]] [[a&amp;amp;b]] [[%3c]]".replace("&amp;amp;", "&amp;")),
        ("[[d''e|x]] [[d''e]] [[Cafe&#x301;|x]]",
         [("x", "d''e"), ("d''e", "d''e"), ("x", "Café")], "x d''e x"),
        ("a [[File:x.png|thumb|A [[cat]] here]] b", [], "a b"),
        ("a [[image:x.png]] b [[ Category : C ]][[category:D|e]]", [], "a b"),
        ("[[File:x.png|thumb\n|A [[cat|b]] and [http://x [y]] z\n\nmore]] b", [], "z\nmore]] b"),
        ("[[File:x.png|never closed [[cat]]\n\nnext", [("cat", "cat")], "cat\nnext"),
        ("[[File:x.png|a [[cat]] \n==H==\n]] b", [("cat", "cat")], "cat\nH\n]] b"),
        ("[[:Category:Cats]] [[:File:x.png|picture]] [[Help:X|help]] [[:Cat]]",
         [("Cat", "Cat")], "Category:Cats picture help Cat"),
        ("a [[fr:Chat]] [[zh-min-nan:X]] b [[fr:Chat|in French]] [[:fr:Chat]]", [], "a b in French fr:Chat"),
        ("[[wikt:cat|cat]] [[Star Trek: Nemesis]]",
         [("Star Trek: Nemesis", "Star Trek: Nemesis")], "cat Star Trek: Nemesis"),
        ("[http://x see [[cat]]s now]", [("cats", "cat")], "see cats now"),
        ("'''[[a]]''' ([[b]]; {{x}}) , [[c]] .", [("a", "a"), ("b", "b"), ("c", "c")], "a (b), c."),
        ("[[a|{{x}}]] [[b|''''']] [[c|<nowiki/>]] [[d|&nbsp;]] [[e]]", [("a", "a"), ("e", "e")], "a e"),
        ("{|\n| [[a]]\n|}\n<ref>[[b]]</ref> {{x|[[c]]}} <!--[[d]]--> [[e]]", [("e", "e")], "e"),
        ("| [[a]] || b\n[[c]]", [("a", "a"), ("c", "c")], "| a || b c"),
        ("{|\n| [[a]] || b\n\n[[c]]", [("c", "c")], "c"),
    ],
)  # fmt: skip
def test_links(wikitext, links, text):
    assert links_of(wikitext) == links
    assert text_of(wikitext) == text


def test_sections():
    wikitext = (
        "Lead [[a]].\n== History of [[b]] ==\nOld.\n\nNew [[c]].\n=== ''Early'' <!-- x --> ===\n====Deep====\n"
        "* item\n== {{x}} ==\nrest\n= One =\n==last== \n"
    )
    article = parse_article(wikitext, ENGLISH)
    assert article.text == ("Lead a.\nHistory of b\nOld.\nNew c.\nEarly\nDeep\nitem\nrest\nOne\nlast")
    own = [(part.level, part.heading, article.text[part.start : part.end]) for part in article.sections]
    assert own == [
        (0, "", "Lead a."),
        (2, "History of b", "Old.\nNew c."),
        (3, "Early", ""),
        (4, "Deep", "item"),
        (2, "", "rest"),
        (1, "One", ""),
        (2, "last", ""),
    ]
    assert [link.section for link in article.links] == [0, 1, 1]
    assert article.sections[2] == Section(3, "Early", 38, 38)


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("==a==", (2, "a")),
        ("==a===", (2, "a=")),
        ("===a==", (2, "=a")),
        ("=======a=======", (6, "=a=")),
        ("=====", (2, "=")),
        ("== a = b ==  ", (2, "a = b")),
        ("== a == b", None),
        (" == a ==", None),
        ("==", None),
    ],
)
def test_headings(line, heading):
    found = [(part.level, part.heading) for part in parse_article(f"x\n{line}\ny", ENGLISH).sections[1:]]
    assert found == ([heading] if heading else [])


def test_a_page_without_lead_and_an_empty_page():
    assert parse_article("== a ==", ENGLISH).sections == (Section(0, "", 0, 0), Section(2, "a", 1, 1))
    assert parse_article("{{x}}", ENGLISH).sections == (Section(0, "", 0, 0),)


@given(st.text("ab]|= ", max_size=12))
@example("=a=b")
@example("]|b|a")
def test_a_link_in_an_argument_is_cut_no_more_than_a_letter(text):
    """Links may stand in links, and closing brackets without opening ones are letters."""
    text, link = text.replace("]", "]]"), "[[c|d=[[e|f]]|g]]"
    expected = {name: value.replace("b", link) for name, value in split_arguments(text).items()}
    linked = split_arguments(text.replace("b", link))
    assert {name.replace(link, "b"): value for name, value in linked.items()} == expected


def test_languages_differ():
    german = WikiLanguage.of(SiteInfo("dewiki", namespaces={6: "Datei", 1: "Diskussion"}))
    wikitext = "[[Datei:x.png]] [[Kategorie:x]] [[Straße]]nähe [[Diskussion:x|y]] [[en:x]]"
    assert links_of(wikitext, german) == [("Straßenähe", "Straße")]
    assert text_of(wikitext, german) == "Straßenähe y"
    chinese = wiki("zh")
    assert links_of("[[貓]]a", chinese) == [("貓", "貓")]
    assert text_of("-{zh-hans:计算机; zh-hant:電腦;}- -{a}- -{H|zh-cn:x}-", chinese) == "计算机 a"
    assert (
        text_of("-{zh-hant:電腦; zh-hans:计算机}- -{zh-tw:軟體;zh-hk:軟件;zh-cn:软件;}-", chinese)
        == "计算机 软件"
    )
    assert text_of("-{zh-tw:滑鼠;zh-hk:鼠標}-", chinese) == "滑鼠"
    assert text_of("-{-{-{a}-}-}- -{-{-{-{a}-}-}-}-", chinese) == "a -{a}-"
    assert text_of("-{sr-el:more;sr-ec:море}-", wiki("sr")) == "море"
    assert text_of("CH-{CH}-CH", german) == "CH-{CH}-CH"


@pytest.mark.parametrize(
    ("wikitext", "text", "links"),
    [
        ("a [[图片:A.jpg|thumb|left|[[说明]] x]] b", "a b", []),  # an alias that neither dump nor table has
        ("a [[Bildo:B c.SVG]] b [[:Bildo:B.svg|c]]", "a b c", []),
        ("[[Alien: Part.3]] [[A.jpg]]", "Alien: Part.3 A.jpg", [(name, name) for name in ("Alien: Part.3", "A.jpg")]),
        ("[[en:God]] [[:en:God#Sex|x]]", "en:God x", [("en:God", "God"), ("x", "God#Sex")]),
        ("a [[en:File:A.jpg]] b [[EN:Category:C]] c", "a b c", []),
        ("a [[bug:X]] b [[ceb:X]] c [[bug:X|d]]", "a b c d", []),
    ],
    ids=["alias", "alias-shown", "articles", "own-prefix", "own-prefix-file", "language"],
)  # fmt: skip
def test_where_prefixes_lead(wikitext, text, links):
    assert text_of(wikitext) == text
    assert links_of(wikitext) == links
