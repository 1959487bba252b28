"""Run Snakemake's lints; fail on any but the one that asks for a conda environment or container for each rule.

All rules share one environment, installed from requirements.lock by `make`: see docs/decisions.md, Workflow.
"""

import subprocess
import sys

PASSED_OVER = "* Specify a conda environment or container for each rule.:"

done = subprocess.run([sys.executable, "-m", "snakemake", "--lint"], capture_output=True, text=True)
places = (done.stdout + done.stderr).split("Lints for ")
faults = [
    place
    for place in places[1:]
    if any(line.strip() != PASSED_OVER for line in place.splitlines() if line.startswith("    * "))
]
if faults or (done.returncode and len(places) == 1):
    sys.exit("\n".join(faults) or done.stdout + done.stderr)
print(f"snakemake --lint: no fault in {len(places) - 1} rules that ask for an environment of their own")
