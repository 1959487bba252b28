"""Formulas in a line of text; every expected value was written by hand."""

import pytest
from wiki_pages import ENGLISH, text_of

from irpretrain.wikipedia.wikitext import parse_article
from irpretrain.wikipedia.wikitext.formulas import chemistry_in_a_line, in_a_line
from irpretrain.wikipedia.wikitext.images import Rendering


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        ("E = mc^2", "E = mc^2"),
        (r"x_{i,j} \in \mathbb{R}^n", "x_(i,j) ∈ ℝ^n"),
        (r"\frac{a+b}{2}, \tfrac 1 2, \dfrac{x}{2}", "(a+b)/2, 1/2, x/2"),
        (r"\sqrt{x} + \sqrt{a+b} \leq \infty", "√x + √(a+b) ≤ ∞"),
        (r"\sin(\alpha)^{-1} - \log n", "sin(α)^−1 − log n"),
        (r"\bar{x} \text{ mean of } \{1, 2\}\,", "x̄ mean of {1, 2}"),
        (r"90^\circ f'^*", "90° f'*"),
        (r"\left( \tfrac{2}{3} \right)", "(2/3)"),
        (r"\sqrt[3]{x} + \sqrt[n]{ab} + \sqrt 2 + \sqrt{2x}", "∛x + (ab)^(1/n) + √2 + √(2x)"),
        (r"\sqrt[3", ""),
        ("x^{2y} + x^2y + x^{10} + x_{ij} + x^{2}3", "x^(2y) + x^2y + x^10 + x_(ij) + x^2 3"),
        (
            r"\text{if }x\text{ or }y, x_{\text{max} } - k^{th} x_\mathrm{ab}y",
            "if x or y, x_max − k^(th) x_(ab)y",
        ),
        (r"3\tfrac{1}{2}, x\frac12, 5 \frac{1}{2}, \frac{1}{2}3", "3 1/2, x 1/2, 5 1/2, 1/2 3"),
        (r"\frac{1}{2x} \frac{dy}{dx} \frac{2\pi}{T}", "1/(2x) dy/dx 2π/T"),
        ("12.5 + 1{,}000 + a_12", "12.5 + 1,000 + a_1 2"),
        (r"\begin{matrix} a \end{matrix}", ""),
        (r"\int_0^1 x", ""),
        (r"\unknown x", ""),
        ("{a", ""),
        ("a}", ""),
        ("x^", ""),
        ("{" * 8 + "x" + "}" * 8, "x"),
        ("{" * 9 + "x" + "}" * 9, ""),
        ("x" * 200, "x" * 200),
        ("x" * 201, ""),
    ],
)
def test_in_a_line(tex, text):
    assert in_a_line(tex) == text


@pytest.mark.parametrize("command", ["text", "textrm", "textbf", "textit", "mbox", "hbox"])
def test_words_in_a_formula_keep_their_spaces(command):
    assert in_a_line(rf"x \{command}{{ is odd}}") == "x is odd"


@pytest.mark.parametrize(
    "command",
    ["mathrm", "mathbf", "mathit", "mathsf", "mathcal", "mathfrak", "mathbb", "operatorname", "boldsymbol"],
)
def test_a_letter_of_another_style_is_the_letter(command):
    assert in_a_line(rf"\{command}{{S}}_1") == "S_1"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("H2O", "H2O"),
        ("2H2 + O2 -> 2H2O", "2H2 + O2 → 2H2O"),
        ("SO4^2- + Na+ <=> [Fe(CN)6]^{3-}", "SO4^2− + Na+ ⇌ [Fe(CN)6]^3−"),
        ("H_2O, C_{10}H8, ^{14}C, ^14C, NO3-, n-C4H10", "H2O, C10H8, 14C, 14C, NO3−, n-C4H10"),
        ("A ->[\\Delta] B", ""),
        ("^{14}_{6}C", ""),
        ("C" * 200, "C" * 200),
        ("C" * 201, ""),
    ],
)
def test_chemistry_in_a_line(formula, text):
    assert chemistry_in_a_line(formula) == text


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("where <math>n</math> is odd and <math>[[a]]_1</math>,", "where n is odd and [[a]]_1,"),
        ("where <math>a &lt; b</math> holds\n: <math>E=mc^2</math>.\n", "where a < b holds\nE=mc^2."),
        (
            "the integral <math>\\int x</math>, and\n: <math>\\int y</math>,\nwhere",
            "the integral, and\nwhere",
        ),
        ("of <ce>H2O</ce>, <chem>CO2</chem> and <ce>A ->[\\Delta] B</ce>", "of H2O, CO2 and"),
        ("<math>''x''|y</math> {{nowrap|<math>a|b=c</math>}}", "''x''|y a|b=c"),
    ],
)
def test_formulas_in_text(wikitext, text):
    assert text_of(wikitext) == text


def test_chemical_formulas_are_formulas():
    article = parse_article("a <ce>H2O</ce> <ce>\\x</ce> b", ENGLISH, Rendering(formula_word="formula"))
    assert article.text == "a H2O formula b"
    assert article.parts == {"formulas shown": 1, "formulas left out": 1}
