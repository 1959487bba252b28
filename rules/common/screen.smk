"""What a run shows on the screen; the display is Snakemake's logger plugin `irpretrain`, where it is asked for."""

from snakemake.logging import logger
from snakemake.settings.types import ExecMode

from snakemake_logger_plugin_irpretrain import ATTRIBUTE, has_display


def tell_the_display(**said):
    """Log a record without text, which only the display reads."""
    if workflow.exec_mode == ExecMode.DEFAULT:
        logger.info(None, extra={ATTRIBUTE: said})


def keep_jobs_off_the_screen(log):
    """Send what jobs print into a file beside Snakemake's own log, if there is a display."""
    if workflow.exec_mode != ExecMode.DEFAULT or not has_display(workflow.output_settings):
        return
    from irpretrain.screen.job_output import JobOutput

    # With --quiet Snakemake would not say which jobs are done; what is shown of that, the display decides.
    workflow.scheduler.print_progress = True
    printed = Path(".snakemake", "log", f"{Path(log[0]).stem if log else 'run'}.jobs.log")
    tell_the_display(output=JobOutput(printed), log=[*log, str(printed)])


def closing_text():
    """What a run ends with: the headline table and where the report lies, and what was left out."""
    from irpretrain.catalogue.table import datasets_text
    from irpretrain.report.headline import headlines
    from irpretrain.screen.display import as_user_stands

    if "datasets" in workflow.dag_settings.targets:
        reports = dict(zip(entries_present(None), entry_reports(None), strict=True))
        return "\n" + datasets_text(catalogue(), reports, data_folders(CFG.data_folder))
    left_out = told(MISSING, "Left out was what needs these files, which are not there:")
    made = headlines("results", STARTED, as_user_stands("results"))
    return "".join(f"\n{text}" for text in (made, left_out) if text)
