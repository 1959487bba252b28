"""Mentions of titles: whole words, three ways to write a title, leftmost and longest; compared with a plain search."""

from hypothesis import given
from hypothesis import strategies as st

from irpretrain.wikipedia import mentions
from irpretrain.wikipedia.mentions import TitleFinder, lower_first, title_cased


def found(titles: list[str], text: str, **options: object) -> list[tuple[str, str]]:
    """(what stands in the text, the title) of every mention."""
    finder = TitleFinder(titles, **options)
    return [(text[m.start : m.end], finder.titles[m.title].as_py()) for m in finder.find(text)]


def test_whole_words_only():
    text = "Time flies. Timely Time's-up, No-Time/Time; xTime Time2 Time"
    assert [m.start for m in TitleFinder(["Time"]).find(text)] == [0, 19, 33, 38, 56]


def test_longest_and_leftmost():
    titles = ["New York", "New York City", "York City Hall", "City", "Hall"]
    assert found(titles, "In New York City Hall, New York.") == [
        ("New York City", "New York City"),
        ("Hall", "Hall"),
        ("New York", "New York"),
    ]


def test_ways_to_write_a_title():
    titles = ["Super_bowl", "Solar energy", "NATO", "iPod nano", "Big Time", "Big time"]
    text = "Super Bowl super bowl Super bowl; solar energy, nATO iPod nano IPod Nano BIG TIME"
    exact = [("Super Bowl", "Super bowl"), ("Super bowl", "Super bowl"), ("iPod nano", "iPod nano"),
             ("IPod Nano", "iPod nano")]  # fmt: skip
    assert found(titles, text) == exact
    assert ("solar energy", "Solar energy") in found(titles, text, with_lower_case=True)
    assert ("super bowl", "Super bowl") in found(titles, text, with_lower_case=True)
    assert not any(title == "NATO" for _, title in found(titles, text, with_lower_case=True))
    assert found(titles, "Big Time Big time") == [("Big Time", "Big Time"), ("Big time", "Big time")]
    assert (title_cased("history of éa"), lower_first("A b"), lower_first("")) == ("History Of Éa", "a b", "")


def test_signs_and_spaces_must_be_as_in_the_title():
    titles = ["AC/DC", "C++", "St. John's", "Yahoo!"]
    text = "AC/DC AC / DC, C++, C+ +, St.\n John's St.John's Yahoo! Yahoo"
    assert [written for written, _ in found(titles, text)] == ["AC/DC", "C++", "St.\n John's", "Yahoo!"]


def test_short_long_empty_and_repeated_titles():
    assert found(["Red", "Blue", "Blue", "", " _ "], "Red Blue", minimum_length=4) == [("Blue", "Blue")]
    longest = " ".join(f"t{n}" for n in range(mentions.MAX_TOKENS))
    assert found([longest], f"x {longest} y") == [(longest, longest)]
    assert found([f"{longest} more", "more"], f"x {longest} more") == [("more", "more")]
    assert found([], "text") == []
    assert found(["A"], "") == []


def test_equal_hashes_of_different_words_find_nothing_wrong(monkeypatch):
    monkeypatch.setattr(mentions, "hash", lambda word: 7, raising=False)
    assert found(["Aa Bb"], "Cc Dd Aa Bb") == [("Aa Bb", "Aa Bb")]


def test_titles_come_in_pieces(monkeypatch):
    text, titles = "A big cat, B Big Cat", ["big cat", "A", "B", "Big Cat", "cat"]
    whole = found(titles, text)
    monkeypatch.setattr(mentions, "TITLES_AT_ONCE", 2)
    assert (
        found(titles, text)
        == whole
        == [("A", "A"), ("big cat", "big cat"), ("B", "B"), ("Big Cat", "Big Cat")]
    )


def plain_search(titles: list[str], text: str) -> list[tuple[int, int, str]]:
    """The definition, word by word: no hash, no array."""
    cleaned = sorted({" ".join(title.split()) for title in titles} - {""})
    forms: dict[str, str] = {}
    for make in (str, title_cased):
        for title in cleaned:
            forms.setdefault(make(title), title)

    def inside_word(position: int) -> bool:
        return 0 < position < len(text) and text[position - 1].isalnum() and text[position].isalnum()

    result, at = [], 0
    while at < len(text):
        ends = [
            end
            for end in range(len(text), at, -1)
            if " ".join(text[at:end].split()) in forms
            and not (inside_word(at) or inside_word(end))
            and not (text[at].isspace() or text[end - 1].isspace())
        ]
        if ends:
            result.append((at, ends[0], forms[" ".join(text[at : ends[0]].split())]))
        at = ends[0] if ends else at + 1
    return result


LETTERS = st.text(st.sampled_from("aAbB- \n"), max_size=14)


@given(titles=st.lists(LETTERS, max_size=6), text=LETTERS)
def test_any_titles_in_any_text(titles, text):
    finder = TitleFinder(titles)
    mine = [(m.start, m.end, finder.titles[m.title].as_py()) for m in finder.find(text)]
    assert mine == plain_search(titles, text)
