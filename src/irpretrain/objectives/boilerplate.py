"""The option by which objectives leave out sections that are no text about their article's subject."""

from typing import Annotated, Literal

from pydantic import Field

Boilerplate = Annotated[
    Literal["drop", "keep"],
    Field(
        description="Drop or keep See Also and boilerplate sections (references, links, "
        "notes) with their subsections."
    ),
]
