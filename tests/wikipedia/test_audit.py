"""The audit of a user's wiki: which pages, what it says of differences, and pages that cost too much."""

import json
import re

import pytest
from english_pages import ENGLISH
from synthetic_dumps import dump, page

import audit_wikitext as module
from audit_wikitext import Sampling, audit_page, audit_pages, audit_wikitext, main
from irpretrain.config.corpora import CorpusConfig
from irpretrain.foundation.errors import InputError
from irpretrain.report.table_files import markdown_escape
from irpretrain.wikipedia.wikitext import parse_article
from wikitext_comparison import Difference, compare_readings
from wikitext_reference import Edition, Reading

CONFIG = CorpusConfig(format="wikipedia-dump", path="x")
PAGES = [page(n, f"Title {n}", f"[[A{n}]]\n== See also ==\n* [[B{n}]]") for n in range(1, 41)]

pytestmark = pytest.mark.deep  # a tool for developers, not a part of the workflow


def write(folder, *parts):
    folder.mkdir(exist_ok=True)
    for number, pages in enumerate(parts):
        (folder / f"part-{number}.xml").write_bytes(dump(*pages))
    return folder


def sampled(folder, pages, seed=1, monkeypatch=None):
    """Titles of the pages that are compared, in their order."""
    titles = []
    add = module.Audit.add
    monkeypatch.setattr(
        module.Audit, "add", lambda self, title, *rest: titles.append(title) or add(self, title, *rest)
    )
    audit_pages(CONFIG, folder, Sampling(pages=pages), seed)
    monkeypatch.undo()
    return titles


def test_the_sample_depends_on_seed_and_page_id_alone(tmp_path, monkeypatch):
    whole = write(tmp_path / "whole", PAGES)
    parts = write(tmp_path / "parts", PAGES[20:], [page(99, "Talk:X", namespace=1)], PAGES[:20])
    few, many = sampled(whole, 5, monkeypatch=monkeypatch), sampled(whole, 12, monkeypatch=monkeypatch)
    assert (len(few), len(many)) == (5, 12)
    assert set(few) < set(many)
    assert many == sorted(many, key=lambda title: int(title.split()[1]))
    assert set(sampled(parts, 12, monkeypatch=monkeypatch)) == set(many)
    assert set(sampled(whole, 12, seed=2, monkeypatch=monkeypatch)) != set(many)
    assert len(sampled(whole, 1000, monkeypatch=monkeypatch)) == 40


def test_what_it_writes(tmp_path):
    folder = write(tmp_path / "dump", PAGES)
    outputs = tmp_path / "audit.md", tmp_path / "audit.json"
    counts = audit_wikitext("my-wiki", CONFIG, folder, Sampling(pages=10), 1, *outputs)
    record = json.loads(outputs[1].read_text())
    assert (counts["articles"], counts["sampled"], counts["compared"]) == (40, 10, 10)
    assert record["links"] == {"same": 20, "explained": {}, "unexplained": 0, "examples": []}
    assert record["see_also"]["same"] == record["headings"]["same"] == 10
    assert record["frequent_headings"] == [{"heading": "See also", "role": "see-also", "pages": 10}]
    text = outputs[0].read_text()
    assert text.startswith("# How the wikitext of my-wiki is read\n")
    assert "| links | 20 | 0 | 0 |\n" in text
    assert "| See also | 10 | See Also list |" in text
    again = tmp_path / "again.md", tmp_path / "again.json"
    audit_wikitext("my-wiki", CONFIG, folder, Sampling(pages=10), 1, *again)
    assert [path.read_bytes() for path in outputs] == [path.read_bytes() for path in again]


def test_a_wiki_whose_see_also_heading_is_not_known(tmp_path):
    folder = write(tmp_path / "dump", [page(1, text="a\n== Siehe auch ==\n* [[B]]")])
    table = tmp_path / "audit.md"
    audit_wikitext("w", CONFIG, folder, Sampling(), 1, table, tmp_path / "audit.json")
    assert "**No See Also list was found.**" in table.read_text()
    assert "| Siehe auch | 1 | prose |" in table.read_text()
    named = CorpusConfig(format="wikipedia-dump", path="x", options={"names": {"see_also": ["Siehe auch"]}})
    counts = audit_wikitext("w", named, folder, Sampling(), 1, table, tmp_path / "audit.json")
    assert counts["see_also"]["same"] == 1
    assert "| Siehe auch | 1 | See Also list |" in table.read_text()


