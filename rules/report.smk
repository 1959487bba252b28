"""Scores → tables, figures, and one HTML report."""


def table_names(paper):
    from irpretrain.report.published import table_ids

    return table_ids(RESOURCES / "published" / f"{paper}.yaml")


def tables(papers):
    names = [f"{paper}_{table}" for paper in papers for table in table_names(paper)]
    return expand("results/tables/{name}.{format}", name=[*names, "headline"], format=TABLE_FORMATS)


def figures(papers):
    names = [f"{paper}_{figure}" for paper in papers for figure in FIGURES[paper]]
    return expand("results/figures/{name}.{format}", name=names, format=["svg", "png"])
