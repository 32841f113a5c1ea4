"""Reads src/programs/k8s-sd/Containerfile."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "src/programs/k8s-sd/Containerfile"


def instructions():
    """Each instruction with its text, on one line."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines()
             if not line.lstrip().startswith("#")]
    text = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line]


def stages():
    """The instructions of each stage without FROM, and the base image of the stage."""
    found = []
    for name, text in instructions():
        if name == "FROM":
            found.append((text, []))
        else:
            found[-1][1].append((name, text))
    return found
