"""Numbers in templates, raised numbers and fractions: every digit that a reader sees is shown, and no other number."""

import pytest
from wiki_pages import links_of, text_of, wiki


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("{{val|9.11|e=-31|u=kg}}", "9.11×10^−31 kg"),
        ("5.98{{e|24}} kg, {{e|5.98|24|kg}}, {{val|e=9}}", "5.98×10^24 kg, 5.98×10^24, 10^9"),
        ("{{val|1.00794|(7)}} {{val|1.5|0.3|e=3|u=m}}", "1.00794(7) (1.5±0.3)×10^3 m"),
        ("{{val|1.23|0.05|0.02|ul=m/s}} {{val|-5|u=%}} {{val|3|-|5|u=km}}", "1.23+0.05−0.02 m/s −5% 3–5 km"),
        ("{{val|5|p=~|s=?}} {{val|90|u=deg}} {{val|7|u=J|up=kg}}", "~5? 90° 7 J/kg"),
        ("{{val|ten|u=km}}", "ten km"),
        ("{{gaps|6.022|140|e=23|u=mol}} {{gaps|1|234}}", "6.022140×10^23 mol 1234"),
        ("10<sup>24</sup> 6<sup>&minus;31</sup> 13<sup>th</sup> m<sup>2</sup> Fe<sup>3+</sup> <sup>14</sup>C",
         "10^24 6^−31 13th m2 Fe3+ 14C"),
        ("10{{sup|6}} CO{{sub|2}} 2<sup>1</sup>/<sub>2</sub> <sup>3</sup>⁄<sub>4</sub>", "10^6 CO2 2 1/2 3/4"),
        ("1{{frac|1|2}} in, {{frac|3}}, {{sfrac|2|3|4}}", "1 1/2 in, 1/3, 2 3/4"),
        ("{{convert|1.5|e6km2|e6sqmi}} {{convert|20|C|F}} {{convert|5+1/2|in|mm}} {{convert|3|x|5|m|ft}}",
         "1.5×10^6 km2 20 °C 5 1/2 in 3 × 5 m"),
        ("{{convert|5|±|1|km|mi}} {{convert|100|sqmi|km2}} {{convert|6|ft|2+1/2|in|cm}} {{convert|6|ft|0}}",
         "5 ± 1 km 100 sq mi 6 ft 2 1/2 in 6 ft"),
        ("{{val|1|x|2|x|3|u=mm}} {{val|12|by|15|by|20|u=cm}} {{val|3|to|5|e=3}}",
         "1 × 2 × 3 mm 12 by 15 by 20 cm (3 to 5)×10^3"),
        ("1.9 {{Solar radius}}, paid {{¥|500}} for, {{key press|Ctrl|C}}", "1.9 R☉, paid ¥500 for, Ctrl+C"),
        ("{{±|0.3}} {{+-|0.3|0.2}} 5{{su|p=+1|b=−2}}", "±0.3 +0.3−0.2 5+1 −2"),
        ("{{val|1.6|u=C}} {{val|5|ul=F}} {{val|20|u=degC}} {{convert|20|C|F}}", "1.6 C 5 F 20 °C 20 °C"),
        ("{{circa|1500|1600}} {{c.|1500}} {{fl.|1200|1250}} {{reign|1801}} {{floruit}}",
         "c. 1500 – c. 1600 c. 1500 fl. 1200–1250 r. 1801 fl."),
        ("{{dts|2001|May|3}} {{dts|2001|5}} {{start date|1990|5|12|df=y}} {{dts|3 May 2001}} {{dts|3|May|2001}}",
         "May 3, 2001 May 2001 12 May 1990 3 May 2001 3 May 2001"),
        ("5{{1/2}} in, '''5'''{{3/4}}, {{sclass-|Nimitz|carrier}}, {{sclass2-|Ajax|destroyer|3}}",
         "5 1/2 in, 5 3/4, Nimitz-class carrier, Ajax-class destroyer"),
        ("{{ruby|漢字|かんじ}} {{dts|2001|Ma|3}}", "漢字 (かんじ) 2001"),
        ("{{ordinal|21}} {{ordinal|112}} {{ordinal|3}} {{ord|4|th}}", "21st 112th 3rd 4th"),
        ("{{nts|1,234}} {{formatnum:1234.5}} {{US$|2 billion}} {{currency|13|USD}} {{gbp|5}}",
         "1,234 1,234.5 US$2 billion USD 13 £5"),
        ("44 {{BCE}} {{BC|44}} {{AD|70}} {{circa}} 1900 {{fl.|1200}} {{reign|1|2}}",
         "44 BCE 44 BC AD 70 c. 1900 fl. 1200 r. 1–2"),
        ("{{ISBN|978-3-16}}, {{OCLC|5}} {{sqrt|2}} {{radic|3}} {{pi}}", "ISBN 978-3-16, OCLC 5 √2 √3 π"),
        ("{{HMS|Ajax|22|6}}, {{USS|Hornet|CV-12}}, {{ship|USS|Wasp||2}}, {{sclass|Nimitz|carrier}}",
         "HMS Ajax, USS Hornet (CV-12), Wasp, Nimitz-class carrier"),
        ("a{{snd}}b{{endash}}c{{em dash}}d{{spaced en dash}}e", "a – b–c—d – e"),
        ("A{{music|flat}} {{simplenuclide|carbon|14}} {{US patent|1781541}} {{née|Kasner}}",
         "A♭ carbon-14 U.S. Patent 1781541 née Kasner"),
    ],
)  # fmt: skip
def test_english(wikitext, text):
    assert text_of(wikitext) == text


