"""Every overlay in configs/ is valid where its own command lays it, with both presets."""

import pytest
from overlay_layers import load

from overlay_commands import OVERLAYS, layers

WITHOUT_EXPERIMENTS = ("my-wikipedia", "my-deepct-index", "other-language")

overlays = pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.stem)


@overlays
def test_its_first_lines_give_a_command_that_lays_it_on_top(overlay):
    assert layers(overlay)[-1:] == [overlay]


@overlays
@pytest.mark.parametrize("preset", ["paper", "released"])
def test_it_is_valid(overlay, preset, tmp_path):
    (tmp_path / "preset.yaml").write_text(f"preset: {preset}\n")
    config = load(overlay, tmp_path / "preset.yaml")
    assert config.experiments or overlay.stem in WITHOUT_EXPERIMENTS
    assert config.text.words == {"paper": "alphanumeric", "released": "letters"}[preset]
