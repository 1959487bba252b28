"""Targets of redirects."""

import pytest

from irpretrain.wikipedia.redirect_target import redirect_target


@pytest.mark.parametrize(
    ("text", "marked", "target"),
    [
        ("#REDIRECT [[Sun]]", None, ("Sun", "")),
        ("#redirect: [[ sun_god#In_myth |x]] {{R from move}}", None, ("sun god", "In myth")),
        ("\n#WEITERLEITUNG [[Sonne]]", None, ("Sonne", "")),
        ("#転送 [[太陽]]", None, ("太陽", "")),
        ("#REDIRECT [[:Category:Stars]]", None, ("Category:Stars", "")),
        ("#REDIRECT [[AT&amp;T]]", None, ("AT&T", "")),
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
    assert redirect_target(text, marked) == target
