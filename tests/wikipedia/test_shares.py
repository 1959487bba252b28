"""One dump in several shards and several containers: the same documents and redirects, each fault reported once."""

import json
import re
from collections import Counter
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_dumps import CONTAINERS, END, HEAD, articles, dump, multistream, page, write_tables

from irpretrain.corpora.collection import check_collection
from irpretrain.corpora.formats.wikipedia_dump import WikipediaDumpDocumentOptions, read
from irpretrain.foundation import pieces
from irpretrain.foundation.contracts import DOCUMENTS, REDIRECTS
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.provenance import sidecar_path
from irpretrain.foundation.records import Document, Malformed, Share
from irpretrain.wikipedia.guarded_parser import GuardedParser
from irpretrain.wikipedia.pages import read_pages

PAGES = list(articles(300))


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 5000)
    monkeypatch.setattr(pieces, "READ_BYTES", 1000)


NAMED = WikipediaDumpDocumentOptions(wiki="testwiki")


def tables(source, folder, shards, malformed=0):
    """Write all shards; return the rows of documents and redirects in corpus order, and the sums of the counts."""
    documents, redirects, counts = write_tables(source, folder, shards, malformed)
    rows = []
    for contract, paths in ((DOCUMENTS, documents), (REDIRECTS, redirects)):
        shares = [contract.read(path).to_pylist() for path in paths]
        assert all(share == sorted(share, key=position_of) for share in shares)
        rows.append(sorted(chain(*shares), key=position_of))
        assert len(set(map(position_of, rows[-1]))) == len(rows[-1])
    return rows, total(counts)


def position_of(row):
    return row["part"], row["position"]


def total(counts):
    sums = Counter()
    for shard in counts:
        sums.update({name: shard[name] for name in ("read", "written", "redirects")})
        sums.update(shard["skipped"])
        sums.update(shard["malformed"])
    return sums


@pytest.mark.parametrize("container", [*CONTAINERS, "multistream"])
def test_the_number_of_shards_changes_no_byte(tmp_path, container, no_worker):
    pack = CONTAINERS.get(container, lambda _: multistream(PAGES)[0])
    (tmp_path / "dump").write_bytes(pack(dump(*PAGES)))
    whole, counts = tables(tmp_path / "dump", tmp_path / "1", 1)
    assert (counts["read"], counts["written"], counts["redirects"]) == (360, 300, 60)
    for shards in (2, 3, 7):
        assert tables(tmp_path / "dump", tmp_path / str(shards), shards) == (whole, counts)
    if container == "plain":
        sizes = [DOCUMENTS.count(tmp_path / "7" / f"documents-{n}.parquet") for n in range(7)]
        assert max(sizes) < 2 * 300 / 7


def test_what_is_equal_in_all_containers(tmp_path, no_worker):
    """Every byte without blocks; with bzip2's, everything but the positions."""
    rows = {}
    for name, pack in {**CONTAINERS, "multistream": lambda _: multistream(PAGES)[0]}.items():
        (tmp_path / f"{name}.dump").write_bytes(pack(dump(*PAGES)))
        rows[name], _ = tables(tmp_path / f"{name}.dump", tmp_path / name, 2)
    assert rows["gzip"] == rows["xz"] == rows["zstd"] == rows["plain"]
    for tables_of_container in rows.values():
        for row in chain(*tables_of_container):
            row["position"] = None
    assert all(found == rows["plain"] for found in rows.values())


def test_a_dump_in_many_parts(tmp_path, no_worker):
    """As Wikimedia names them; each has its own head and end, and an index of no concern."""
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(5):
        content, index = multistream(PAGES[60 * number : 60 * number + 60])
        pages = f"p{number * 60 + 1}p{number * 60 + 60}"
        (parts / f"testwiki-pages-articles-multistream{number}.xml-{pages}.bz2").write_bytes(content)
        (parts / f"testwiki-pages-articles-multistream-index{number}.txt-{pages}.bz2").write_bytes(index)
    whole, counts = tables(parts, tmp_path / "1", 1)
    assert counts["read"] == 300
    for shards in (2, 7):
        assert tables(parts, tmp_path / str(shards), shards) == (whole, counts)
    assert {row["part"] for row in DOCUMENTS.read(tmp_path / "1/documents-0.parquet").to_pylist()} == set(
        range(5)
    )


