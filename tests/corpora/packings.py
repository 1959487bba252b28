"""How the tests of readers pack files."""

import bz2
import gzip
import lzma

import pyarrow as pa


def zstandard(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)


PACKINGS = {
    "plain": bytes,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard,
}
