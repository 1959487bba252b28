"""One small text of each language, with its words, stop words and stems, checked by hand."""

from typing import NamedTuple


class Case(NamedTuple):
    """A text.

    Attributes:
        text: some words, without apostrophes but for those that part a word in French and Italian.
        words: of it, in order.
        stop: those of them that are stop words.
        stems: of the others, by Snowball.
    """

    text: str
    words: str
    stop: str
    stems: str


CASES = {
    "german": Case(
        "Die Häuser der Städte schlafen", "die häuser der städte schlafen", "die der", "haus stadt schlaf"
    ),
    "french": Case(
        "Les chevaux de l'école mangent",
        "les chevaux de l école mangent",
        "les de l",
        "cheval écol mangent",
    ),
    "spanish": Case("Los gatos comen en casas", "los gatos comen en casas", "los en", "gat com cas"),
    "italian": Case(
        "Le ragazze dell'università leggono libri",
        "le ragazze dell università leggono libri",
        "le dell",
        "ragazz univers legg libr",
    ),
    "portuguese": Case(
        "Os meninos leem livros novos", "os meninos leem livros novos", "os", "menin leem livr nov"
    ),
    "dutch": Case("De huizen van de steden", "de huizen van de steden", "de van de", "huis steed"),
    "russian": Case("Кошки и собаки любят дома", "кошки и собаки любят дома", "и", "кошк собак люб дом"),
    "arabic": Case("كَتَبَ الأولادُ في المدارسِ كتبا", "كَتَبَ الأولادُ في المدارسِ كتبا", "في", "كتب اولاد مدارس كتب"),
    "hindi": Case("लड़कियों ने किताबें पढ़ीं हैं", "लड़कियों ने किताबें पढ़ीं हैं", "ने हैं", "लड़क किताब पढ़"),
    "japanese": Case(
        "東京タワーは日本の塔です",
        "東京 京タ タワ ワー ーは は日 日本 本の の塔 塔で です",
        "",
        "東京 京タ タワ ワー ーは は日 日本 本の の塔 塔で です",
    ),
    "chinese": Case(
        "北京大学在iPhone手机上。",
        "北京 京大 大学 学在 iphone 手机 机上",
        "",
        "北京 京大 大学 学在 iphone 手机 机上",
    ),
    "korean": Case(
        "서울은 대한민국의 수도",
        "서울 울은 대한 한민 민국 국의 수도",
        "",
        "서울 울은 대한 한민 민국 국의 수도",
    ),
    "other": Case(
        "Latgalīšu volūda i tauta 2017",
        "latgalīšu volūda i tauta 2017",
        "",
        "latgalīšu volūda i tauta 2017",
    ),
}
