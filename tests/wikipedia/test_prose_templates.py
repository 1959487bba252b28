"""The rule for templates that nobody has listed, on labelled calls of many languages; the table beside it corrects it.

Calls are those of pages in 123 languages (each with what stands around it) and well-known ones written by hand. The
last column is what MediaWiki shows of the call in the sentence, "" for nothing but a mark or a footnote.
"""

import re

import pytest
from wiki_pages import text_of, wiki

from irpretrain.wikipedia.wikitext.hidden import remove_hidden
from irpretrain.wikipedia.wikitext.marks import BREAK, DROPPED, NOTHING
from irpretrain.wikipedia.wikitext.templates import Templates

CALLS = [
    # words that a sentence runs through
    ("it", "il turismo, che ⟦{{chiarire|nell'ultimo decennio|quale?}}⟧ è aumentato", "nell'ultimo decennio"),
    ("it", "Roma ⟦{{Senza fonte|fu fondata dai latini}}⟧, poi crebbe", "fu fondata dai latini"),
    ("it", "Nel 1990 ⟦{{citazione necessaria|la città era più grande|data=marzo 2010}}⟧.", "la città era più grande"),
    ("it", "\n⟦{{Senza fonte|La città è antica.}}⟧ Poi crebbe", "La città è antica."),
    ("it", "ha una superficie di ⟦{{TA|3 743,21 km²}}⟧ ed una popolazione", "3 743,21 km²"),
    ("pl", "kultur brązu]]. ⟦{{Fakt|[[Germanie]] pojawili się tam w XIII wieku|data=2017-1}}⟧ Potem",
     "[[Germanie]] pojawili się tam w XIII wieku"),
    ("pl", "Był on ⟦{{kto|uważany za najlepszego}}⟧ w kraju", "uważany za najlepszego"),
    ("de", "schreibt Schopenhauer: ⟦{{\"|Es liegt am Tage, daß Wort und That verschieden sind}}⟧ Brockhaus",
     "„Es liegt am Tage, daß Wort und That verschieden sind“"),
    ("de", "Motive (⟦{{enS|themes}}⟧), die", "englisch themes"),
    ("fr", "En 1815 ⟦{{incise|après le [[congrès de Vienne]]}}⟧ l’Autriche", "– après le [[congrès de Vienne]] –"),
    ("fr", "Il est ⟦{{refnec|le plus grand du monde}}⟧.", "le plus grand du monde"),
    ("fr", "depuis ⟦{{quand|quelques années|date=mars 2012}}⟧, il", "quelques années"),
    ("fr", "le ⟦{{date-|19 janvier}}⟧, il crée", "19 janvier"),
    ("fr", "Les ⟦{{pas clair|données en question}}⟧ sont", "données en question"),
    ("es", "que ⟦{{cita requerida|la ciudad fue fundada antes}}⟧, pero", "la ciudad fue fundada antes"),
    ("es", "el ⟦{{esd|3 de mayo}}⟧ de", "3 de mayo"),
    ("pt", "e ⟦{{carece de fontes|foi o maior do mundo|data=maio de 2010}}⟧.", "foi o maior do mundo"),
    ("pt", "pela primeira vez no ⟦{{séc|XIII}}⟧, Berlim", "século XIII"),
    ("ru", "территории является ⟦{{нп5|Баварский квартал|Баварский квартал|de|Bayerisches Viertel}}⟧ в районе",
     "[[Баварский квартал|Баварский квартал]]"),
    ("ru", "и ⟦{{не АИ|был самым большим городом|10|05|2012}}⟧ в стране", "был самым большим городом"),
    ("uk", "місто ⟦{{прояснити-вираз|дуже велике за площею}}⟧ у країні", "дуже велике за площею"),
    ("nl", "de stad is ⟦{{bron?|de oudste van het land|2010}}⟧ en", "de oudste van het land"),
    ("sv", "staden är ⟦{{källa behövs span|äldst i landet}}⟧ och", "äldst i landet"),
    ("cs", "město ⟦{{doplňte zdroj text|je nejstarší v zemi}}⟧ a", "je nejstarší v zemi"),
    ("he", "נערכה ב⟦{{ה|אצטדיון האולימפי של ברלין}}⟧. העיר", "אצטדיון האולימפי של ברלין"),
    ("tr", "şehir ⟦{{kaynak belirt span|ülkenin en eskisi}}⟧ ve", "ülkenin en eskisi"),
    ("ja", "人口は⟦{{要出典範囲|日本で最も多いとされている|date=2010年}}⟧。", "日本で最も多いとされている"),
    ("zh", "他 ⟦{{來源請求範圍|被認為是最偉大的作家}}⟧ 。", "被認為是最偉大的作家"),
    ("lt", "(⟦{{vok|Siedlungen der Berliner Moderne}}⟧)", "Siedlungen der Berliner Moderne"),
    ("en", "In ⟦{{citation needed span|most of the cases|date=May 2010}}⟧ it", "most of the cases"),
    ("en", "and ⟦{{nobreak|from the top of the hill}}⟧ to", "from the top of the hill"),
    ("en", "was ⟦{{highlight|the first of its kind}}⟧ and", "the first of its kind"),
    ("en", "said ⟦{{qi|words of the day}}⟧ to", "words of the day"),
    ("en", "the ⟦{{visible anchor|law of large numbers}}⟧ says", "law of large numbers"),
    ("en", "alongside ⟦{{HMS|Ajax|22|6}}⟧ and", "HMS Ajax"),
    ("en", "invested ⟦{{US$|2 billion}}⟧ in", "US$2 billion"),
    ("ro", "altă parte, ⟦{{necesită citare|este cel mai mare din țară}}⟧, iar", "este cel mai mare din țară"),
    ("fi", "kaupunki on ⟦{{lähde tarvitaan|maan vanhin|vuosi=2010}}⟧ ja", "maan vanhin"),
    ("no", "byen er ⟦{{tr|en av de eldste i landet}}⟧ og", "en av de eldste i landet"),
    # nothing in the sentence
    ("en", "motion]] and change⟦{{refn|With the principle often applied in case of animation.|group=N}}⟧ by means", ""),
    ("en", "or Print form⟦{{Efn|The characters from the area are reserved}}⟧ and", ""),
    ("en", "out of it.⟦{{sfn|Barnes|1995|p=9}}⟧ It", ""),
    ("en", "next years.⟦{{rp|xxi}}⟧ It", ""),
    ("en", "goal-directed thinking⟦{{clarify|It is unclear what it connects to}}⟧. In", ""),
    ("en", "\n⟦{{Main article|Objectivism (Ayn Rand)}}⟧\n", ""),
    ("en", "\n⟦{{about|the capital of Germany|other uses|Berlin (other)}}⟧\n", ""),
    ("en", "\n⟦{{see also|Historical anthropology of towns}}⟧\n", ""),
    ("en", "\n⟦{{Main|Banu Hilal}}⟧Reigned in", ""),
    ("en", "in Alabama]]⟦{{Relevance inline|material|date=February 2016}}⟧\n", ""),
    ("en", "\n* ⟦{{flagicon|United States}}⟧ [[Los Angeles]]", ""),
    ("en", "'''Berlin''' (⟦{{IPA-de|bɛɐ̯ˈliːn|lang|De-Berlin.ogg}}⟧) is", ""),
    ("en", "site] ⟦{{in lang|de}}⟧\n", ""),
    ("en", "\n⟦{{Commons category|views of the town}}⟧\n", ""),
    ("en", "Splashdown at ⟦{{coord|13|19|N|169|9|W}}⟧ in", "13°19′N 169°9′W"),
    ("en", "\n⟦{{refimprove|paragraph|date=May 2015}}⟧ [[William Shakespeare]]", ""),
    ("en", "He died ⟦{{webarchive|url=http://x.y|date=May 2010}}⟧ in", ""),
    ("en", "see ⟦{{anchor|law of the land}}⟧ here", ""),
    ("fr", "\n⟦{{Voir homonymes|Berlin}}⟧\n", ""),
    ("fr", "l'Autriche⟦{{Note|Le jour du dépassement est le jour où il se produirait}}⟧ est", ""),
    ("fr", "\n⟦{{Article détaillé|Histoire de la ville}}⟧\n", ""),
    ("fr", "\n⟦{{Section à sourcer|date=mars 2010}}⟧\n", ""),
    ("de", "\n⟦{{Hauptartikel|Geschichte der Stadt Berlin}}⟧\n", ""),
    ("de", "\n⟦{{Anker|Hansestadt}}⟧Ab dem", ""),
    ("de", "er ging⟦{{FN|1}}⟧ und", ""),
    ("it", "\n⟦{{vedi anche|Storia di Berlino}}⟧\n", ""),
    ("it", "\n⟦{{C|la sezione è troppo lunga per la voce|città|marzo 2010}}⟧\n", ""),
    ("es", "\n⟦{{AP|Historia de la ciudad}}⟧\n", ""),
    ("es", "''Berlín-Brandeburgo''.⟦{{actualizar|2009}}⟧\n", ""),
    ("pt", "\n⟦{{Artigo principal|História de Berlim}}⟧\n", ""),
    ("ru", "суффиксом места⟦{{sfn|Поспелов|2002|с=66}}⟧. От", ""),
    ("ru", "миллиона человек⟦{{Нет АИ|3|01|2018}}⟧. Город", ""),
    ("ru", "\n⟦{{main|История города Берлин}}⟧\n", ""),
    ("pl", "1697/98 i 1700⟦{{r|fam}}⟧. W", ""),
    ("pl", "\n⟦{{osobny artykuł|Historia Berlina jako miasta}}⟧\n", ""),
    ("nl", "\n⟦{{Zie hoofdartikel|Geschiedenis van Berlijn}}⟧\n", ""),
    ("no", "fra 2001.⟦{{Efn|Det finnes ulike årstall for dette}}⟧ Knapt", ""),
    ("no", "bydelene i Berlin⟦{{Byline|Felix Hahn|type=Tegning}}⟧ ligger", ""),
    ("he", "שנתרם⟦{{הערה|פרדריק טיילור, חומת ברלין}}⟧ בשנת", ""),
    ("he", "הרב [[יוסף אווב]] ⟦{{אנ|Joseph Aub (rabbi)}}⟧ התמנה", ""),
    ("ja", "トルコ系の人たち⟦{{enlink|Turks in Germany|a=on}}⟧は", ""),
    ("bg", "\n⟦{{основна|Приемане на григорианския календар}}⟧\n", ""),
    ("ar", "نهر ⟦{{ملف صوتي|De-Berlin.ogg}}⟧ يخترق", ""),
    ("sl", "\n* 1967 ⟦{{ikonazastave|Združene države Amerike}}⟧ '''[[Los Ángeles]]'''", ""),
    ("da", "\n* [http://x Websted] ⟦{{Sprogikon|Tysk og engelsk}}⟧\n", ""),
    ("sv", "\n⟦{{Huvudartikel|Stadens historia under medeltiden}}⟧\n", ""),
]  # fmt: skip


