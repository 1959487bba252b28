"""The catalogue of data sets. It is read only by targets that need it."""

@cache
def catalogue():
    from irpretrain.catalogue.read import read_catalogue

    return read_catalogue()


def entry_folder(wildcards):
    return folder_of(catalogue()[wildcards.entry], CFG.data_folder)


def present(entry):
    """The files of an entry that are there, by their paths in the data folder."""
    folder = folder_of(catalogue()[entry], CFG.data_folder)
    return [path for path in catalogue()[entry].files if Path(folder, path).exists()]


def entry_options(wildcards):
    """What an entry says of its files and how to read them; nothing else that it says matters to their verification."""
    return dump(catalogue()[wildcards.entry])


def entry_files(wildcards):
    """Size and time of what is there, so that a changed file is verified anew."""
    from irpretrain.catalogue.states import fingerprint

    folder = entry_folder(wildcards)
    return {path: fingerprint(f"{folder}/{path}") for path in present(wildcards.entry)}


def entries_present(wildcards):
    """Entries of which anything is there; the others need no job to be missing."""
    return [entry for entry in catalogue() if present(entry)]


def entry_reports(wildcards):
    return [f"results/catalogue/{entry}.json" for entry in entries_present(wildcards)]


def sound_entries(sections):
    """What must be so before files that come from the catalogue are read."""
    entries = dict.fromkeys(section.entry for section in sections if section.entry)
    return [f"results/catalogue/{entry}.sound.json" for entry in entries]
