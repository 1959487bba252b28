"""Raised numbers and fractions behind a number: plain text that is no other number, whatever markup is between."""

import pytest
from english_pages import article_of


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("'''10'''<sup>6</sup> [[10]]<sup>6</sup> 10<sup>[[6]]</sup> 10<SUP>6</SUP>", "10^6 10^6 10^6 10^6"),
        ("5×10<sup><small>6</small></sup> 10<sup>'''6'''</sup> {{10^|6}} 10<sup> 6 </sup>m",
         "5×10^6 10^6 10^6 10^6 m"),
        ("10<sup>6–7</sup> 10<sup>1.5</sup> 10<sup>2/3</sup> 10<sup>100000</sup> 10<sup>&minus;100</sup>",
         "10^(6–7) 10^(1.5) 10^(2/3) 10^100000 10^−100"),
        ("2<sup>''n''</sup> 2<sup>''n''−1</sup> 2<sup>p − 1</sup> 10<sup>10<sup>100</sup></sup>",
         "2^n 2^(n−1) 2^(p − 1) 10^(10^100)"),
        ("10<sup>(10<sup>100</sup>)</sup> 10<sup>''[[pH]]''</sup> 10<sup></sup> 10<sup>{{x}}</sup>.",
         "10^(10^100) 10pH 10 10."),
        ("13<sup>th</sup> 5<sup>h</sup>32<sup>m</sup> 1999<sup>[1]</sup> 2<sup>e</sup> 5<sup>note 3</sup>",
         "13th 5h32m 1999[1] 2e 5note 3"),
        ("SO<sub>4</sub><sup>2−</sup> H<sub>2</sub><sup>+</sup> Fe<sup>3+</sup>", "SO4^2− H2+ Fe3+"),
        ("a<sup>1</sup> 10<sup>6 </sup>5</sup> 10<sup>7", "a1 10^6 5 107"),
        ("'''5'''<sup>1</sup>/<sub>2</sub> [[A|5]]<SUP>3</SUP>⁄<SUB>4</SUB> ''x''<sup>1</sup>/<sub>2</sub>",
         "5 1/2 5 3/4 x1/2"),
        ("'''5'''{{frac|1|2}}, [[A|5]]{{frac|1|2}}, 5<math>\\frac{1}{2}</math>, <math>5</math>{{frac|1|2}}",
         "5 1/2, 5 1/2, 5 1/2, 5 1/2"),
        ("''A''{{frac|1|2}} '''5''' {{frac|1|2}} {{convert|'''5'''{{frac|1|2}}|in}}", "A1/2 5 1/2 5 1/2 in"),
        ("''a''<sup>''b''</sup>''c'' '''5'''<sup>'''6'''</sup>'''m'''", "abc 5^6m"),
        ("5</sup>6", "56"),
        ("101<sub>2</sub>, 1<sub>10</sub>, '''7'''<sub>''n''</sub>, [[7]]<sub>[[8]]</sub>", "101_2, 1_10, 7_n, 7_8"),
        ("log<sub>10</sub>100 ''a''<sub>1</sub>2 ''x''<sup>2</sup>3", "log_10 100 a_1 2 x^2 3"),
        ("2<sup>3</sup>5<sup>2</sup> 10<sup>6</sup>5", "2^3 5^2 10^6 5"),
        ("H<sub>2</sub>O, ''x''<sub>2</sub>, a<sub>1</sub><sup>2</sup>, <sup>235</sup><sub>92</sub>U",
         "H2O, x2, a1^2, 235_92U"),
        ("5<sub>th</sub> 1<sub>/2</sub> 1/<sub>2</sub> 3<sub>note 3</sub> 3</sub>4", "5th 1/2 1/2 3note 3 34"),
        ("<sup>x\n\n* y</sup>\n\n5<sup>\n6</sup>", "x\ny\n5^6"),
    ],
)  # fmt: skip
def test_raised(wikitext, text):
    assert article_of(wikitext).text == text


def test_spans_of_anchors_around_exponents():
    article = article_of(
        "[[Ten|'''10''']]<sup>[[Six|6]]–[[Seven|7]]</sup> and [[Half|5{{frac|1|2}}]]<sup>2</sup>s"
    )
    assert article.text == "10^(6–7) and 5 1/2^2s"
    assert [(link.target, article.text[link.start : link.end]) for link in article.links] == [
        ("Ten", "10"), ("Six", "6"), ("Seven", "7"), ("Half", "5 1/2"),
    ]  # fmt: skip
