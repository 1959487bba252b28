"""Makes a call, killed by SIGKILL after each of its renames in turn, and then the same call again, which must succeed.

`python kills_at_renames.py CALL ENCODER FOLDER` prints how many renames there are. Everything is imported once, and
each call is made in a fork.
"""

import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from irpretrain import Collection, finetune, own_groups, pretrain
from irpretrain.command import main as irpretrain
from irpretrain.training import finetune as _finetune  # noqa: F401, imported before the forks
from irpretrain.training import pretrain as _pretrain  # noqa: F401

BODIES = {"d0": "word01 word02 word03 ab cd", "d1": "word01 ef gh", "d2": "word05 word06 word07 word01"}
PAIRS = [("word01", "word02 word03"), ("word05", "word06"), ("word07", "word08 ab")]
LENGTHS = {"max_length": 32, "query_length": 8}


def pretrained(encoder: str, steps: int = 3) -> None:
    groups = Collection(BODIES, encoder=encoder).groups("rop", minimum_count=1)
    compute = {"device": "cpu", "checkpoint_minutes": 0}
    pretrain(groups, "out", steps=steps, batch_groups=2, snapshots=[steps], compute=compute, **LENGTHS)


def finetuned(encoder: str) -> None:
    compute = {"device": "cpu", "checkpoint_minutes": 0}
    finetune(own_groups(PAIRS, encoder=encoder), "out", epochs=2, compute=compute, **LENGTHS)


def command(*arguments: str) -> None:
    Path("documents.jsonl").write_text(
        "".join(f"{json.dumps({'id': name, 'body': text})}\n" for name, text in BODIES.items())
    )
    Path("topics.tsv").write_text("q0\tword01 word02\n")
    assert irpretrain([arguments[0], *arguments[1:], "out"]) == 0


CALLS: dict[str, Callable[[str], None]] = {
    "pretrain": pretrained,
    "pretrain over an earlier model": pretrained,
    "finetune": finetuned,
    "search": lambda encoder: command("search", "documents.jsonl", "topics.tsv"),
    "groups": lambda encoder: command("groups", "rop", "documents.jsonl", "--set", "minimum_count=1"),
}

# What lies at the output before.
EARLIER: dict[str, Callable[[str], None]] = {
    "pretrain over an earlier model": lambda encoder: pretrained(encoder, steps=1)
}


def die_after(renames: int) -> None:
    """Let this process be killed after so many renames."""
    left = [renames]

    def counting(rename: Callable[..., None]) -> Callable[..., None]:
        def renamed(*arguments: object, **others: object) -> None:
            rename(*arguments, **others)
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        return renamed

    os.replace, os.rename = counting(os.replace), counting(os.rename)  # type: ignore[assignment]


def in_a_fork(call: Callable[[str], None], encoder: str, folder: Path, renames: int = 0) -> int:
    """Return the exit status of a call with `folder` as its working directory; negative if it was killed."""
    folder.mkdir(exist_ok=True)
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            die_after(renames)
            call(encoder)
            os._exit(0)
        except BaseException as error:
            print(f"after {renames} renames: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def content(folder: Path) -> dict[str, str]:
    """Return the digest of each file; nothing of files with times in them but that they are there."""
    timed = (".meta.json", ".metrics.jsonl")
    return {
        str(path.relative_to(folder)): ""
        if path.name.endswith(timed)
        else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def main(name: str, encoder: str, folder: Path) -> None:
    call = CALLS[name]
    assert in_a_fork(call, encoder, folder / "whole") == 0
    whole, renames = content(folder / "whole"), 0
    while True:
        killed = folder / str(renames + 1)
        if name in EARLIER:
            assert in_a_fork(EARLIER[name], encoder, killed) == 0
        if in_a_fork(call, encoder, killed, renames + 1) != -signal.SIGKILL:
            break
        renames += 1
        assert in_a_fork(call, encoder, killed) == 0, f"the call again, killed after {renames} renames"
        assert content(killed) == whole, f"what it left, killed after {renames} renames"
    print(renames)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
