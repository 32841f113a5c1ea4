#!/usr/bin/env python3
"""Measures the prose of the documents: relative pronouns a sentence, and words that an engineer of
Kubernetes, Prometheus or Asio would not use. Code, tables and headings do not count.

usage: check_prose.py PROJECT_DIRECTORY
"""
import pathlib
import re
import sys

MAX_PRONOUNS = 0.2  # a sentence, over all documents
PRONOUN = re.compile(r"\b(who|whom|whose|which|that|what|whoever|whatever)\b", re.IGNORECASE)
# The terms in their place: layer, "without limit", reported, "without progress", selection,
# subscription, idle timeout.
REFUSED = re.compile(r"\b(nobody|for ever|(?:is|are|was|were) told|storeys?|barren|audiences?|"
                     r"seats?|patience)\b", re.IGNORECASE)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*(])")


def sentences(text):
    for paragraph in re.split(r"\n\s*\n", FENCE.sub("", text)):
        if not paragraph.lstrip().startswith(("|", "#", "<", "![")):
            for sentence in SENTENCE_END.split(re.sub(r"`[^`]*`", "X", paragraph)):
                if len(sentence.split()) >= 4:
                    yield " ".join(sentence.split())


def documents(root):
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")])


def problems_of(texts):
    """Of the texts by name."""
    count = pronouns = 0
    for name, text in texts.items():
        for sentence in sentences(text):
            count += 1
            pronouns += len(PRONOUN.findall(sentence))
            for word in REFUSED.findall(sentence):
                yield f"{name}: '{word}' in: {sentence}"
    if pronouns > MAX_PRONOUNS * count:
        yield f"{pronouns / count:.2f} relative pronouns a sentence, more than {MAX_PRONOUNS}"


def main(project):
    root = pathlib.Path(project)
    texts = {str(path): path.read_text(encoding="utf-8") for path in documents(root)}
    problems = list(problems_of(texts))
    print(*problems, f"{len(texts)} documents, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
