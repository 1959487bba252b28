"""Paragraphs, apostrophes and punctuation around what is left out; every expected value was written by hand."""

import pytest
from wiki_pages import links_of, text_of


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        # A paragraph is a line.
        ("one\ntwo\n\nthree", "one two\nthree"),
        ("one\n* item\nmore\nend\n== H ==\nbody\nrest", "one\nitem\nmore end\nH\nbody rest"),
        ("one\n code\n  more code\ntwo", "one\ncode\nmore code\ntwo"),
        ("one\n<!-- c -->\ntwo<!-- d -->\nthree\n  <!-- e --> \nfour", "one two three four"),
        ("one<ref>r</ref>\n<ref>r</ref>\ntwo", "one two"),
        ("one\n{{Infobox}}\ntwo", "one\ntwo"),
        ("a (((({{x}})))) b ((((({{x}}))))) c", "a b () c"),
        ("one\n{{x}} two", "one two"),
        ("one\n[[File:x.png|thumb]]\ntwo\n\n[[Category:c]]", "one\ntwo"),
        ("one\n \t \ntwo<br>\nthree<br>four", "one\ntwo\nthree\nfour"),
        ("a\n<poem>\none\ntwo\n</poem>\nb\nc", "a\none\ntwo\nb c"),
        ("one\n{|\n| x\n|}\ntwo", "one\ntwo"),
        ("[[a|b\nc]]\nd", "b c d"),
        ("a\u2000b\u2009c\u200ad\u202fe\u3000f\u200bg", "a b c d e f\u200bg"),
        # Apostrophes on both sides of what goes are two marks.
        ("''θ''<sub>''i''</sub>", "θi"),
        ("'''a''' ''θ''<sub>''i''</sub> '''b'''", "a θi b"),
        ("''a''<ref>r</ref>''b'' '''c'''{{x}}''d''", "ab cd"),
        ("''[[File:x.png]]''b ''[[wikt:x|''y'']]''", "b y"),
        ("* ''{{FRO}}''\n* b", "b"),
        ("''{{lang|fr|''x''}}''", "x"),
        ("''a''[http://x ''b'']''c''", "abc"),
        ("'''''a'''<!-- x -->''", "a"),
        # What is left out takes its punctuation with it.
        ("([http://x T]) [http://x  T] ([http://x])", "(T) T ([1])"),
        ("Socrates ({{x}} or {{y}}; ?–453)", "Socrates (?–453)"),
        ("a ({{x}}, {{y}} and {{z}}) b ({{x}}; born 1950) c (b, {{x}})", "a b (born 1950) c (b)"),
        ("a, {{x}}, b, {{y}}. c: {{z}}.", "a, b. c."),
        ("a\n* {{x}}, {{y}}.\n* {{x}}.\n: {{z}}\nb", "a\nb"),
        ("{{x}}, b", "b"),
        ("\n{{x}}'s b (c) [{{x}}] d", "'s b (c) d"),
        ("main( ) a ;) , b ... (, )", "main( ) a ;), b ... (, )"),
        ("a {{angbr|{{x}}}} b ({{nowrap|{{x}} }}) {{nowrap|a {{x}}}}", "a b a"),
        ("[[http://x.y z]] a[[http://x.y]]", "[z] a[[1]]"),
        ("__notoc__a __Toc__ __foo__ __ИНДЕКС__", "a __foo__ __ИНДЕКС__"),
        ("a [[Foo|{{x}}]] [[wikt:b]]s", "a Foo wikt:bs"),
        # Quotes, signs and stops around nothing.
        ("a '{{x}}' b", "a b"),
        ('called "{{x}}" b ("{{x}}") c "{{nowrap|}}".', "called b c."),
        ('a "b" {{x}} "c" 5\'{{x}}\'s', 'a "b" "c" 5\'\'s'),
        ("A ({{nobold|}}; ?–453) {{lang|fr|}}, b {{convert}}.", "A (?–453), b."),
        ("(* {{x}}; † {{y}}) (* 5 May; † {{y}}) (* {{x}}; † 6 May)", "(* 5 May) († 6 May)"),
        ("(* {{y}} in B) a (b * {{x}}) * {{x}}; c", "(* in B) a (b *) *; c"),
        ("{{x}}. Foo\n\n{{x}}... a\n\n{{x}}.5 b", "Foo\n... a\n.5 b"),
        # Words go only between gaps within brackets.
        ("the axes x {{x}} y {{x}} z", "the axes x y z"),
        ("set {{x}} i {{x}} was {{x}} y {{x}}", "set i was y"),
        ("{{x}} and b or {{x}}, c", "and b or, c"),
        ("(a {{x}} or\n\nb {{x}} and {{x}} c)", "(a or\nb and c)"),
        ("a (b, {{x}} or {{x}}, and {{x}}) c", "a (b) c"),
        ("a ({{x}} or b (c)) (d or {{x}})", "a (b (c)) (d)"),
        # Punctuation of other scripts, and at the ends of lines.
        ("甲（{{x}}、{{x}}）は。{{x}}。乙", "甲は。乙"),
        ("甲（乙、{{x}}）は「{{x}}」。", "甲（乙）は。"),
        ("أ، {{x}}، ب؛ {{x}}؛ ج {{x}}؟", "أ، ب؛ ج؟"),
        ("a ({{x}}–{{x}}) “{{x}}” « {{x}} » „{{x}}“ b", "a b"),
        ("„a“ {{x}}, “b”, {{x}} “c” « d » {{x}} « e »", "„a“, “b”, “c” « d » « e »"),
        ("“{{x}} b” (c, “d” {{x}})", "“ b” (c, “d”)"),
        ("a. {{x}}. b etc. {{x}}, c", "a. b etc., c"),
        ("A (<ref>x</ref>) b [<ref>x</ref><ref name=y />] c", "A b c"),
        ("* [[A]] – {{x}}\n* b, {{x}}\n* c: {{x}}", "A\nb\nc:"),
        ("{{x}}.", ""),
        ("; {{x}} : {{x}}\n; {{x}} : {{x}}\n: {{x}}", ""),
        ("j, , k", "j, k"),
        ("He came ({{x}}){{y}}. Then he left.", "He came. Then he left."),
        ("Foo ({{x}}){{y}} is", "Foo is"),
        ("read “{{x}}”{{y}}. It “{{x}}” {{y}}, was", "read. It, was"),
        ('it "{{x}}" {{y}}. Next', "it. Next"),
        ("({{x}}){{y}}. A", "A"),
    ],
)  # fmt: skip
def test_paragraphs_and_punctuation_around_what_is_left_out(wikitext, text):
    assert text_of(wikitext) == text


@pytest.mark.parametrize(
    ("wikitext", "links", "text"),
    [
        ("[[Foo|[bar]]]s", [("[bar]s", "Foo")], "[bar]s"),
        ("[[a|b]]] [[File:x.png|c [d]]] e", [("b", "a")], "b] e"),
        ("[[7%25 Solution]]", [("7% Solution", "7% Solution")], "7% Solution"),
        ("[[bus]]<b>es</b> [[bus]]<ref>r</ref>es", [("bus", "bus"), ("bus", "bus")], "buses buses"),
        ("([[a]]; {{x}}) ({{x}}, [[b]]) {{x}}, [[c]]\n[[d]]", [(x, x) for x in "abcd"], "(a) (b), c d"),
    ],
)
def test_links_beside_what_is_left_out(wikitext, links, text):
    assert links_of(wikitext) == links
    assert text_of(wikitext) == text
