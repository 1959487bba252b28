"""`make same` compares with its list, and the list is of this checkout."""

from __future__ import annotations

import same


def test_configurations_are_those_of_the_list() -> None:
    """Where a change of one is meant: `make same ARGS="configuration --freeze"`."""
    assert same.main(["configuration"]) == 0


def test_what_differs_is_new_or_gone_is_named(monkeypatch, tmp_path, capsys) -> None:
    frozen = tmp_path / "same.txt"
    frozen.write_text("plan all 1 aa\nplan read_corpus 2 bb\ntiny results/a.csv cc\n")
    monkeypatch.setattr(same, "LIST", frozen)
    monkeypatch.setitem(same.PARTS, "plan", lambda: iter([("all 1", "aa"), ("read_corpus 3", "bb")]))
    monkeypatch.setitem(same.PARTS, "tiny", lambda: iter([("results/a.csv", "dd")]))
    assert same.main(["plan", "tiny"]) == 1
    printed = capsys.readouterr().err
    assert "gone: plan read_corpus 2\nnew: plan read_corpus 3\n" in printed
    assert "differs: tiny results/a.csv\n" in printed
    assert "3 differences" in printed
    assert same.main(["tiny", "--freeze"]) == 0
    assert frozen.read_text() == "plan all 1 aa\nplan read_corpus 2 bb\ntiny results/a.csv dd\n"
