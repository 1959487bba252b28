"""Draw the workflow's rule graph, as Snakemake itself sees it under this configuration."""

import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from irpretrain.errors import SetupError
from irpretrain.report.dag import write_dag
from irpretrain.stage import stage

with stage(snakemake) as done, tempfile.TemporaryDirectory() as folder:
    overlay = Path(folder, "config.yaml")
    overlay.write_text(yaml.safe_dump(snakemake.params.config))
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(Path(snakemake.scriptdir).parent / "Snakefile"),
        "--configfile",
        str(overlay),
        "--replace-workflow-config",  # laid over config.yaml once more, what `inherit` left out would come back
    ]
    graph = subprocess.run([*command, "--nolock", "--quiet", "--rulegraph"], capture_output=True, text=True)
    if graph.returncode:
        raise SetupError(f"snakemake --rulegraph failed:\n{graph.stderr[-2000:]}")
    rulegraph = Path(folder, "rulegraph.dot")
    rulegraph.write_text(graph.stdout)
    done(write_dag(rulegraph, snakemake.output.dag))
