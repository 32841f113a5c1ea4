#!/usr/bin/env python3
"""scripts/release makes the same tarball twice and a complete list of components; the checks of
versions and licences find mistakes.

usage: test_release.py PROJECT
"""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

import check_licences as licences
import check_versions as versions

ROOT = pathlib.Path(__file__).resolve().parents[3]


def script(path):
    """A script without the suffix of a module."""
    loader = importlib.machinery.SourceFileLoader("release", str(ROOT / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", loader))
    loader.exec_module(module)
    return module


release = script("scripts/release")
DEPENDENCIES = json.loads(release.sbom.DEPENDENCIES.read_text(encoding="utf-8"))


def has_commits():
    return subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True,
                          check=False).returncode == 0


class Tarball(unittest.TestCase):
    @unittest.skipUnless(has_commits(), "the sources are not in a git repository")
    def test_it_has_the_same_bytes_twice(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            path = release.write_tarball(pathlib.Path(first), "1.2.3")
            again = release.write_tarball(pathlib.Path(second), "1.2.3")
            self.assertEqual(release.sha256(path), release.sha256(again))
            self.assertEqual(path.name, "k8s_sd-1.2.3.tar.gz")
            with tarfile.open(path) as archive:
                members = archive.getmembers()
        names = {member.name for member in members}
        self.assertIn("k8s_sd-1.2.3/CMakeLists.txt", names)
        self.assertEqual({name.partition("/")[0] for name in names}, {"k8s_sd-1.2.3"})
        self.assertEqual(len({member.mtime for member in members}), 1)


def run(*command, cwd):
    return subprocess.run([str(word) for word in command], cwd=cwd, text=True,
                          capture_output=True, check=False)


@unittest.skipUnless(has_commits(), "the sources are not in a git repository")
class Release(unittest.TestCase):
    """A release of a copy of the sources."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.clone = cls.folder / "clone"
        for file in licences.tracked(ROOT):
            (cls.clone / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, cls.clone / file)
        cls.git("init", "--quiet")
        cls.git("config", "user.name", "k8s_sd")
        cls.git("config", "user.email", "k8s_sd@example.com")
        for day in ("2026-01-02", "2026-01-03"):  # it may be dated again
            prepared = run("scripts/release", "prepare", day, cwd=cls.clone)
            assert prepared.returncode == 0, prepared.stderr
        found = list(versions.problems(cls.clone, released=True))
        assert not found, found
        cls.git("add", "--all")
        cls.git("commit", "--quiet", "--message", "Release")

    @classmethod
    def git(cls, *arguments):
        subprocess.run(["git", *arguments], cwd=cls.clone, check=True, capture_output=True)

    def make(self, name, *options):
        return run("scripts/release", "make", *options, self.folder / name, cwd=self.clone)

    def test_it_is_complete_and_has_the_same_bytes_twice(self):
        result = self.make("first", "--unverified")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        version = versions.version_of(self.clone)
        (self.folder / "second").mkdir()
        script(self.clone / "scripts/release").write_release(self.folder / "second", version)
        for file in release.files_of_release(version):
            self.assertEqual((self.folder / "first" / file).read_bytes(),
                             (self.folder / "second" / file).read_bytes(), file)
        checked = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=self.folder / "first")
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertEqual(checked.stdout.count(": OK"), 3)
        notes = (self.folder / f"first/k8s_sd-{version}.notes.md").read_text(encoding="utf-8")
        self.assertRegex(notes, rf"^# k8s_sd {version}\n\n## Upgrading\n\n\w")

    def test_a_stage_is_no_folder(self):
        result = run("scripts/release", "verify", "lint", cwd=self.clone)
        self.assertEqual(result.returncode, 1)
        self.assertIn("needs a folder before the stage lint", result.stderr)
        self.assertFalse((self.clone / "lint").exists())

    def test_it_must_be_verified(self):
        result = self.make("unverified")
        self.assertEqual(result.returncode, 1)
        self.assertIn("scripts/release verify", result.stderr)
        self.assertFalse(list((self.folder / "unverified").iterdir()))


def stages(**commands):
    return {name: (list(command), {}) for name, command in commands.items()}


class Verification(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for name, value in (("tree", lambda: "a"), ("check", lambda: False)):
            self.replace(name, value)
        # `reuse` may not be installed.
        self.which = mock.patch.object(release.shutil, "which", return_value="/bin/true")
        self.which.start()
        self.addCleanup(self.which.stop)

    def replace(self, name, value):
        patch = mock.patch.object(release, name, value)
        patch.start()
        self.addCleanup(patch.stop)

    def test_it_holds_for_the_verified_files_only(self):
        self.replace("STAGES", stages(first=("true", "{}"), second=("true",)))
        self.assertEqual(release.missing_stages(self.folder), ["first", "second"])
        self.assertEqual(release.verify(self.folder, ["first", "second"]), 0)
        self.assertEqual(release.missing_stages(self.folder), [])
        self.replace("tree", lambda: "b")
        self.assertEqual(release.missing_stages(self.folder), ["first", "second"])

    def test_stages_run_one_by_one(self):
        self.replace("STAGES", stages(first=("true",), second=("true",)))
        self.assertEqual(release.verify(self.folder, ["second"]), 0)
        self.assertEqual(release.missing_stages(self.folder), ["first"])
        self.assertEqual(release.verify(self.folder, ["first"]), 0)
        self.assertEqual(release.missing_stages(self.folder), [])

    def test_a_failure_ends_it(self):
        self.replace("STAGES", stages(first=("true",), second=("false",), third=("true",)))
        self.assertEqual(release.verify(self.folder, ["first", "second", "third"]), 1)
        self.assertEqual(release.missing_stages(self.folder), ["second", "third"])

    def test_a_missing_tool_prevents_it(self):
        self.replace("STAGES", {"first": (["true"], {"no-such-tool": "it"})})
        self.which.stop()
        with self.assertRaisesRegex(SystemExit, "no-such-tool"):
            release.verify(self.folder, ["first"])
        self.which.start()
        self.assertFalse(list(self.folder.iterdir()))

    def test_a_commit_meanwhile_is_not_verified(self):
        trees = iter("aab")
        self.replace("tree", lambda: next(trees, "b"))
        self.replace("STAGES", stages(first=("true",)))
        next(trees)
        with self.assertRaisesRegex(SystemExit, "changed"):
            release.verify(self.folder, ["first"])
        self.assertFalse(list(self.folder.iterdir()))

    def test_its_commands_exist(self):
        for (command, *_), _ in release.STAGES.values():
            self.assertTrue((ROOT / command).is_file(), command)


class Components(unittest.TestCase):
    def document(self):
        return release.sbom.document("k8s_sd", "1.2.3", "2026-01-02T03:04:05Z",
                                     "k8s_sd-1.2.3.tar.gz", "ab" * 32)

    def test_every_package_has_a_licence_and_a_relationship(self):
        document = self.document()
        named = {package["SPDXID"] for package in document["packages"]}
        self.assertEqual(len(named), len(document["packages"]))
        linked = set()
        for relationship in document["relationships"]:
            ends = {relationship["spdxElementId"], relationship["relatedSpdxElement"]}
            self.assertLessEqual(ends, named | {"SPDXRef-DOCUMENT"})
            linked |= ends
        self.assertEqual(linked, named | {"SPDXRef-DOCUMENT"})
        for package in document["packages"]:
            self.assertRegex(package["licenseDeclared"], r"^[\w.-]+$")
            self.assertRegex(package["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$|k8s_sd$")

    def test_the_same_release_has_the_same_document(self):
        self.assertEqual(self.document(), self.document())

    def test_the_dependencies_are_those_of_cmake(self):
        text = (ROOT / "cmake/dependencies.cmake").read_text(encoding="utf-8")
        found = set(re.findall(r"(?:find_path\(\s*\w+|find_package\()\s*([\w./]+)", text))
        self.assertEqual(found - {"Threads"}, {entry["cmake"] for entry in DEPENDENCIES})
        for entry in DEPENDENCIES:
            if entry["version"]:
                self.assertIn(f"find_package({entry['cmake']} {entry['version']}", text)

    def test_debian_builds_with_them(self):
        control = (ROOT / "debian/control").read_text(encoding="utf-8")
        build = control.partition("\n\n")[0]
        for entry in DEPENDENCIES:
            self.assertIn(f" {entry['debian']}", build)


class Notes(unittest.TestCase):
    def test_they_are_the_section_of_the_version(self):
        text = "# C\n\n## Unreleased\n\n* a\n\n## 0.2.0 - 2026-01-02\n\n* b\n\n## 0.1.0 - 2025-01-02"
        self.assertEqual(release.notes_of(text, "0.2.0"), "* b\n")
        with self.assertRaisesRegex(SystemExit, "scripts/release prepare"):
            release.notes_of(text, "0.3.0")

    def test_there_is_a_section_about_upgrading(self):
        self.assertIn("0.1", release.upgrade_notes())

    def test_their_links_start_at_the_top_of_the_project(self):
        links = re.findall(r"\]\((?!\w+:)([^)#]+)", release.upgrade_notes())
        self.assertIn("CHANGELOG.md", links)
        for link in links:
            self.assertTrue((ROOT / link).is_file(), link)


class Versions(unittest.TestCase):
    def found(self, text, released=False):
        return list(versions.changelog_problems(text, "0.2.0", released))

    def test_the_forms_of_the_changelog_are_accepted(self):
        old = "## 0.1.0 - 2025-01-02\n\n## Before this changelog\n"
        self.assertEqual(self.found("## Unreleased\n\n" + old), [])
        self.assertEqual(self.found("## 0.2.0 - 2026-01-02\n\n" + old), [])
        self.assertEqual(self.found("## 0.2.0 - 2026-01-02\n\n" + old, released=True), [])

    def test_mistakes_in_the_changelog_are_found(self):
        for text, released in (("## Unreleased\n", True), ("## 0.2.0\n", False),
                               ("## 0.1.0 - 2025-01-02\n", False),
                               ("## 0.2.0 - 2026-01-02\n## Unreleased\n", False),
                               ("## 0.1.0 - 2025-01-02\n## 0.2.0 - 2026-01-02\n", False)):
            with self.subTest(text):
                self.assertNotEqual(self.found(text, released), [])

    def test_another_version_is_found_in_each_place(self):
        with tempfile.TemporaryDirectory() as folder:
            for place in (*versions.PLACES, *versions.SERIES):
                self.assertEqual(
                    len(list(versions.other_versions(pathlib.Path(folder), {place: "x(.)"}, "1"))),
                    0 if place in versions.OPTIONAL else 1)
        found = list(versions.other_versions(ROOT, versions.PLACES, "9.9.9"))
        self.assertGreaterEqual(len(found), len(versions.PLACES) - len(versions.OPTIONAL))


class Licences(unittest.TestCase):
    def test_foreign_claims_are_found(self):
        for text in (b"// SPDX-License-" b"Identifier: MIT\n", b"# Copyright (c) 2020 Somebody\n"):
            self.assertEqual(len(list(licences.foreign_claims("a", text))), 1)
        own = b"// SPDX-License-" b"Identifier: Apache-2.0\n"
        self.assertEqual(list(licences.foreign_claims("a", own)), [])

    def test_an_uncovered_file_is_found(self):
        self.assertEqual(list(licences.uncovered(["a/b", "c"], ["a/*"])),
                         ["c: no licence in .reuse/dep5"])


if __name__ == "__main__":
    unittest.main()
