"""Titles in normal form, and targets of redirects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wiki_pages import ENGLISH, wiki

from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.names import Names
from irpretrain.wikipedia.titles import normal_title, redirect_target


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("apple pie", "Apple pie"),
        ("Apple_pie", "Apple pie"),
        ("__apple _ pie_ ", "Apple pie"),
        (" Super_Bowl_50", "Super Bowl 50"),
        ("apple\u00a0pie", "Apple pie"),
        (":Apple", "Apple"),
        (": apple", "Apple"),
        ("éclair", "Éclair"),
        ("ßx", "ßx"),
        ("œuvre", "Œuvre"),
        ("iPod", "IPod"),
        ("C#", "C#"),
        ("50 Cent", "50 Cent"),
        ("", ""),
        ("_", ""),
    ],
)
def test_normal_form(written, normal):
    assert normal_title(written) == normal


def test_wikis_with_case_sensitive_first_letters():
    assert normal_title("apple_Pie", "case-sensitive") == "apple Pie"


@given(st.text())
def test_only_the_first_colon_changes_a_normal_form_again(title):
    once = normal_title(title)
    if not once.startswith(":"):
        assert normal_title(once) == once
    assert "_" not in once
    assert once == once.strip()


@pytest.mark.parametrize(
    ("text", "marked", "target"),
    [
        ("#REDIRECT [[Sun]]", None, ("Sun", "")),
        ("#redirect: [[ sun_god#In_myth |x]] {{R from move}}", None, ("sun god", "In myth")),
        ("\n#WEITERLEITUNG [[Sonne]]", None, None),  # in English
        ("#REDIRECT [[:Category:Stars]]", None, ("Category:Stars", "")),
        ("#REDIRECT [[AT&amp;T]]", None, ("AT&T", "")),
        ("#REDIRECT [[Caf%C3%A9#Le%20nom|x]]", None, ("Café", "Le nom")),
        ("#REDIRECT [[O&#39;Neill%23Life]]", None, ("O'Neill", "Life")),
        ("#REDIRECT [[100%]]", None, ("100%", "")),
        ("#REDIRECT [[A%2520B]]", None, ("", "")),  # no title has a code
        ("#REDIRECT [[E&#x301;cole]]", None, ("\N{LATIN CAPITAL LETTER E WITH ACUTE}cole", "")),
        ("#ANYTHING [[sun#Myth]]", "Sun", ("Sun", "Myth")),  # the dump says so itself
        (None, "Sun", ("Sun", "")),
        ("the text was hidden", "Sun", ("Sun", "")),
        ("#REDIRECT [[Sun]]", "", ("Sun", "")),
        ("#REDIRECT [[#Here]]", None, ("", "Here")),
        ("nothing", "", ("", "")),
        ("# [[Sun]] is an item of a list", None, None),
        ("#Sun [[Sun]]", None, None),
        ("The #REDIRECT [[Sun]]", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_targets(text, marked, target):
    assert redirect_target(text, marked, ENGLISH.redirects) == target


@pytest.mark.parametrize(
    ("code", "text", "target"),
    [
        ("de", "\n#WEITERLEITUNG [[Sonne]]", "Sonne"),
        ("de", "#redirect [[Sonne]]", "Sonne"),
        ("ja", "#転送 [[太陽]]", "太陽"),
        ("ja", "＃転送 [[太陽]]", "太陽"),
        ("sr", "#PREUSMERI [[Sunce]]", "Sunce"),
        ("tr", "#YÖNLENDİRME [[Güneş]]", "Güneş"),
        ("ko", "#넘겨주기 [[태양]]", "태양"),
        ("tr", "#yönlendirme [[Güneş]]", "Güneş"),
        ("tr", "#yönlendir:[[Güneş]]", "Güneş"),
        ("tr", "#YÖNLENDIR [[Güneş]]", "Güneş"),
        ("tr", "#YÖNLENDİR\n[[Güneş]]", "Güneş"),
        ("az", "#istiqamətləndirmə [[Günəş]]", "Günəş"),
        ("fa", "#تغییر_مسیر [[خورشید]]", "خورشید"),
        ("fa", "#تغییر مسیر : [[خورشید]]", "خورشید"),
        ("fa", "#تغییرمسیر [[خورشید]]", "خورشید"),
        ("ksh", "#ÖMLEIDE_OP [[Sonn]]", "Sonn"),
        ("fa", "#تغییر مسیر داد [[خورشید]]", None),
        ("eo", "#ALIDIREKTU [[Suno]]", "Suno"),
        ("eo", "#DAŬRIGU [[Suno]]", None),
    ],
)
def test_words_of_the_wiki(code, text, target):
    assert redirect_target(text, None, wiki(code).redirects) == (target and (target, ""))


def test_a_long_beginning_takes_linear_time():
    for text in ("#x" + " " * 300_000, " " * 300_000, "#" + "x " * 150_000, "#x" + " :" * 150_000):
        assert redirect_target(text, None, {"redirect"}) is None


def test_words_of_the_user():
    words = WikiLanguage.of(SiteInfo("eowiki"), Names(redirect=["Daŭrigu_al"])).redirects
    assert redirect_target("#DAŬRIGU AL [[Suno]]", None, words) == ("Suno", "")
    assert redirect_target("#daŭrigu_al: [[Suno]]", None, words) == ("Suno", "")