@pytest.mark.parametrize(
    ("code", "wikitext", "text"),
    [
        ("fr", "{{unité|814|km|2}} {{unité|1,5|m||s|-1}} {{unité|1,67|e=-27|kg}} {{tmp|2|°C}}",
         "814 km2 1,5 m s^−1 1,67×10^−27 kg 2 °C"),
        ("fr", "{{date-|19 janvier 1920}}, {{s-|I}}, {{s-|XIX}}, {{sav-|V}}, {{heure|4|30}}, {{heure|1}} du, XX{{e}}",
         "19 janvier 1920, Ier siècle, XIXe siècle, Ve siècle av. J.-C., 4 h 30, 1 h du, XXe"),
        ("fr", "{{nombre|1234|hab.}} 3{{x10|8}} {{euro|77.80}} {{n°|5}} 10{{exp|6}}",
         "1234 hab. 3×10^8 77.80 € no 5 10^6"),
        ("fr", "{{unité|9|C}} {{unité|2|à|3|km}} {{nb|3|ou|4|m|2}} {{unité|2|×|3|×|4|m}} {{nombre|5|et|6}}",
         "9 C 2 à 3 km 3 ou 4 m2 2 × 3 × 4 m 5 et 6"),
        ("es", "{{unidad|2|a|3|km|2}} {{unidad|5|x|6|m}}", "2 a 3 km2 5 × 6 m"),
        ("fr", "{{XIXe siècle}}, {{Ier siècle}}, {{s-|XIX|e}}, {{-s|V|e}}, {{-s-|I|er}}",
         "XIXe siècle, Ier siècle, XIXe siècle, Ve siècle av. J.-C., Ier siècle av. J.-C."),
        ("fr", "au {{XIXe}}, {{Ier}}, {{5e}}, {{21e}} {{1er|avril}} ({{1re}}) {{ier siècle}} {{Le}} {{xixe}}",
         "au XIXe, Ier, 5e, 21e 1er avril (1re) Ier siècle"),
        ("en", "a {{5e}} b", "a b"),
        ("fr", "{{s2-|III|e|IX|e}}, {{-s2|III|e|IX|e}}", "IIIe et IXe siècles, IIIe et IXe siècles av. J.-C."),
        ("fr", "{{date|14 juillet 1789|en musique}} {{date|14|juillet|1789|en mer}} {{date||juin|1800}}",
         "14 juillet 1789 14 juillet 1789 juin 1800"),
        ("fr", "{{date-|1789|en musique}} {{date|3|mars}} {{date de naissance|14|07|1789}} {{sp-|VII|e|au|VI|e}}",
         "1789 3 mars 14 juillet 1789 VIIe au VIe siècle"),
        ("fr", "{{date|1|0099|2000|@=x}} {{date|1er|7|1789}}", "1 0099 1er juillet 1789"),
        ("ru", "{{нп5|a|b|@=x}}", "b"),
        ("es", "{{fecha|1|1|2000}} {{fecha|2000|1|2}} {{fecha|2|mayo|1808}} {{fecha|2 de mayo de 1808}}",
         "1 de enero de 2000 2 de enero de 2000 2 de mayo de 1808 2 de mayo de 1808"),
        ("pt", "{{dtlink|1|1|2000}} {{dtlink|7|setembro|1822}}", "1 de janeiro de 2000 7 de setembro de 1822"),
        ("ru", "5{{дробь|1|2}} {{дробь|3|1|4}}", "5 1/2 3 1/4"),
        ("ja", "{{ruby|漢字|かんじ}}", "漢字（かんじ）"),
        ("zh", "{{ruby|漢字|かんじ}} {{tsl|en|Foo|丙}}{{tsl|en|Foo|丙|丁}}", "漢字（かんじ） 丙丁"),
        ("it", "{{M|5,98|e=24|ul=kg}} {{TA|38 km}}", "5,98×10^24 kg 38 km"),
        ("pt", "do {{séc|XX}}, {{fmtn|150000}} habitantes, {{fmtn|8.5|km}}", "do século XX, 150000 habitantes, 8.5 km"),
        ("es", "{{unidad|5|km}} {{esd|3 de mayo}} {{siglo|XX||s}}", "5 km 3 de mayo siglo XX"),
        ("ru", "{{num|1234|км}} {{s|в 1990 году}} 5{{e|24}}", "1234 км в 1990 году 5×10^24"),
        ("de", "{{Höhe|115|DE-NN}} {{val|9,11|e=-31|u=kg}}", "115 m ü. NN 9,11×10^−31 kg"),
        ("hu", "{{szám|180000}} lakos", "180000 lakos"),
        ("ro", "{{conversie|22|–|25|C|F}}", "22–25 °C"),
        ("ca", "des del {{segle|XIII|s}}", "des del segle XIII"),
    ],
)  # fmt: skip
def test_other_languages(code, wikitext, text):
    assert text_of(wikitext, wiki(code)) == text


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
    assert text_of(wikitext) == text


def test_spans_of_anchors_around_exponents():
    page = "[[Ten|'''10''']]<sup>[[Six|6]]–[[Seven|7]]</sup> and [[Half|5{{frac|1|2}}]]<sup>2</sup>s"
    assert text_of(page) == "10^(6–7) and 5 1/2^2s"
    assert links_of(page) == [("10", "Ten"), ("6", "Six"), ("7", "Seven"), ("5 1/2", "Half")]


def test_comments_within_a_line_part_no_number_from_its_unit():
    for length in range(20):
        number = f"{'x' * length} 5 "
        assert text_of("<!---->".join(number) + "{{km}}") == f"{number}km".strip()
