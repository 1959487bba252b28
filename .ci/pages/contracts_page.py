"""docs/contracts.md, from the contracts of the tables."""

from dataclasses import replace

import pyarrow as pa
from generated_pages import literal

from irpretrain.foundation.contracts import CONTRACTS
from irpretrain.foundation.tables import BYTES_PER_GROUP, ROWS_PER_GROUP, Contract, ContractColumn

HEADER = f"""# Tables between stages

The columns of every table. Generated from `irpretrain.foundation.contracts` by `make docs`; do not edit. A table is a
Parquet file (`scores`, `claims`: CSV). It is checked when it is written and when it is read, and no value is null. A
row group ends after {ROWS_PER_GROUP:,} rows or {BYTES_PER_GROUP >> 20} MiB of values, so equal rows give equal bytes.
[What lands where](../results/README.md) has the places of files; a file has the types of its columns. A column reads:
`name` (list of fields, unit): meaning.
"""


def contracts_page() -> str:
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
    facts = ", ".join(filter(None, (_fields(column.type), column.unit)))
    return f"- `{column.name}`{f' ({facts})' if facts else ''}: {literal(column.meaning)}\n"


def _fields(kind: pa.DataType) -> str:
    """What a file's types do not show at a glance: "list", "list of `start`, `end`"; empty for one value."""
    if not pa.types.is_list(kind):
        return ""
    fields = kind.value_type if pa.types.is_struct(kind.value_type) else ()
    return "list" + (f" of {', '.join(f'`{field.name}`' for field in fields)}" if fields else "")
