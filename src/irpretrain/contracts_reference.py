"""Write docs/contracts.md from the contracts, so that it cannot drift.

`python -m irpretrain.contracts_reference docs` writes; with `--check` it only compares and fails on a difference.
"""

from __future__ import annotations

import sys

import pyarrow as pa

from irpretrain.contracts import BYTES_PER_GROUP, CONTRACTS, ROWS_PER_GROUP, Column, Contract
from irpretrain.generated_pages import write_or_check

HEADER = f"""# Tables between stages

Generated from `irpretrain.contracts` by `make docs`; do not edit. Each table is a Parquet file, checked when it is
written and when it is read; no value is null. A row group ends
after {ROWS_PER_GROUP:,} rows or {BYTES_PER_GROUP >> 20} MiB of values, so equal rows give equal bytes.
[Architecture](architecture.md) says which stage makes which table.
"""


def contracts_reference() -> str:
    """Return the page as Markdown."""
    return "\n".join([HEADER, *(_section(contract) for contract in CONTRACTS)])


def _section(contract: Contract) -> str:
    head = (
        f"## {contract.name}\n\n{contract.meaning}\n\n| column | type | unit | meaning |\n|---|---|---|---|\n"
    )
    return head + "".join(_row(column) for column in contract.columns)


def _row(column: Column) -> str:
    # A bar would end the cell, and few-shot-<n> would be taken for a tag of HTML.
    meaning = column.meaning.replace("|", "\\|").replace("<", "\\<")
    cells = (f"`{column.name}`", _type(column.type), column.unit, meaning)
    return f"| {' | '.join(cells)} |\n"


def _type(kind: pa.DataType) -> str:
    """An Arrow type in words: "list of int32", "record of `start`: int32, `end`: int32"."""
    if pa.types.is_list(kind):
        return f"list of {_type(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "record of " + ", ".join(f"`{field.name}`: {_type(field.type)}" for field in kind)
    return str(kind)


if __name__ == "__main__":
    sys.exit(write_or_check(sys.argv[1:], {"contracts.md": contracts_reference()}))
