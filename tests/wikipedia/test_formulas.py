"""Formulas in a line of text; every expected value was written by hand."""

import pytest

from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article
from irpretrain.wikipedia.wikitext.formulas import LONGEST, in_a_line

ENGLISH = WikiLanguage.of(SiteInfo("enwiki"))


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        ("E = mc^2", "E = mc^2"),
        (r"x_{i,j} \in \mathbb{R}^n", "x_(i,j) ∈ ℝ^n"),
        (r"\frac{a+b}{2}, \tfrac 1 2", "(a+b)/2, 1/2"),
        (r"\sqrt{x} + \sqrt{a+b} \leq \infty", "√x + √(a+b) ≤ ∞"),
        (r"\sin(\alpha)^{-1} - \log n", "sin(α)^−1 − log n"),
        (r"\bar{x} \text{ mean of } \{1, 2\}\,", "x̄ mean of {1, 2}"),
        (r"90^\circ f'^*", "90° f'*"),
        (r"\left( \tfrac{2}{3} \right)", "(2/3)"),
        (r"\begin{matrix} a \end{matrix}", ""),
        (r"\int_0^1 x", ""),
        (r"\unknown x", ""),
        ("{a", ""),
        ("a}", ""),
        ("x^", ""),
        ("{" * 20 + "}" * 20, ""),
        ("x" * (LONGEST + 1), ""),
    ],
)
def test_in_a_line(tex, text):
    assert in_a_line(tex) == text


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("where <math>n</math> is odd and <math>[[a]]_1</math>,", "where n is odd and [[a]]_1,"),
        ("where <math>a &lt; b</math> holds\n: <math>E=mc^2</math>.\n", "where a < b holds\nE=mc^2."),
        (
            "the integral <math>\\int x</math>, and\n: <math>\\int y</math>,\nwhere",
            "the integral, and\nwhere",
        ),
        ("<math>''x''|y</math> {{nowrap|<math>a|b=c</math>}}", "''x''|y a|b=c"),
    ],
)
def test_formulas_in_text(wikitext, text):
    assert parse_article(wikitext, ENGLISH).text == text