# words behind named arguments, with other markup in them, in templates within each other; hints that take words
SENTENCES = [
    ("en", "grew {{madeup|date=May 2010|in recent years}} and", "grew in recent years and"),
    ("en", "grew {{madeup|a=[[b|c]]|2=x|1=in recent years}} and", "grew in recent years and"),
    ("en", "grew {{madeup|date=2010|text=in recent years}} and", "grew in recent years and"),
    ("en", "grew {{madeup|in recent [http://x.y/z years]}} and", "grew in recent years and"),
    ("en", "grew {{madeup|in recent<br>years|when?}} and", "grew in recent\nyears and"),
    ("en", "grew {{madeup|{{madeup too|in recent years}}}} and", "grew in recent years and"),
    ("en", "grew {{madeup|in recent years{{x}}}} and", "grew in recent years and"),
    ("en", "grew {{nowrap|{{madeup|in recent years}}}} and", "grew in recent years and"),
    ("fr", "dit {{citation étrangère|lang=en|words of the day}} et", "dit « words of the day » et"),
    ("en", "grew {{madeup|date=May 2010|in recent years|2010}} and", "grew and"),
    ("en", "grew{{madeup|date=May 2010|in recent years}} and", "grew and"),
    ("en", "grew {{madeup|file=x|words of a file.ogg}} and", "grew and"),
    ("en", "grew {{madeup|[[year]]s}} and {{madeup|[[a b|year]]s}} so", "grew and so"),
    ("en", "x {{madeup|\nlabel=a\n|1=of many fish\n}} and", "x and"),
    ("en", "x {{madeup|of this<br>of that<br>of more}} and", "x and"),
    ("en", "grew {{madeup|caption=in recent years}} and", "grew and"),
    *(
        ("en", f"He {{{{{hint}|this is unsourced}}}} and", "He and")
        for hint in ("cn", "why", "Vague", "when", "dubious")
    ),
    ("pt", "e {{cn|foi o maior do mundo}} e", "e foi o maior do mundo e"),
    ("en", "{{harvp|Smith|2000}} says", "Smith 2000 says"),
    ("de", 'Er sagt {{"|Text=Das ist gut so|Autor=X}} und', "Er sagt „Das ist gut so“ und"),
    ("de", "Er sagt\n{{Zitat|Text=Das ist gut so}}\nund", "Er sagt\nDas ist gut so\nund"),
    # in a script without capitals, where fewer words may be a name
    ("he", "העיר {{מומצא|הגדולה ביותר בכל הארץ}} היא", "העיר הגדולה ביותר בכל הארץ היא"),
    ("he", "העיר {{מומצא|הגדולה ביותר בארץ}} היא", "העיר היא"),
    # quotations alone behind a line of prose
    ("en", "He said to us:\n{{madeup|We shall go to Rome.}}", "He said to us:\nWe shall go to Rome."),
    ("en", "He said to us:\n{{madeup|We Shall Go To Rome.}}", "He said to us:"),
    ("en", "He said to us:\n{{madeup|We go to Rome.}}", "He said to us:"),
    ("he", "הוא אמר לנו:\n{{מומצא|אנחנו נלך מחר אל העיר.}}", "הוא אמר לנו:\nאנחנו נלך מחר אל העיר."),
    # behind what is left out, and in scripts without spaces
    ("en", "It{{efn|x}} {{madeup|was founded long ago}}<ref>b</ref> and so", "It was founded long ago and so"),
    ("en", "It<ref>x</ref> {{a}} {{madeup|was founded in antiquity}}{{efn|x}} so", "It was founded in antiquity so"),
    ("en", "město{{Pozn.|x}} {{Zdroj?|je nejstarší v zemi}}<ref>b</ref>", "město je nejstarší v zemi"),
    ("en", "La ciudad{{efn|x}} {{aclarar|fue fundada antes}}{{cr}}.", "La ciudad fue fundada antes."),
    ("en", "{{flagicon|x}} {{madeup|hint of many words}}\nText", "Text"),
    ("en", "* {{flagicon|x}}{{madeup|hint of many words}}<ref>x</ref>", ""),
    ("en", "乙{{來源請求|这是一个长句子的测试}}。", "乙这是一个长句子的测试。"),
    ("en", "町は{{何か|日本で最も多いとされている}}が", "町は日本で最も多いとされているが"),
    ("en", "町である{{注釈何か|これは日本で最も多いとされている町である。}}。", "町である。"),
    ("en", "町である。{{注釈何か|日本で最も多いとされている}}また", "町である。また"),
    ("en", "町{{efn|日本で最も多いとされている}}は", "町は"),
    # Six tenths are letters, or a third of the words begins small.
    ("en", "It was {{xy|in the 123}} built, {{xy|in the 12345}} here.", "It was in the 123 built, here."),
    ("en", "So he wrote this down:\n{{xy|Oh Pie Oh Pie and so.}}\n", "So he wrote this down:\nOh Pie Oh Pie and so."),
    ("en", "So he wrote this down:\n{{xy|Oh Pie Oh Pie Oh and so.}}\n", "So he wrote this down:"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "wikitext", "text"), SENTENCES)
