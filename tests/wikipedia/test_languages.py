"""Names of language editions: the resource file, the dump's own names, the user's."""

import pytest
from english_pages import ENGLISH, links_of

from irpretrain.wikipedia import languages
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage, heading_key, language_code
from irpretrain.wikipedia.names import Names
from irpretrain.wikipedia.wikitext import parse_article
from irpretrain.wikipedia.wikitext.templates import Templates, pattern_fault


@pytest.mark.parametrize(
    ("database", "base", "code"),
    [
        ("enwiki", "https://en.wikipedia.org/wiki/Main_Page", "en"),
        ("", "http://ltg.wikipedia.org/wiki/X", "ltg"),
        ("zh_min_nanwiki", "", "zh-min-nan"),
        ("simplewiki", "//simple.m.wikipedia.org/wiki/X", "simple"),
        ("be_x_oldwiki", "https://be-tarask.wikipedia.org/wiki/X", "be-x-old"),
        ("", "https://be-tarask.wikipedia.org/wiki/X", "be-x-old"),
        ("trwiki", "https://wiki.wikipedia.org/wiki/X", "tr"),
        ("", "https://wiki.example.org/", ""),
        ("enwiktionary", "", ""),
    ],
)
def test_language_code(database, base, code):
    assert language_code(SiteInfo(database, base)) == code


@pytest.mark.parametrize(
    ("database", "see_also", "boilerplate"),
    [
        ("enwiki", "See also", "External links"),
        ("dewiki", "Siehe auch", "Einzelnachweise"),
        ("frwiki", "Articles connexes", "Notes et références"),
        ("eswiki", "Véase también", "Referencias"),
        ("itwiki", "Voci correlate", "Collegamenti esterni"),
        ("ptwiki", "Ver também", "Ligações externas"),
        ("nlwiki", "Zie ook", "Externe links"),
        ("ruwiki", "См. также", "Примечания"),
        ("plwiki", "Zobacz też", "Przypisy"),
        ("svwiki", "Se även", "Källor"),
        ("zhwiki", "參見", "参考文献"),
        ("jawiki", "関連項目", "外部リンク"),
        ("lvwiki", "Skatīt arī", "Atsauces"),
        ("ltgwiki", "Verīs taipoš", "Nūruodis"),
        ("simplewiki", "Related pages", "Other websites"),
        ("simplewiki", "Other pages", "Related websites"),
        ("eowiki", "Vidu ankaŭ", "Referencoj"),
        ("cebwiki", "See also", "References"),  # without headings of its own: those of English
        ("testwiki", "See also", "Citations"),  # not known: as English
    ],
)
def test_headings(database, see_also, boilerplate):
    language = WikiLanguage.of(SiteInfo(database))
    assert language.role(see_also) == language.role(f" {see_also.upper()} :") == "see-also"
    assert language.role(boilerplate) == language.role(f"{boilerplate}：") == "boilerplate"
    assert language.role("History") == language.role("") == ""


# Headings of See Also lists in pieces of dumps of May 2023, the frequent ones and some that were met once.
SEEN = {
    "bn": "আরও দেখুন; আরো দেখুন; আরোও দেখুন; আর দেখুনঃ; প্রাসঙ্গিক নিবন্ধ",
    "el": "Δείτε επίσης; Βλέπε επίσης; Βλέπε και; Δείτε ακόμη; Διαβάστε επίσης; Σχετικά Άρθρα",
    "hy": "Տես նաև; Տե՛ս նաև",
    "id": "Lihat pula; Lihat juga",
    "ja": "関連項目",
    "mr": "हे सुद्धा पहा; हेही पहा; हेसुद्धा पहा; हे ही पहा; हे सुद्धा बघा; हे सुद्धा पाहा; हे देखील पहा; हेदेखील पाहा",
    "sr": "Види још; Vidi još; Такође погледајте; Pogledajte takođe",
    "uk": "Див. також; Див.також",
    "vi": "Xem thêm",
}
APPENDICES = {
    "bn": "তথ্যসূত্র; বহিঃসংযোগ; বহিঃ সংযোগ; বহি:সংযোগ; পাদটীকা; আরও পড়ুন; উৎস",
    "el": "Εξωτερικοί σύνδεσμοι; Παραπομπές; Πηγές; Προτεινόμενη Βιβλιογραφία; Αναφορές",
    "hy": "Ծանոթագրություններ; Արտաքին հղումներ; Գրականություն; Աղբյուրներ; Նշումներ",
    "id": "Referensi; Bacaan; Pranala luar",
    "mr": "बाह्य दुवे; बाह्यदुवे; संदर्भ; संदर्भ आणि नोंदी; संदर्भ व नोंदी; बाहेरील दुवे; अधिक वाचन",
    "sr": "Референце; Reference; Спољашње везе; Spoljašnje veze; Literatura; Beleške",
    "uk": "Примітки; Джерела та література; Посилання на джерела; Виноски",
    "vi": "Tham khảo; Đọc thêm; Ghi chú; Liên kết bên ngoài; Nguồn tham khảo",
}


