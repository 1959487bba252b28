"""What Snakemake says before a run can start, as one message for the user."""

import re
from collections.abc import Sequence
from pathlib import Path

SNAKEFILE = re.compile(r'^\w+ in file "(?P<file>[^"]*)", line \d+:\n')
HEADER = re.compile(r'^\w+(?: in rule \w+)?(?: in file "[^"]*", line \d+)?:\n')
TRACEBACK = re.compile(r'\n(?:Traceback:\n)?  File "[^"]*", line \d+, in .*\Z', re.DOTALL)
NO_RULE = re.compile(r"No rule to produce (?P<file>.*) \(if you use input functions")
NOT_NAMED = re.compile(
    r"in rule (?P<rule>\w+) in file .*?\nError:\n  KeyError: '?(?P<name>.*?)'?\n"
    r"Wildcards:\n(?P<wildcards>(?:  \w+=[^\n]*\n?)*)",
    re.DOTALL,
)
OURS = re.compile(
    r"^InputFunctionException in .*?\nError:\n  (?:Config|Input|Integrity|Setup)Error: (?P<message>.*?)\nWildcards:\n",
    re.DOTALL,
)
MISSING_INPUT = re.compile(
    r"Missing input files for rule (?P<rule>\w+):.*?affected files:\n(?P<files>(?: {8}.*\n?)+)", re.DOTALL
)
LOCKED = re.compile(r"Directory cannot be locked.*\n(?P<folder>/.*)")
NO_CONFIGURATION = re.compile(r"FileNotFoundError: .*?: '(?P<file>.*)'\s*\Z")
NOT_READ = re.compile(
    r"in load_configfile\n|Config file (?:is not valid|must be given as) JSON|Config entries have to be"
)
"""What Snakemake says of a word after --configfile or --config that is none."""
TARGETS_FIRST = (
    "  --configfile and --config take all words up to the next option: targets stand before them, as in\n"
    "  `snakemake deepct --configfile FILE`."
)


def refusal(text: str, arguments: Sequence[str] = ()) -> str:
    """Return the message inside what Snakemake logs of an exception: without class, place and traceback.

    Args:
        arguments: Snakemake's, which name the overlays; Snakemake says neither file nor line of a fault in one.
    """
    if match := NO_RULE.search(text):
        return (
            f"{match['file']}: no rule of this configuration makes such a file, and there is no target of this name.\n"
            "  `snakemake --list-target-rules` lists the targets; results/README.md says which files a run makes."
        )
    if match := OURS.search(text):
        return match["message"]
    if match := MISSING_INPUT.search(text):
        files = [line.strip() for line in match["files"].splitlines() if line.strip()]
        others = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
        return (
            f"{files[0]}{others}: there is no such file, and no rule of this configuration makes it.\n"
            f"  Rule {match['rule']} needs it."
        )
    if match := LOCKED.search(text):
        return (
            f"{match['folder']}: another run works in this folder, or one was killed.\n"
            "  If none is alive, take it over: `make resume`, with the ARGS and the PROFILE of the killed run."
        )
    if match := NOT_NAMED.search(text):
        wildcards = ", ".join(match["wildcards"].split())
        return (
            f"the configuration does not name {match['name']!r}, so {match['rule']} makes no file for {wildcards}.\n"
            "  Mend the name of the file, or add what it names to the configuration."
        )
    if text.startswith("Traceback"):
        said = text.strip().splitlines()[-1]
    else:
        said = TRACEBACK.sub("", HEADER.sub("", text)).strip()
    if not NOT_READ.search(text):
        return said
    if fault := _fault_of_configuration(text, arguments):
        return fault
    if match := NO_CONFIGURATION.search(text):
        said = f"{match['file']}: there is no such configuration file."
    return f"{said}\n{TARGETS_FIRST}"


def _fault_of_configuration(text: str, arguments: Sequence[str]) -> str:
    """Return what is wrong with the overlays, or with the default beside the Snakefile; nothing if they are sound."""
    from irpretrain.config.arguments import check_configuration_files, configuration_files
    from irpretrain.errors import ConfigError

    match = SNAKEFILE.search(text)
    default = [str(Path(match["file"]).with_name("config.yaml"))] if match else []
    try:
        check_configuration_files([*configuration_files(arguments), *default])
    except ConfigError as error:
        return str(error)
    return ""
