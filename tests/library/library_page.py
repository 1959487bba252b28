"""The Python blocks of docs/library.md, and the models that they name."""

import json
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "library.md"


def blocks(language: str = "python") -> list[str]:
    """Return the page's blocks in their order; later ones use names of earlier ones."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def lay_models(folder: Path) -> None:
    """Write what the page calls models/encoder, models/deepct and models/predictor, tiny."""
    import numpy as np

    from irpretrain.axioms.predictor import CONFIG_FILE, TABLE_FILE, make_symmetric
    from irpretrain.axioms.preferences import VECTOR_COUNT
    from irpretrain.config.axioms import AXIOMS, AxiomsConfig
    from irpretrain.models.term_weight_regressor import TermWeightRegressor
    from tiny_models import write_encoder

    encoder = write_encoder(folder / "models/encoder")
    TermWeightRegressor.from_encoder(encoder).save(folder / "models/deepct")
    predictor = folder / "models/predictor"
    predictor.mkdir()
    np.save(predictor / TABLE_FILE, make_symmetric(np.linspace(0, 1, VECTOR_COUNT)))
    axioms = AxiomsConfig().model_dump(mode="json")
    record = {"predictor": {"axioms": list(AXIOMS)}, "order": list(AXIOMS), "axioms": axioms}
    (predictor / CONFIG_FILE).write_text(json.dumps(record))