def test_differences_that_nothing_explains():
    ours = "[[A|a]] [[B]]\n== One ==\n== Two ==\n== See also ==\n* [[C]]\n* [[D]]"
    theirs = "[[A|b]] [[B]]\n== One ==\n=== Two ===\n== See also ==\n* [[D]]\n* [[C]]"
    found = compare_readings(parse_article(ours, ENGLISH), Reading.of(theirs, Edition.of(ENGLISH)))
    assert found.headings.unexplained == [Difference("== Two ==", "=== Two ===")]
    assert found.links.unexplained == [Difference("", "[[A|b]]"), Difference("[[A|a]]", "")]
    assert found.see_also.unexplained == [Difference("C; D", "D; C")]
    shorter = theirs.replace("=== Two ===\n", "")
    found = compare_readings(parse_article(ours, ENGLISH), Reading.of(shorter, Edition.of(ENGLISH)))
    assert found.headings.classes["the same"] == 2
    assert found.headings.unexplained == [Difference("== Two ==", "")]


def test_examples_are_few_and_short_but_all_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PARSER", f"{__name__}:audit_differing_page")
    folder = write(tmp_path / "dump", [page(n, f"P|{n}", "x") for n in range(1, 6)])
    outputs = tmp_path / "audit.md", tmp_path / "audit.json"
    counts = audit_wikitext("w", CONFIG, folder, Sampling(examples=4), 1, *outputs)
    assert counts["links"]["unexplained"] == 5 * 100
    examples = json.loads(outputs[1].read_text())["links"]["examples"]
    assert [example["page"] for example in examples] == ["P|1", "P|1", "P|1", "P|2"]
    assert all(len(example["ours"]) <= 301 for example in examples)
    assert "| links | P\\|1 | \\[\\[L" in outputs[0].read_text()
    assert "500 of 500 links" in outputs[0].read_text()


READ = module.Reading.of
LINKS = " ".join(f"[[L{n}|{'x' * 1000}]]" for n in range(100))


def audit_differing_page(wikitext, *arguments):
    """Sees a hundred links, long ones, where the other parser sees none."""
    module.Reading.of = lambda wikitext, edition: READ("", edition)
    return audit_page(LINKS, *arguments)


def test_pages_that_cost_too_much_are_named_and_the_others_compared(tmp_path):
    """The one has so many links that mwparserfromhell's tree needs over a hundred megabytes."""
    costly = page(2, "Costly", "[[a]] ''b'' " * 60_000)
    folder = write(tmp_path / "dump", [page(1), costly, page(3)])
    outputs = tmp_path / "audit.md", tmp_path / "audit.json"
    options = Sampling(page_memory_mb=32)
    counts = audit_wikitext("w", CONFIG, folder, options, 1, *outputs)
    assert (counts["sampled"], counts["compared"]) == (3, 2)
    [lost] = json.loads(outputs[1].read_text())["not_compared"]
    # Compiled code that gets no memory may crash or raise something else instead.
    assert re.fullmatch(r"needed more than 32 MB|made the parser crash .*|\w+Error: .*", lost["reason"]), lost
    assert f"| Costly | {markdown_escape(lost['reason'])} |" in outputs[0].read_text()
    assert "1 page could not be compared" in outputs[0].read_text()


def test_the_command_audits_every_dump_of_a_configuration(tmp_path, capsys):
    write(tmp_path / "dump", PAGES)
    overlay = tmp_path / "mine.yaml"
    overlay.write_text(f"corpora: {{my-wiki: {{format: wikipedia-dump, path: {tmp_path / 'dump'}}}}}\n")
    command = ["--configfile", str(overlay), "--output", str(tmp_path / "audits"), "--pages", "3"]
    assert main(command) == 0
    assert json.loads((tmp_path / "audits/my-wiki.json").read_text())["sampled"] == 3
    assert (tmp_path / "audits/enwiki-excerpt.md").exists()
    output = capsys.readouterr().err
    assert "[my-wiki] NOTE: 3 pages compared; differences without an explanation: 0 of 3 headings" in output


def test_a_dump_without_articles(tmp_path):
    folder = write(tmp_path / "dump", [page(1, "Talk:X", namespace=1)])
    with pytest.raises(InputError, match="the dump has no article to look at"):
        audit_pages(CONFIG, folder, Sampling(), 1)


@pytest.mark.parametrize(
    ("wikitext", "kind", "name"),
    [
        ("== A<ref>b</ref> ==", "headings", "with a reference"),
        ("== {{lang|fr|A}} b ==", "headings", "a template that is shown in the heading"),
        ("[[de:A]] [[wikt:B]]", "links", "to another wiki or namespace"),
        ("{{nowrap|see [[A]]}}", "links", "inside a template that is shown"),
        ("{{flag|Madeira}}", "links", "made by a template that is shown"),
        ("[[A|b {{lang|fr|c}}]]", "links", "a template that is shown inside the anchor"),
    ],
)
def test_classes_of_difference(wikitext, kind, name):
    found = compare_readings(parse_article(wikitext, ENGLISH), Reading.of(wikitext, Edition.of(ENGLISH)))
    assert name in getattr(found, kind).classes
    assert getattr(found, kind).unexplained == []
