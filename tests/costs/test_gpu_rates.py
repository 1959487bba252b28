"""The table of GPUs' peak rates, which estimates are made from."""

import yaml

from irpretrain.foundation.resources import gpu_rates, resources_directory


def test_every_rate_has_a_source_and_every_device_one_entry() -> None:
    entries = yaml.safe_load((resources_directory() / "gpu_rates.yaml").read_text(encoding="utf-8"))
    names = [name for entry in entries for name in entry["names"]]
    assert len(names) == len(set(names)) == len(gpu_rates())
    for entry in entries:
        assert set(entry) <= {"names", "bf16", "fp16", "fp32", "source"}
        assert entry["source"].startswith("NVIDIA ")
        assert 0 < entry["fp32"] < entry["fp16"]
        assert entry.get("bf16", entry["fp16"]) == entry["fp16"]
