#!/usr/bin/env python3
"""Checks that docs/guide/labels.md names exactly the labels of the roles, and that its lists equal
RoleTraits<role>::labels, label_origin() and the table of versions in the code. With --write writes
these lists into the page, between the comments there.

usage: check_labels.py [--write] PROJECT_DIRECTORY
"""
import pathlib
import re
import sys
import textwrap

PREFIX = "__meta_kubernetes_"
LITERAL = re.compile(r'"(__meta_kubernetes_[a-z0-9_]+)')
# In the code a family ends with "_"; the document adds a placeholder.
NAME = re.compile(r"__meta_kubernetes_[a-z0-9_]+")
KIND = re.compile(r'ROW\((\w+), "(\w+)"')
SOURCE = re.compile(r'\{"([a-z_]+)", Kind::(\w+),\s*"((?:[^"\\]|\\.)*)"\}')
OWNER = re.compile(r'\{"([a-z_]+)", Kind::(\w+)\}')
FAMILY = re.compile(r'\{"([a-z_]+)", "([a-zA-Z.]+)"\}')
TRAITS = re.compile(r"RoleTraits<Role::(\w+)> \{.*?LabelRow labels\[\] = \{(.*?)^    \};",
                    re.S | re.M)
# A text may consist of several literals.
TEXT = r'((?:"[^"\\]*"\s*)+)'
ROW = re.compile(r'\{"([a-z_<>]+)", (group|target), (both|prometheus|victoriametrics),\s*'
                 + TEXT + r",\s*" + TEXT + r"(?:,\s*PrometheusVersion::v(\w+))?\}")
DIALECT = {"prometheus": "Prometheus' dialect only", "victoriametrics": "vmagent's dialect only"}
# A rule of a version: its comment; and its row.
VERSION_RULE = re.compile(r"((?:^ *///.*\n)+)^ *bool (\w+);$", re.M)
VERSION_ROW = re.compile(r"\{&VersionRules::(\w+), PrometheusVersion::v(\w+)\}")
LIST = re.compile(r"^(<!-- ([a-z ]+), written by scripts/labels -->\n)(.*?)^(<!-- end -->)$", re.S | re.M)


def read(root, path):
    return (root / path).read_text(encoding="utf-8")


def joined(literals):
    return "".join(re.findall(r'"([^"]*)"', literals))


def wrapped(text):
    return textwrap.fill(text, 100, subsequent_indent="  ", break_long_words=False,
                         break_on_hyphens=False) + "\n"


def names_of(row_name):
    """Including the companion label that marks the presence of such a key."""
    names = [row_name]
    for family in ("label_<key>", "annotation_<key>"):
        if row_name.endswith("_" + family):
            names.append(row_name.replace(family, family.replace("_", "present_")))
    return [PREFIX + name for name in names]


def entry(name, dialects, says, absent, since):
    sentences = [says + "."] if says else []
    if dialects in DIALECT:
        version = f", since {since.replace('_', '.')}" if since else ""
        sentences.append(DIALECT[dialects] + version + ".")
    if absent:
        sentences.append(f"{'Absent' if sentences else 'absent'} {absent}.")
    names = ", ".join(f"`{name}`" for name in names_of(name))
    return wrapped("* " + names + (": " if sentences else "") + " ".join(sentences))


def lists_of_roles(root):
    lists = {}
    for header in sorted(root.glob("include/k8s_sd/detail/kinds/*.hpp")):
        for role, rows in TRAITS.findall(header.read_text(encoding="utf-8")):
            found = ROW.findall(rows)
            if len(found) != len(re.findall(r"^ {8}\{", rows, re.M)):
                raise ValueError(f"{header}: a row that is none")
            for name, place, dialects, says, absent, since in found:
                line = entry(name, dialects, joined(says), joined(absent), since)
                key = f"{role} {place}"
                lists[key] = lists.get(key, "") + line
    return lists


def origins_in_code(root):
    kinds = dict(KIND.findall(read(root, "include/k8s_sd/kind.hpp")))
    code = read(root, "include/k8s_sd/detail/labels/label_origin.ipp")
    origins = {PREFIX + name: (kinds[kind], field.replace('\\"', '"').replace("{}", "<key>"))
               for name, kind, field in SOURCE.findall(code)}
    for owner, kind in OWNER.findall(code):
        for family, field in FAMILY.findall(code):
            origins[PREFIX + owner + family] = (kinds[kind], field + '["<key>"]')
    return origins


def list_of_origins(origins):
    lines = []
    for name, (kind, field) in sorted(origins.items()):
        placeholder = "<type>" if name.endswith(("node_address_", "node_condition_")) else "<key>"
        head = f"* `{name}{placeholder if name.endswith('_') else ''}`:"
        line = f"{head} {kind} `{field}`\n"
        lines.append(line if len(line) <= 101 else f"{head}\n  {kind} `{field}`\n")
    return "".join(lines)


def table_of_versions(root):
    """The rules of versions as a table, in the order of their versions."""
    code = read(root, "include/k8s_sd/detail/base/dialect_rules.hpp")
    struct = code.partition("struct VersionRules {")[2].partition("};")[0]
    texts = {rule: " ".join(line.strip().removeprefix("///").strip()
                            for line in comment.strip().splitlines())
             for comment, rule in VERSION_RULE.findall(struct)}
    lines = "| since | difference |\n|---|---|\n"
    for rule, since in VERSION_ROW.findall(code):
        lines += f"| {since.replace('_', '.')} | {texts[rule]} |\n"
    return lines


def lists_in_code(root):
    return {**lists_of_roles(root), "origins": list_of_origins(origins_in_code(root)),
            "versions": table_of_versions(root)}


def complaints(root):
    made = set()
    for header in root.glob("include/k8s_sd/detail/kinds/**/*.[hi]pp"):
        made.update(LITERAL.findall(header.read_text(encoding="utf-8")))
    document = read(root, "docs/guide/labels.md")
    documented = set(NAME.findall(document))
    if not made:
        yield "found no label in the code"
    for name in sorted(made - documented):
        yield f"docs/guide/labels.md lacks {name}"
    for name in sorted(documented - made):
        yield f"docs/guide/labels.md names {name}, but no role makes it"
    # Each role's object has a namespace; this label has no entry.
    for name in sorted(made - {PREFIX + "namespace"} - set(origins_in_code(root))):
        yield f"label_origin.ipp lacks {name}"
    wanted = lists_in_code(root)
    written = {name: text for _, name, text, _ in LIST.findall(document)}
    for name in sorted(set(wanted) | set(written)):
        if wanted.get(name) != written.get(name):
            yield (f"the list '{name}' of docs/guide/labels.md is not what the code says: "
                   "scripts/labels")


def write(root):
    lists = lists_in_code(root)
    path = root / "docs/guide/labels.md"
    document = path.read_text(encoding="utf-8")
    path.write_text(LIST.sub(lambda m: m[1] + lists.get(m[2], "") + m[4], document),
                    encoding="utf-8")


def main(*arguments):
    root = pathlib.Path(arguments[-1])
    if arguments[0] == "--write":
        write(root)
    found = list(complaints(root))
    for complaint in found:
        print(complaint)
    print(f"{len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
