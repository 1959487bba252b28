"""Inputs: embedded assets and the user's own files."""

ASSET_DIRECTORIES = [name for name, asset in MANIFEST.assets.items() if asset.directory]
ASSET_FILES = [name for name in MANIFEST.assets if name not in ASSET_DIRECTORIES]


def expected_asset(wildcards):
    """What the manifest demands of the files, so that they are verified and copied again when that changes."""
    return MANIFEST.assets[wildcards.asset].model_dump(include={"package", "version", "directory", "files"})


def is_embedded(path):
    return resolve(path)[0] == "embedded"


def source(path):
    """Where a path of the configuration lies: the verified copy of an embedded asset, or the user's own file or folder."""
    return f"results/inputs/{resolve(path)[1]}" if is_embedded(path) else path


def encoder_inputs(wildcards):
    """The encoder's files, so that a changed one reruns what is made of it."""
    return source(CFG.encoder.path) if is_embedded(CFG.encoder.path) else encoder_files(CFG)


def encoder_directory(wildcards):
    """A function, because Snakemake would look for wildcards in a path that stood in the rule itself."""
    return source(CFG.encoder.path)
