"""Names of language editions: the resource file, the dump's own names, the user's."""

import pytest
from wiki_pages import ENGLISH, links_of, text_of, wiki

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


# Of See Also lists: headings of the resource file, in pieces of dumps of May 2023 (the frequent ones and some that were
# met once), and other ways to write one.
SEE_ALSO = {
    "en": "See also; SEE ALSO;  SEE ALSO :; See_also:; '''See also'''; See  also.",
    "simple": "Related pages; Other pages",
    "ceb": "See also",  # without headings of its own: those of English
    "test": "See also",  # not known: as English
    "ar": "انظر أيضا; انظر أيضًا; أنظر أيضاً; انظر ايضا :; انـظر أيضا",
    "bn": "আরও দেখুন; আরো দেখুন; আরোও দেখুন; আর দেখুনঃ; প্রাসঙ্গিক নিবন্ধ",
    "de": "Siehe auch",
    "el": "Δείτε επίσης; Βλέπε επίσης; Βλέπε και; Δείτε ακόμη; Διαβάστε επίσης; Σχετικά Άρθρα",
    "eo": "Vidu ankaŭ",
    "es": "Véase también",
    "fr": "Articles connexes",
    "hi": "इन्हें भी देखें; इन्हें भी देखें:; इन्हेंभी देखें",
    "hy": "Տես նաև; Տե՛ս նաև",
    "id": "Lihat pula; Lihat juga",
    "it": "Voci correlate",
    "ja": "関連項目",
    "ko": "같이 보기; 같이보기",
    "ltg": "Verīs taipoš",
    "lv": "Skatīt arī",
    "mr": "हे सुद्धा पहा; हेही पहा; हेसुद्धा पहा; हे ही पहा; हे सुद्धा बघा; हे सुद्धा पाहा; हे देखील पहा; हेदेखील पाहा",
    "nl": "Zie ook",
    "pl": "Zobacz też",
    "pt": "Ver também",
    "ro": "Vezi și; Vezi şi; Vezi si",
    "ru": "См. также",
    "sr": "Види још; Vidi još; Такође погледајте; Pogledajte takođe",
    "sv": "Se även",
    "tr": "Ayrıca bakınız; AYRICA BAKINIZ",
    "uk": "Див. також; Див.також",
    "vi": "Xem thêm",
    "zh": "參見",
}
BOILERPLATE = {
    "en": "External links; external links：",
    "simple": "Other websites; Related websites",
    "ceb": "References",
    "test": "Citations",
    "bn": "তথ্যসূত্র; বহিঃসংযোগ; বহিঃ সংযোগ; বহি:সংযোগ; পাদটীকা; আরও পড়ুন; উৎস",
    "de": "Einzelnachweise",
    "el": "Εξωτερικοί σύνδεσμοι; Παραπομπές; Πηγές; Προτεινόμενη Βιβλιογραφία; Αναφορές",
    "eo": "Referencoj",
    "es": "Referencias",
    "fr": "Notes et références",
    "hy": "Ծանոթագրություններ; Արտաքին հղումներ; Գրականություն; Աղբյուրներ; Նշումներ",
    "id": "Referensi; Bacaan; Pranala luar",
    "it": "Collegamenti esterni",
    "ja": "外部リンク",
    "ltg": "Nūruodis",
    "lv": "Atsauces",
    "mr": "बाह्य दुवे; बाह्यदुवे; संदर्भ; संदर्भ आणि नोंदी; संदर्भ व नोंदी; बाहेरील दुवे; अधिक वाचन",
    "nl": "Externe links",
    "pl": "Przypisy",
    "pt": "Ligações externas",
    "ru": "Примечания",
    "sr": "Референце; Reference; Спољашње везе; Spoljašnje veze; Literatura; Beleške",
    "sv": "Källor",
    "uk": "Примітки; Джерела та література; Посилання на джерела; Виноски",
    "vi": "Tham khảo; Đọc thêm; Ghi chú; Liên kết bên ngoài; Nguồn tham khảo",
    "zh": "参考文献",
}
OTHERS = {"en": "History; Seen also; References of the day"}


@pytest.mark.parametrize(
    ("code", "headings", "role"),
    [
        (code, headings, role)
        for role, headings_of_code in (("see-also", SEE_ALSO), ("boilerplate", BOILERPLATE), ("", OTHERS))
        for code, headings in headings_of_code.items()
    ],
)
def test_what_headings_say_of_their_sections(code, headings, role):
    for heading in headings.split("; "):
        _, section = parse_article(f"ক.\n== {heading} ==\n* [[খ]]\n", wiki(code)).sections
        assert section.role == role, heading


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
    for name in hatnotes.split("; "):
        page = f"{{{{{name}|Mercury (other)}}}}\nMercury is a metal."
        assert not parse_article(page, wiki(code)).disambiguation, name
    assert parse_article("Mercury:\n* [[Mercury (metal)]]\n{{disambig}}", wiki(code)).disambiguation


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
    for name in markers.split("; "):
        assert parse_article(f"* [[A]]\n{{{{{name}}}}}", wiki(code)).disambiguation, name


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
    editions = languages._read("mediawiki.json")
    for code, names in editions.items():
        Names(**names)  # valid as a user's
        assert code in languages._read("languages.yaml")["all"]["languages"]
        assert wiki(code).code == code
    own_names = [code for code in editions if len(wiki(code).namespaces) > len(ENGLISH.namespaces)]
    assert len(own_names) >= 310  # the others write English names


LETTERS = "ru ж, uk ї, el ω, he ש, ar ش, fa پ, bn ক, hy ք, cs ř, tr ğ"


@pytest.mark.parametrize(
    ("code", "wikitext", "anchor"),
    [
        *((code, f"[[A]]{letter}", f"A{letter}") for code, letter in map(str.split, LETTERS.split(", "))),
        ("uk", "[[Київ]]ський [[Файл:А.png|міні|x]]", "Київський"),
        ("cs", "[[pes]]ům [[Soubor:A.png|b]]", "pesům"),
        ("eo", "[[kato]]j [[Kategorio:B]]", "katoj"),
        ("ko", "[[개]] [[분류:B]]", "개"),
        ("ar", "[[قط]]ان [[تصنيف:ب]]", "قطان"),
    ],
)
def test_letters_behind_a_link_and_namespaces_of_an_edition(code, wikitext, anchor):
    """Also of editions that nobody listed by hand, whose dump has no list of namespaces."""
    assert [found for found, _ in links_of(wikitext, wiki(code))] == [anchor]
    assert text_of(wikitext, wiki(code)) == anchor
