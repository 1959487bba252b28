"""Which jobs a configuration needs: what each reads, asks for and is given, and where every file lies.

Pure functions of the configuration, without Snakemake. A rule names them, and gives them the wildcards of its jobs:

    rule pretrain:
        input:
            groups=plan.models.groups,        # the files of this model's ranking groups
        output:
            model=directory(paths.PRETRAINED),
        params:
            tasks=plan.settings("models.tasks"),   # a part of the configuration

`paths` has every file, `requests` what jobs ask a scheduler for, `Plan` the rest, by part.
"""

from irpretrain.plan.whole import Plan

__all__ = ["Plan"]
