"""Compare how a sample of a dump's articles is parsed with what mwparserfromhell finds in them."""

from irpretrain.config.audit import WikitextAuditConfig
from irpretrain.config.corpora import CorpusConfig
from irpretrain.stage import stage
from irpretrain.wikipedia.audit import audit_wikitext

with stage(snakemake) as done:
    done(
        audit_wikitext(
            snakemake.wildcards.corpus,
            CorpusConfig(**snakemake.params.corpus),
            snakemake.params.source,
            WikitextAuditConfig(**snakemake.params.options),
            snakemake.params.seed,
            snakemake.output.table,
            snakemake.output.record,
        )
    )