def test_which_argument_has_the_words_and_the_whole_line_before_it_counts(code, wikitext, text):
    assert text_of(wikitext, wiki(code)) == text


def rendered(marked, templates):
    before, call, after = re.split("[⟦⟧]", marked)
    text = remove_hidden(f"x{before}{call}{after}\n", templates)
    text = re.sub(f"[{BREAK}{NOTHING}{DROPPED}]", "", text)
    assert text.startswith(f"x{before}")
    after = after.strip(" ")
    return text[len(before) + 1 :].rstrip().removesuffix(after.rstrip()).strip()


@pytest.mark.parametrize(("code", "marked", "text"), CALLS)
def test_with_the_table_beside_it(code, marked, text):
    assert rendered(marked, wiki(code).templates) == text


def test_precision_and_recall_of_the_rule_alone():
    """The numbers stand in docs/methods/wikipedia.md."""
    none = Templates({})
    marks = [(rendered(marked, none) != "", text != "") for _, marked, text in CALLS]
    right = sum(rule and label for rule, label in marks)
    assert (right, sum(rule for rule, _ in marks), sum(label for _, label in marks)) == (32, 36, 40)


def test_spanish_centuries():
    page = "siglos {{siglo|XV}} y {{siglo|XVI||s}}, {{siglo|V|a|S}}, {{siglo|I|d}}"
    assert text_of(page, wiki("es")) == "siglos XV y siglo XVI, Siglo V a. C., I d. C."