@pytest.mark.parametrize(
    ("code", "heading", "role"),
    [
        (code, heading, role)
        for role, seen in (("see-also", SEEN), ("boilerplate", APPENDICES))
        for code, headings in seen.items()
        for heading in headings.split("; ")
    ],
)
def test_headings_seen_in_dumps(code, heading, role):
    language = WikiLanguage.of(SiteInfo(f"{code}wiki"))
    article = parse_article(f"ক.\n== {heading} ==\n* [[খ]]\n", language)
    assert [section.role for section in article.sections] == ["", role]


@pytest.mark.parametrize(
    ("code", "heading", "others"),
    [
        ("en", "See also", ["SEE ALSO", "See_also:", "'''See also'''", "See  also."]),
        ("ar", "انظر أيضا", ["انظر أيضًا", "أنظر أيضاً", "انظر ايضا :", "انـظر أيضا"]),
        ("ro", "Vezi și", ["Vezi şi", "Vezi si"]),
        ("tr", "Ayrıca bakınız", ["AYRICA BAKINIZ"]),
        ("ko", "같이 보기", ["같이보기"]),
        ("hi", "इन्हें भी देखें", ["इन्हें भी देखें:", "इन्हेंभी देखें"]),
    ],
)
def test_headings_are_compared_by_their_letters(code, heading, others):
    language = WikiLanguage.of(SiteInfo(f"{code}wiki"))
    for other in [heading, *others]:
        _, section = parse_article(f"A.\n== {other} ==\n* [[B]]", language).sections
        assert section.role == "see-also", other


def test_vowels_of_a_script_tell_headings_apart():
    for one, other in [("की", "का"), ("คำ", "คา"), ("কি", "কা"), ("が", "か"), ("မိ", "မု")]:
        assert heading_key(one) != heading_key(other)
    assert heading_key("(:–') ") == ""


def test_namespaces_come_from_the_dump_too():
    site = SiteInfo(
        "xxwiki", namespaces={-1: "Specialaĵo", 0: "", 6: "Dosiero", 10: "Ŝablono", 14: "Kategorio"}
    )
    language = WikiLanguage.of(site)
    assert language.hidden == {"dosiero", "kategorio", "file", "image", "category"}
    assert {"specialaĵo", "ŝablono", "template", "user talk"} | language.hidden < language.namespaces
    assert "" not in language.namespaces


def test_the_own_language_is_no_other_language():
    assert "en" not in ENGLISH.languages
    assert "de" in ENGLISH.languages
    assert "no" in ENGLISH.languages  # in YAML an unquoted no is false


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("x\n{{Disambiguation}}", True),
        ("{{ disambig | geo }}", True),
        ("{{Letter–number_combination disambiguation}}", True),
        ("__DISAMBIG__", True),
        ("{{disambiguation needed}} {{hndisx}}", False),
        ("{{other|disambiguation}} disambiguation", False),
        ("a <!-- {{disambig}} --> <nowiki>{{disambig}}</nowiki> b<!-- {{disambig}}", False),
        ("<!-- a --> {{disambig}}<nowiki>b</nowiki>", True),
        ("<pre class=a>{{disambig}}</pre> <nowiki >{{disambig}}</nowiki >", False),
        ("a<nowiki/>b {{disambig}}", True),
        ("{{Template:Disambig}}", True),
        ("{{Disambig<!-- a -->}}", True),
        ("<!-- {{disambig<!-- a -->}}", False),
        ("<math>{{disambig}}</math> <templatedata>{{disambig}}</templatedata> {{{disambig}}}", False),
        (
            "<syntaxhighlight lang=x>{{disambig}}</syntaxhighlight> <includeonly>{{disambig}}</includeonly>",
            False,
        ),
    ],
)
def test_disambiguation_pages(wikitext, expected):
    assert parse_article(wikitext, ENGLISH).disambiguation is expected


