"""Names that a user gives for a wiki: checked with the configuration, used from the dump to trees and graph."""

import bz2

import pytest
from synthetic_dumps import write_tables
from synthetic_wiki import graph_of

from base_config import base_config
from irpretrain.config import parse_config
from irpretrain.config.corpora import CorpusConfig
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError
from irpretrain.wikipedia.article import build_tree, read_sections
from irpretrain.wikipedia.graph import Graph

# A wiki of a language that nobody speaks.
DUMP = """<mediawiki><siteinfo><dbname>qaawiki</dbname><base>https://qaa.example/wiki/Open</base><namespaces>
<namespace key="0"/><namespace key="6">Sitelen</namespace><namespace key="10">Ilo</namespace></namespaces></siteinfo>
<page><title>Ma</title><ns>0</ns><id>1</id><revision><text>
Li [[kasi]]ŝo {{nena|x|lon}} [[jan:Tu|jan]] [[Sitelen:a.png|b]]
[[Lukin:c|d]][[laso:e|ni]].
== Suli ==
Mute [[suno]].
== TOKI_sama: ==
* [[Kasi]]
=== Ante ===
* [[telo]]
== Lipu pona ==
* [[suno]]
=== Suli ===
Ala.
</text></revision></page>
<page><title>Kasi</title><ns>0</ns><id>2</id><revision><text>{{Nimi mute}} Kasi.</text></revision></page>
<page><title>Suno</title><ns>0</ns><id>3</id><revision><text>Suno.</text></revision></page>
<page><title>Telo</title><ns>0</ns><id>4</id><revision><text>Telo. {{nimiko}}</text></revision></page>
</mediawiki>
"""
NAMES = {
    "see_also": ["Toki sama"],
    "boilerplate": ["lipu_pona"],
    "disambiguation": ["Nimi mute"],
    "file": ["Lukin"],
    "namespaces": ["Jan"],
    "wikis": ["laso"],
    "link_trail": "a-zŝ",
    "templates": {"Nena": "{2}"},
}


def read(folder, **options):
    """The documents of the dump, and their See Also edges, made in two shards."""
    folder.mkdir()
    (folder / "dump").write_bytes(bz2.compress(DUMP.encode()))
    documents, redirects, _ = write_tables(folder / "dump", folder, 2, **options)
    graph = Graph(graph_of([(documents, redirects)], folder))
    rows = [row for path in documents for row in DOCUMENTS.read(path).to_pylist()]
    return rows, {node: graph.see_also(node).tolist() for node in range(graph.size)}


def test_a_wiki_of_an_unknown_language(tmp_path):
    rows, see_also = read(tmp_path / "named", names=NAMES)
    [ma, kasi, _, telo] = rows
    assert ma["body"].startswith("Li kasiŝo lon jan ni.\nSuli\nMute suno.")
    anchors = [(link["target"], ma["body"][link["start"] : link["end"]]) for link in ma["links"]]
    assert anchors == [
        ("kasi", "kasiŝo"),
        ("suno", "suno"),
        ("Kasi", "Kasi"),
        ("telo", "telo"),
        ("suno", "suno"),
    ]
    assert [(part["heading"], part["role"]) for part in ma["sections"]] == [
        ("", ""),
        ("Suli", ""),
        ("TOKI_sama:", "see-also"),
        ("Ante", ""),
        ("Lipu pona", "boilerplate"),
        ("Suli", ""),
    ]
    assert (kasi["disambiguation"], telo["disambiguation"]) == (True, False)
    assert see_also == {0: [1, 3], 1: [], 2: [], 3: []}
    tree = build_tree("Ma", read_sections(ma["sections"], ma["body"]), drop_boilerplate=True)
    assert [node.title for node in tree.nodes] == ["Ma", "Suli"]


def test_without_the_names_it_is_read_by_those_of_english(tmp_path):
    rows, see_also = read(tmp_path / "plain")
    assert rows[0]["body"].startswith("Li kasiŝo jan dni.")
    assert {part["role"] for part in rows[0]["sections"]} == {""}
    assert not any(see_also.values())
    assert not rows[1]["disambiguation"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"see_alsoo": ["A"]}, "names.see_alsoo: unknown key; did you mean see_also?"),
        ({"see_also": "Toki"}, "names.see_also: should be a valid list; given was 'Toki'"),
        ({"see_also": [False]}, "names.see_also.0: should be a valid string; given was False"),
        ({"see_also": ["== Toki =="]}, "names.see_also: '== Toki ==' is not a heading; give only its text"),
        ({"boilerplate": [" :"]}, "names.boilerplate: ' :' is not a heading"),
        ({"see_also": ["A"], "boilerplate": ["a:"]}, "names: 'a' is in see_also and in boilerplate"),
        (
            {"file": ["Lukin:"]},
            "names.file: 'Lukin:' is not a name; give only the name, without brackets and colon",
        ),
        ({"disambiguation": ["{{Nimi}}"]}, "names.disambiguation: '{{Nimi}}' is not a name"),
        ({"disambiguation": ["*"]}, "names.disambiguation: '*' is not a name"),
        ({"link_trail": "[a-z]"}, "names.link_trail: '[a-z]' must be letters, and ranges such as a-z"),
        ({"link_trail": "z-a"}, "names.link_trail: 'z-a' must be letters"),
        ({"templates": {"a|b": "{1}"}}, "names.templates: 'a|b' is not a template name"),
        (
            {"templates": {"nena": "@nothing"}},
            "nena: the pattern '@nothing' is no function; there are @",
        ),
        ({"templates": {"nena": "{1} {"}}, "nena: the pattern '{1} {' has a brace that is not of a field"),
        ({"templates": {"nena": "{x*}"}}, "nena: the pattern '{x*}' has the field 'x*'; fields are {1}"),
        ({"templates": {"nena": "{1*} {2}"}}, "nena: the pattern '{1*} {2}' shows an argument twice"),
        ({"templates": {"nena": "{1} {a|1}"}}, "shows an argument twice"),
    ],
)
def test_wrong_names_are_refused_with_the_configuration(names, message):
    given = base_config()
    given["corpora"]["enwiki-excerpt"]["options"] = {"names": names}
    with pytest.raises(ConfigError) as caught:
        parse_config(given)
    assert message in str(caught.value)
    assert "corpora.enwiki-excerpt.options" in str(caught.value)


def test_names_survive_a_round_trip_of_the_configuration():
    corpus = CorpusConfig(format="wikipedia-dump", path="x", options={"names": NAMES})
    assert CorpusConfig(**corpus.model_dump(mode="json")) == corpus
    assert corpus.options["names"]["see_also"] == ["Toki sama"]
