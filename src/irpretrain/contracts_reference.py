"""Write docs/contracts.md from the contracts: `python -m irpretrain.contracts_reference docs`; `--check` compares."""

import sys
from dataclasses import replace

import pyarrow as pa

from irpretrain.contracts import BYTES_PER_GROUP, CONTRACTS, ROWS_PER_GROUP, Contract, ContractColumn
from irpretrain.generated_pages import literal, write_or_check

HEADER = f"""# Tables between stages

The columns of every table. Generated from `irpretrain.contracts` by `make docs`; do not edit. A table is a Parquet file
(`scores`, `claims`: CSV). It is checked when it is written and when it is read, and no value is null. A row group ends
after {ROWS_PER_GROUP:,} rows or {BYTES_PER_GROUP >> 20} MiB of values, so equal rows give equal bytes.
[What lands where](../results/README.md) has the places of files. A column reads: `name` (type, unit): meaning.
"""


def contracts_reference() -> str:
    locations: dict[ContractColumn, str] = {}
    return "\n".join([HEADER, *(_section(contract, locations) for contract in CONTRACTS)])


def _section(contract: Contract, locations: dict[ContractColumn, str]) -> str:
    """The columns of a table; one that an earlier table has is only named. `locations`: column → first table."""
    lines: list[str] = []
    above: dict[str, list[str]] = {}
    for column in contract.columns:
        location = locations.setdefault(replace(column, default=None), contract.name)
        if location == contract.name:
            lines.append(_line(column))
        else:
            above.setdefault(location, []).append(f"`{column.name}`")
    if above:
        tables = (f"[{location}](#{location}): {', '.join(names)}" for location, names in above.items())
        lines.append(f"- As in {'; '.join(tables)}\n")
    return f"## {contract.name}\n\n{contract.meaning}\n\n{''.join(lines)}"


def _line(column: ContractColumn) -> str:
    kind = f"{_type(column.type)}, {column.unit}" if column.unit else _type(column.type)
    return f"- `{column.name}` ({kind}): {literal(column.meaning)}\n"


def _type(kind: pa.DataType) -> str:
    """An Arrow type in words: "list of int32", "record of `start`: int32, `end`: int32"."""
    if pa.types.is_list(kind):
        return f"list of {_type(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "record of " + ", ".join(f"`{field.name}`: {_type(field.type)}" for field in kind)
    return str(kind)


if __name__ == "__main__":
    sys.exit(write_or_check(sys.argv[1:], {"contracts.md": contracts_reference()}))
