"""Which jobs a configuration needs: inputs, parameters, resources, and the path of every file.

Pure functions of the configuration, without Snakemake. A rule names them, and passes the wildcards of its jobs:

    rule pretrain:
        input:
            groups=plan.models.groups,        # the files of this model's ranking groups
        output:
            model=directory(paths.PRETRAINED),
        params:
            tasks=plan.settings("models.tasks"),   # a part of the configuration

`paths` has every file, `part` the resources of jobs, `whole.Plan` the rest, by part.
"""
