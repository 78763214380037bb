# arguments.py -- what every Python script here does with its arguments before anything else, as
# options.sh does it for the others.
import os
import pathlib
import re
import sys


def two_arguments(wanted):
    """The script's two arguments. -h and --help print the comment at its head. wanted: what to give, and how."""
    path, *given = sys.argv
    if given in (["-h"], ["--help"]):
        head = re.match(r"#!.*\n((?:#.*\n)*)", pathlib.Path(path).read_text("utf-8"))[1]
        print(re.sub("(?m)^# ?", "", head), end="")
        sys.exit(0)
    unknown = [word for word in given if word.startswith("-")]
    if not unknown and len(given) == 2:
        return given
    what = f"unknown argument '{unknown[0]}': see --help" if unknown else wanted
    print(f"{os.path.basename(path)}: {what}", file=sys.stderr)
    sys.exit(2)