@pytest.mark.parametrize(
    ("title", "wikitext", "text"),
    [
        ("T", "'''{{PAGENAME}}''' is {{nowrap|{{ FULLPAGENAME }}}}{{NAMESPACE}}", "T is T"),
        ("Portal:Y", "{{NAMESPACE}}, {{PAGENAME}}, {{FULLPAGENAME}}", "Portal, Y, Portal:Y"),
        ("L''x''=*", "{{nowrap|{{PAGENAME}}}}", "L''x''=*"),
        ("Talk:A é", "{{PAGENAMEE}} {{FULLPAGENAMEE}} {{NAMESPACEE}}", "A_%C3%A9 Talk:A_%C3%A9 Talk"),
        ("T", "<nowiki>{{PAGENAME}}</nowiki> <!-- {{PAGENAME}} --> {{PAGENAME}}", "{{PAGENAME}} T"),
        ("T", "a {{{PAGENAME}}} {{PAGENAME:b}} {{pagename}}", "a b"),
    ],
)
def test_names_of_the_page(title, wikitext, text):
    assert parse_article(ENGLISH.with_page_names(wikitext, title), ENGLISH).text == text


@pytest.mark.parametrize(
    ("code", "hatnotes"),
    [
        ("en", "About; Other uses; Otheruses; For; Redirect; Distinguish; Hatnote; Disambiguation needed; Dablink"),
        ("simple", "About; Other uses; For; Redirect; Distinguish; Hatnote"),
        ("de", "Begriffsklärungshinweis; BKH; Dieser Artikel; Dieser Artikel+; Siehe auch"),
        ("fr", "Voir homonymes; Voir homonyme; Voir homonymie; Voir paronymes; Voir homophones; Homon; Homonyme; "
               "Paronyme; Homophonie; Confusion; Page h; Lien vers un homonyme"),
        ("es", "Otros usos; Otrosusos; Redirige aquí; Distinguir; Confundir"),
        ("it", "Nota disambigua; Disambigua2"),
        ("pt", "Ver desambiguação; Ver desambig; Desambigexplicada; Minidesambig; Não confundir com; Redirect"),
        ("nl", "Zie doorverwijspagina; Zie dp; Zie artikel"),
        ("ru", "Значения; Другие значения; О; Перенаправление; Не путать"),
        ("pl", "Inne znaczenia; DisambigR; Nie mylić z"),
        ("sv", "Olika betydelser; Ej att förväxla med; Omdirigering; Otheruses"),
        ("zh", "About; Otheruses; Redirect; Distinguish; Dablink"),
        ("ja", "Otheruses; Redirect; For; Otheruseslist; 混同"),
        ("lv", "Citas nozīmes; Otheruses; About; Redirect"),
    ],
)  # fmt: skip
def test_a_hatnote_points_to_a_disambiguation_page_and_makes_none(code, hatnotes):
    language = WikiLanguage.of(SiteInfo(f"{code}wiki"))
    for name in hatnotes.split("; "):
        assert not parse_article(
            f"{{{{{name}|Mercury (other)}}}}\nMercury is a metal.", language
        ).disambiguation, name
    assert parse_article("Mercury:\n* [[Mercury (metal)]]\n{{disambig}}", language).disambiguation


@pytest.mark.parametrize(
    ("code", "markers"),
    [
        ("fr", "Homonymie; Patronyme; Toponymie; Paronymie; Communes françaises homonymes"),
        ("de", "Begriffsklärung"),
        ("ja", "Aimai"),
        ("pl", "Ujednoznacznienie"),
    ],
)
def test_markers_of_disambiguation_pages(code, markers):
    language = WikiLanguage.of(SiteInfo(f"{code}wiki"))
    assert all(
        parse_article(f"* [[A]]\n{{{{{name}}}}}", language).disambiguation for name in markers.split("; ")
    )


