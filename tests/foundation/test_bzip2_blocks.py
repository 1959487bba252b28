"""bzip2 blocks, found and decompressed from any place of a file."""

import bz2
import random

import pytest

from irpretrain.foundation import pieces
from irpretrain.foundation.pieces import Damage


def read_blocks(path, start=0):
    return list(pieces.read_blocks(path, range(start, path.stat().st_size)))


def texts(blocks):
    return [None if isinstance(block, Damage) else block.text for block in blocks]


def text_of(length, seed=1):
    return random.Random(seed).randbytes(length // 2).hex().encode()


@pytest.fixture(scope="module")
def text():
    return text_of(450_000)


def one_stream(text):
    return bz2.compress(text, 1)


def streams(text):
    return b"".join(bz2.compress(text[n : n + 120_000], 1 + n % 9) for n in range(0, len(text), 120_000))


@pytest.mark.parametrize("pack", [one_stream, streams])
def test_the_blocks_are_the_text(tmp_path, text, pack):
    (tmp_path / "a.bz2").write_bytes(pack(text))
    blocks = read_blocks(tmp_path / "a.bz2")
    assert len(blocks) >= 5
    assert b"".join(block.text for block in blocks) == text


@pytest.mark.parametrize("pack", [one_stream, streams])
def test_blocks_are_the_same_from_any_byte_and_in_any_window(tmp_path, text, pack, monkeypatch):
    packed = pack(text)
    (tmp_path / "a.bz2").write_bytes(packed)
    blocks = read_blocks(tmp_path / "a.bz2")
    borders = [block.offset // 8 + step for block in blocks for step in (-1, 0, 1)]
    for start in [0, 1, 4, len(packed) // 3, len(packed) - 1, len(packed), *borders]:
        assert read_blocks(tmp_path / "a.bz2", start) == [b for b in blocks if b.offset >= 8 * start]
    monkeypatch.setattr(pieces, "WINDOW", 1009)
    assert read_blocks(tmp_path / "a.bz2") == blocks
    short = _written(tmp_path, pack(text[:130_000]))
    blocks = read_blocks(short)
    for window in range(blocks[1].offset // 8 - 7, blocks[1].offset // 8 + 2):
        monkeypatch.setattr(pieces, "WINDOW", window)
        assert read_blocks(short) == blocks


@pytest.mark.parametrize("content", [b"", b"no bzip2", bz2.compress(b"")])
def test_files_without_blocks(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    assert read_blocks(tmp_path / "a") == []


def test_a_damaged_block_costs_no_other(tmp_path, text):
    packed = bytearray(one_stream(text))
    blocks = read_blocks(_written(tmp_path, packed))
    middle = (blocks[2].offset + blocks[3].offset) // 16
    packed[middle] ^= 1
    found = read_blocks(_written(tmp_path, packed))
    assert texts(found) == [None if number == 2 else block.text for number, block in enumerate(blocks)]
    assert found[2].reason.endswith(f"up to byte {blocks[3].offset // 8:,}")


def test_a_truncated_file_has_its_whole_blocks(tmp_path, text):
    packed = one_stream(text)
    blocks = read_blocks(_written(tmp_path, packed))
    for length in range(20, len(packed), len(packed) // 29):
        found = read_blocks(_written(tmp_path, packed[:length]))
        whole = [text for text in texts(found) if text is not None]
        assert whole == [block.text for block in blocks[: len(whole)]]
        assert len(found) - len(whole) <= 1


def test_marks_made_by_chance_inside_a_block_are_passed_over(tmp_path):
    """A block says by a bit each which bytes its text has: here those bits are both marks."""
    bits = f"{0x314159265359177245385090:096b}"
    alphabet = [byte for byte in range(96) if bits[byte] == "1"]
    text = b"".join(bytes(random.Random(n).sample(alphabet, len(alphabet))) for n in range(6000))
    packed = one_stream(text)
    assert f"{int.from_bytes(packed):b}".count(bits) == 3
    assert b"".join(texts(read_blocks(_written(tmp_path, packed)))) == text


def _written(tmp_path, content):
    path = tmp_path / "b.bz2"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("between", [b"", bytes(3), b"\n", b"garbage"])
def test_a_stream_whose_first_mark_is_damaged_is_not_passed_over(tmp_path, between):
    """No other block tells that it is lost, as streams of a multistream dump hold whole pages."""
    streams = [bz2.compress(text) for text in (b"one", b"two", b"three")]
    path = tmp_path / "f"
    path.write_bytes(between.join(streams))
    sound = not between.strip(b"\0")
    found = texts(read_blocks(path))
    assert [text for text in found if text] == [b"one", b"two", b"three"]
    assert (None not in found) == sound
    damaged_mark = streams[1][:4] + bytes([streams[1][4] ^ 1]) + streams[1][5:]
    path.write_bytes(between.join([streams[0], damaged_mark, streams[2]]))
    first, lost, *others = texts(read_blocks(path))
    assert (first, lost, b"three" in others) == (b"one", None, True)
    path.write_bytes(between.join([*streams[:2], damaged_mark]))
    assert texts(read_blocks(path))[-1] is None
