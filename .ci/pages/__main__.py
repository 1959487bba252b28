"""Write the generated pages of a folder: `python .ci/pages docs`; with `--check` only compare."""

import sys
from pathlib import Path

from configuration_pages import config_reference, config_schema
from contracts_page import contracts_page
from datasets_page import datasets_page
from generated_pages import write_or_check
from method_examples import method_pages
from results_page import results_page

from irpretrain.corpora.catalogue.read import read_catalogue

docs = Path(__file__).parents[2] / "docs"
pages = {
    **config_reference(),
    "config.schema.json": config_schema(),
    "contracts.md": contracts_page(),
    "datasets.md": datasets_page(read_catalogue()),
    "results.md": results_page(docs),
    **method_pages(docs),
}
sys.exit(write_or_check(sys.argv[1:], pages))