@pytest.mark.parametrize("container", [*CONTAINERS, "multistream"])
def test_truncated_at_many_bytes(tmp_path, container, no_worker):
    """Pages before the break are read, it is reported with file and place, whatever the shards."""
    pages = PAGES[:60]
    pack = CONTAINERS.get(container, lambda _: multistream(pages)[0])
    packed = pack(dump(*pages))
    (tmp_path / "dump").write_bytes(packed)
    sound = [f for f in read(tmp_path / "dump", NAMED) if not isinstance(f, Malformed)]
    most = 0
    for number, length in enumerate(range(12, len(packed) - len(END), len(packed) // 40)):
        (tmp_path / "dump").write_bytes(packed[:length])
        found = list(read(tmp_path / "dump", NAMED))
        faults = [f for f in found if isinstance(f, Malformed)]
        whole = [f for f in found if not isinstance(f, Malformed)]
        assert whole == sound[: len(whole)]
        assert faults, length
        assert all(re.search(r"byte [\d,]+", fault.location) for fault in faults)
        most = max(most, len(whole))
        if number % 5 == 0:
            shares = [f for n in range(3) for f in read(tmp_path / "dump", NAMED, Share(n, 3))]
            assert Counter(map(repr, shares)) == Counter(map(repr, found))
    # A block, or what is decompressed at a time, is lost with its end: here that may be the whole dump.
    assert most >= {"gzip": 20, "bzip2": 0, "zstd": 0}.get(container, 30)


def test_a_truncated_dump_stops_the_run_or_is_used_as_far_as_it_goes(tmp_path, no_worker):
    (tmp_path / "dump").write_bytes(multistream(PAGES)[0][:-300])
    with pytest.raises(
        InputError, match=r"dump: damaged archive: the bzip2 block at byte [\d,]+ cannot be"
    ) as refused:
        tables(tmp_path / "dump", tmp_path / "refused", 1)
    assert "malformed: skip" in str(refused.value)
    assert not list((tmp_path / "refused").iterdir())
    _, counts = tables(tmp_path / "dump", tmp_path / "skipped", 2, malformed=1)
    assert counts["damaged archive"] == 1
    assert counts["written"] >= 280


@given(st.data())
def test_damage_anywhere_is_the_same_for_all_shards(tmp_path, no_worker, data):
    container = data.draw(st.sampled_from([*CONTAINERS, "multistream"]))
    pages = PAGES[:80]
    packed = bytearray(
        multistream(pages)[0] if container == "multistream" else CONTAINERS[container](dump(*pages))
    )
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(300, len(packed) - 1))
        packed[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    (tmp_path / "dump").write_bytes(packed)
    whole = list(read(tmp_path / "dump", NAMED))
    for shards in (2, 5):
        shares = [f for n in range(shards) for f in read(tmp_path / "dump", NAMED, Share(n, shards))]
        assert Counter(map(repr, shares)) == Counter(map(repr, whole))
    documents = [f for f in whole if isinstance(f, Document)]
    assert len({f.position for f in documents}) == len(documents)


def test_a_damaged_block_costs_the_pages_of_its_stream_alone(tmp_path, no_worker):
    content, _ = multistream(PAGES)
    damaged = bytearray(content)
    damaged[len(content) // 2] ^= 0xFF
    (tmp_path / "dump").write_bytes(damaged)
    found = list(read(tmp_path / "dump", WikipediaDumpDocumentOptions()))
    (fault,) = [f for f in found if isinstance(f, Malformed)]
    assert fault.reason == "damaged archive"
    assert len(found) == 360 - 10 + 1


def test_a_hole_in_the_middle_is_reported_with_both_its_ends(tmp_path, no_worker):
    """As a download leaves it that was never finished: zeros."""
    content = bytearray(multistream(PAGES)[0])
    first, end = len(content) // 3, len(content) // 2
    content[first:end] = bytes(end - first)
    (tmp_path / "dump").write_bytes(content)
    found = list(read(tmp_path / "dump", WikipediaDumpDocumentOptions()))
    (fault,) = [f for f in found if isinstance(f, Malformed) and f.reason == "damaged archive"]
    begin, stop = (int(n.replace(",", "")) for n in re.findall(r"byte ([\d,]+)", fault.detail))
    assert begin <= first < end <= stop
    assert len(found) > 200


def test_each_shard_reads_its_share_of_a_multistream_dump_only(tmp_path):
    (tmp_path / "dump").write_bytes(multistream(PAGES)[0])
    for number in range(6):
        blocks = []
        read_blocks = pieces.read_pieces(tmp_path / "dump", Share(number, 6))
        assert list(read_pages((blocks.append(block) or block for block in read_blocks), 10_000))
        assert len(blocks) <= 38 / 6 + 4  # and two at the beginning, two at the end


def test_only_own_pages_are_parsed(tmp_path, monkeypatch):
    (tmp_path / "dump").write_bytes(dump(*PAGES))
    parsed = []

    def parse(self, items):
        parsed.extend(item.page.page_id for item, text in items if text is not None)
        return iter(())

    monkeypatch.setattr(GuardedParser, "parse", parse)
    for number in range(4):
        list(read(tmp_path / "dump", WikipediaDumpDocumentOptions(), Share(number, 4)))
    assert parsed == [str(n) for n in range(1, 301)]


def test_more_shards_than_pieces(tmp_path, no_worker):
    (tmp_path / "dump").write_bytes(dump(page(1), page(2)))
    whole, counts = tables(tmp_path / "dump", tmp_path / "1", 1)
    assert tables(tmp_path / "dump", tmp_path / "40", 40) == (whole, counts)
    (tmp_path / "dump").write_bytes((HEAD + END).encode())
    assert tables(tmp_path / "dump", tmp_path / "none", 3)[1]["read"] == 0


def test_a_page_that_occurs_twice_is_refused_with_its_positions_and_can_be_left_out(tmp_path, no_worker):
    pages = [*PAGES[:40], *PAGES[:1], *PAGES[40:80]]
    (tmp_path / "wiki.xml").write_bytes(dump(*pages))
    config = {"format": "wikipedia-dump", "path": "x", "shards": 3}

    def written(**options):
        outputs, _, _ = write_tables(tmp_path / "wiki.xml", tmp_path, 3, **options)
        for path in outputs:
            described = {"parameters": {"corpus": config}, "inputs": {str(tmp_path / "wiki.xml"): ""}}
            sidecar_path(path).write_text(json.dumps(described))
        return outputs

    with pytest.raises(InputError, match="document id 'testwiki/1' occurs 2 times") as refused:
        check_collection(written())
    first, second = re.findall(r"\(the option leave_out takes it as wiki\.xml:(\d+)\)", str(refused.value))
    assert check_collection(written(leave_out=[f"wiki.xml:{second}"]))["documents"] == 67
    assert int(first) == len(HEAD)
