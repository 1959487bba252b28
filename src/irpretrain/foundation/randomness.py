"""Random streams that depend on the object of the draw, never on the process.

Every stream is named by (seed, stage, identifier), for example `(1, "rop", "squad-train/Beyonce/3")`. The name is
hashed to the 128-bit key of a Philox4x64-10 counter-based generator (Salmon et al., "Parallel random numbers: as easy
as 1, 2, 3", SC 2011). So any number of cores, shards or retries gives the same draws.
"""

import hashlib
from collections.abc import Iterable

import numpy as np


def stream_key(seed: int, stage: str, identifier: str = "") -> tuple[int, int]:
    """Return the Philox key, two 64-bit words, of the stream (seed, stage, identifier)."""
    name = f"{seed}\x1f{stage}\x1f{identifier}".encode()
    digest = hashlib.blake2b(name, digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def stream_keys(seed: int, stage: str, identifiers: Iterable[str]) -> np.ndarray:
    """Return the Philox keys, uint64 [identifiers, 2], of the streams of several identifiers."""
    keys = [stream_key(seed, stage, identifier) for identifier in identifiers]
    return np.array(keys, np.uint64).reshape(-1, 2)


def generator(seed: int, stage: str, identifier: str = "") -> np.random.Generator:
    """Return NumPy's generator over the stream (seed, stage, identifier), at its start."""
    return np.random.Generator(np.random.Philox(key=np.array(stream_key(seed, stage, identifier), np.uint64)))


def integer_seed(seed: int, stage: str, identifier: str = "") -> int:
    """Return a 63-bit integer for libraries that want a plain seed (torch)."""
    return stream_key(seed, stage, identifier)[0] >> 1