def test_names_of_a_user():
    more = Names(
        see_also=["Cross_References", "sources"],
        disambiguation=["Several*"],
        namespaces=["Lab"],
        link_trail="0-9",
    )
    language = WikiLanguage.of(SiteInfo("enwiki"), more)
    assert language.role("cross references") == language.role("See also") == "see-also"
    assert language.role("Sources") == "see-also"  # boilerplate in English, but the user says otherwise
    assert parse_article("{{several meanings}}", language).disambiguation
    assert "lab" in language.namespaces
    assert language.link_trail == "0-9"


def test_every_pattern_of_the_resource_file_works():
    for patterns in languages._read("templates.yaml").values():
        templates = Templates(patterns)
        for name, pattern in patterns.items():
            assert name == languages.normal_name(name)
            assert pattern_fault(pattern) is None
            rendered = templates.show(pattern, name.replace("*", "x"), "one|two|text=three")
            assert isinstance(rendered, str)
            assert len(rendered) < 60
            assert rendered.count("one") < 2


def test_names_listed_by_hand_are_valid_as_a_users():
    for names in languages._read("languages.yaml").values():
        Names(**names)


def test_every_edition_of_the_table_of_mediawiki_is_sound():
    for code, names in languages._read("mediawiki.json").items():
        Names(**names)  # valid as a user's
        assert code in languages._read("languages.yaml")["all"]["languages"]
        WikiLanguage.of(SiteInfo(f"{code.replace('-', '_')}wiki"))


LARGE = """
en ceb de fr sv nl es ru it pl arz zh ja uk vi war ar pt fa ca ko id sr no tr ce fi cs hu ro tt eu sh zh-min-nan
ms he hy eo bg uz da et cy be el sk simple azb la gl min ur kk ka sl nn lt hr az hi th ta bn lv
tg mk af lmo ast mg my zh-yue mr sq te be-x-old
"""
"""Editions with more than 100,000 articles, or nearly."""


@pytest.mark.parametrize("code", LARGE.split())
def test_large_editions_are_read_by_their_own_names(code):
    language = WikiLanguage.of(SiteInfo(f"{code.replace('-', '_')}wiki"))
    assert language.code == code
    if code not in ("en", "simple", "ceb"):
        assert len(language.namespaces) > len(ENGLISH.namespaces)


LETTERS = "ru ж, uk ї, el ω, he ש, ar ش, fa پ, bn ক, hy ք, cs ř, tr ğ"


@pytest.mark.parametrize("code_and_letter", LETTERS.split(", "))
def test_letters_of_a_script_belong_to_the_link_before_them(code_and_letter):
    code, letter = code_and_letter.split()
    assert links_of(f"[[A]]{letter}", WikiLanguage.of(SiteInfo(f"{code}wiki"))) == [(f"A{letter}", "A")]


@pytest.mark.parametrize(
    ("code", "wikitext", "text", "see_also"),
    [
        ("uk", "[[Київ]]ський [[Файл:А.png|міні|x]]\n== Див. також ==\n* [[Львів]]", "Київський", "Див. також"),
        ("cs", "[[pes]]ům [[Soubor:A.png|b]]\n== Související články ==\n* [[kočka]]", "pesům", "Související články"),
        ("eo", "[[kato]]j [[Kategorio:B]]\n== Vidu ankaŭ ==\n* [[hundo]]", "katoj", "Vidu ankaŭ"),
        ("ko", "[[개]]는 [[분류:B]]\n== 같이 보기 ==\n* [[고양이]]", "개는", "같이 보기"),
        ("ar", "[[قط]]ان [[تصنيف:ب]]\n== انظر أيضًا ==\n* [[كلب]]", "قطان", "انظر أيضًا"),
    ],
    ids=["uk", "cs", "eo", "ko", "ar"],
)  # fmt: skip
def test_editions_that_nobody_listed_by_hand(code, wikitext, text, see_also):
    language = WikiLanguage.of(SiteInfo(f"{code}wiki"))  # a dump without a list of namespaces
    article = parse_article(wikitext, language)
    assert article.text.splitlines()[0] == text
    assert [(part.heading, part.role) for part in article.sections[1:]] == [(see_also, "see-also")]
    if code != "ko":
        assert article.text[article.links[0].start : article.links[0].end] == text
