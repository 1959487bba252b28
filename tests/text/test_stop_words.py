from pathlib import Path

import pytest

from irpretrain.foundation import resources
from irpretrain.foundation.errors import SetupError
from irpretrain.foundation.resources import resources_directory
from irpretrain.text.stop_words import load_stop_words
from irpretrain.text.words import find_words


def test_the_lists_have_their_published_sizes() -> None:
    assert load_stop_words("none") == frozenset()
    inquery = load_stop_words("inquery")
    assert len(inquery) == 418 - 1 + 2  # "doesn't" is cut into "doesn" and "t"
    assert {"doesn", "t"} <= inquery
    both = load_stop_words("nltk+inquery")
    assert inquery < both
    assert {"the", "whereupon", "shan"} <= both


def test_cutting_contractions_adds_no_word_that_nltk_does_not_list() -> None:
    listed = (resources_directory() / "stopwords" / "nltk.txt").read_text().split()
    contractions = [entry for entry in listed if "'" in entry]
    assert contractions
    assert {piece for entry in contractions for piece in find_words(entry, "letters")} <= set(listed)
    assert not any("'" in word for word in load_stop_words("nltk+inquery"))


def test_lists_are_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "the" in load_stop_words("inquery")


def test_a_missing_list_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "resources_directory", lambda: tmp_path)
    with pytest.raises(SetupError, match=r"inquery\.txt"):
        load_stop_words("inquery")
