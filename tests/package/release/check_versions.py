#!/usr/bin/env python3
"""Checks that every place has the version of CMakeLists.txt, and that CHANGELOG.md has its form.

usage: check_versions.py PROJECT [--released]

--released  the CHANGELOG has no open section: the newest one has the version and a date
"""
import pathlib
import re
import sys

PROJECT = re.compile(r"project\(k8s_sd VERSION (\d+\.\d+\.\d+)")
# File, and the pattern of each version in it. A file of another part of the project may be absent.
VERSION = r"(\d+\.\d+\.\d+)"
PLACES = {
    "include/k8s_sd/version.hpp": rf'#define K8S_SD_VERSION "{VERSION}"',
    "debian/changelog": rf"\Ak8s-sd \({VERSION}-\d+\) ",
    "cmake/packaging/vcpkg/k8s-sd/vcpkg.json": rf'"version-semver": "{VERSION}"',
    "examples/helm/k8s-sd/Chart.yaml": rf'(?m)^(?:version|appVersion): "?{VERSION}"?$',
    "docs/guide/install.md": rf'(?m)^  version = "{VERSION}";$',
    "include/k8s_sd_c.h": rf'#define K8S_SD_C?_?VERSION "{VERSION}"',
    "bindings/python/pyproject.toml": rf'(?m)^version = "{VERSION}"',
    "bindings/python/k8s_sd/__init__.py": rf'__version__ = "{VERSION}"',
}
# Places with major and minor only.
SERIES = {
    "README.md": r"find_package\(k8s_sd (\d+\.\d+) ",
    "docs/guide/embedding.md": r"find_package\(k8s_sd (\d+\.\d+) ",
    "docs/guide/install.md": r"find_package\(k8s_sd (\d+\.\d+) ",
    "SECURITY.md": r"\| (\d+\.\d+)\.x \| yes \|",
    "debian/control": r"Package: libk8s-sd(\d+\.\d+)\n",
    "debian/rules": r"dh_makeshlibs -plibk8s-sd(\d+\.\d+) ",
}
OPTIONAL = ("include/k8s_sd_c.h", "bindings/python/pyproject.toml",
            "bindings/python/k8s_sd/__init__.py")
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
DATED = re.compile(r"(\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)")
LAST_HEADING = "Before this changelog"


def read(root, file):
    path = root / file
    return path.read_text(encoding="utf-8") if path.exists() else None


def version_of(root):
    return PROJECT.search(read(root, "CMakeLists.txt"))[1]


def other_versions(root, places, expected):
    for file, pattern in places.items():
        text = read(root, file)
        if text is None and file in OPTIONAL:
            continue
        found = re.findall(pattern, text or "")
        # A module may take the version from elsewhere.
        if not found and file not in OPTIONAL:
            yield f"{file}: no version; expected {expected}"
        for version in found:
            if version != expected:
                yield f"{file}: version {version}, but CMakeLists.txt has {expected}"


def c_library_problems(root):
    """Debian's package of the C library has the major version of its interface, as the SONAME."""
    header = read(root, "include/k8s_sd_c.h")
    if header is None:
        return
    major = str(int(re.search(r"#define K8S_SD_ABI_VERSION 0x(\w{4})\w{4}u", header)[1], 16))
    for file, pattern in (("debian/control", r"Package: libk8s-sd-c(\d+)\n"),
                          ("debian/libk8s-sd-c1.symbols", r"\Alibk8s_sd_c\.so\.(\d+) ")):
        found = re.findall(pattern, read(root, file) or "")
        if found != [major]:
            yield f"{file}: {found}, but K8S_SD_ABI_VERSION has the major version {major}"


def number(version):
    return tuple(map(int, version.split(".")))


def changelog_problems(text, version, released):
    headings = [heading for heading in HEADING.findall(text) if heading != LAST_HEADING]
    dated = [DATED.fullmatch(heading) for heading in headings if heading != "Unreleased"]
    if "Unreleased" in headings[1:]:
        yield "CHANGELOG.md: 'Unreleased' is not the first section"
    for heading in headings:
        if heading != "Unreleased" and not DATED.fullmatch(heading):
            yield f"CHANGELOG.md: '## {heading}' is not '## VERSION - YYYY-MM-DD'"
    if None in dated:
        return
    versions = [number(match[1]) for match in dated]
    if versions != sorted(set(versions), reverse=True):
        yield "CHANGELOG.md: the newest version is not first"
    open_section = headings[:1] == ["Unreleased"]
    newest = versions[0] if versions else None
    if released and (open_section or newest != number(version)):
        yield (f"CHANGELOG.md: the first section is not '## {version} - YYYY-MM-DD'; "
               "scripts/release prepare writes it")
    if not released and not open_section and newest != number(version):
        yield f"CHANGELOG.md: neither 'Unreleased' nor {version} is the first section"


def problems(root, released=False):
    version = version_of(root)
    yield from other_versions(root, PLACES, version)
    yield from other_versions(root, SERIES, version.rpartition(".")[0])
    yield from c_library_problems(root)
    yield from changelog_problems(read(root, "CHANGELOG.md"), version, released)
    if released and "UNRELEASED" in read(root, "debian/changelog").partition("\n")[0]:
        yield "debian/changelog: UNRELEASED; scripts/release prepare dates it"


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--released"]):
        sys.exit(__doc__)
    found = list(problems(pathlib.Path(sys.argv[1]), released=len(sys.argv) == 3))
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
