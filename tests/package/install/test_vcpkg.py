#!/usr/bin/env python3
"""The port of vcpkg: its manifest has the dependencies of the project, its portfile installs a
package, and a host finds the package. vcpkg itself is not here: vcpkg_functions.cmake has functions
of the same names.

usage: test_vcpkg.py CMAKE BUILD COMPILER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PORT = ROOT / "cmake/packaging/vcpkg/k8s-sd"
MANIFEST = json.loads((PORT / "vcpkg.json").read_text(encoding="utf-8"))
DEPENDENCIES = json.loads((ROOT / "cmake/packaging/dependencies.json").read_text(encoding="utf-8"))
CMAKE, BUILD, COMPILER = sys.argv[1:4]
HOST = """cmake_minimum_required(VERSION 3.23)
project(host LANGUAGES CXX)
find_package(k8s_sd CONFIG REQUIRED COMPONENTS scrape sim)
add_library(host INTERFACE)
target_link_libraries(host INTERFACE k8s_sd::scrape k8s_sd::sim)
get_target_property(includes k8s_sd::k8s_sd INTERFACE_INCLUDE_DIRECTORIES)
if(NOT EXISTS "${includes}/k8s_sd/discoverer.hpp")
    message(FATAL_ERROR "${includes} has no headers")
endif()
"""


def name_of(dependency):
    return dependency if isinstance(dependency, str) else dependency["name"]


def names(dependencies):
    return {name_of(dependency) for dependency in dependencies}


def run(*command):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          check=False)


class Manifest(unittest.TestCase):
    def test_the_name_is_one_of_vcpkg(self):
        self.assertRegex(MANIFEST["name"], r"^[a-z0-9]+(-[a-z0-9]+)*$")
        self.assertEqual(MANIFEST["name"], PORT.name)

    def test_dependencies_are_in_the_order_of_vcpkg(self):
        given = [name_of(dependency) for dependency in MANIFEST["dependencies"]]
        self.assertEqual(given, sorted(given))

    def test_each_dependency_of_the_project_is_there(self):
        for entry in DEPENDENCIES:
            if "vcpkg" in entry:
                feature = MANIFEST["features"].get(entry.get("option"), MANIFEST)
                self.assertIn(entry["vcpkg"], names(feature["dependencies"]))

    def test_the_parts_of_boost_are_those_of_the_sources(self):
        parts = set()
        for folder in ("include", "src/lib", "src/sim"):
            for file in (ROOT / folder).rglob("*.?pp"):
                text = file.read_text(encoding="utf-8")
                parts |= set(re.findall(r"#include <boost/(\w+?)(?:\.hpp)?[/>]", text))
        # Headers of Boost.Config, a dependency of every part.
        expected = {f"boost-{part.replace('_', '-')}" for part in parts - {"version", "config"}}
        given = {name for name in names(MANIFEST["dependencies"]) if name.startswith("boost-")}
        self.assertEqual(given, expected)


class Port(unittest.TestCase):
    def test_a_host_finds_the_package(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            packages = folder / "packages"
            result = run(CMAKE, f"-DBUILD={BUILD}", f"-DPACKAGES={packages}",
                         f"-DPORT_FOLDER={PORT}", "-DWANTED=http2;scrape",
                         "-P", HERE / "vcpkg_functions.cmake")
            self.assertEqual(result.returncode, 0, result.stderr)
            features = (folder / "packages.features").read_text(encoding="utf-8").split()
            self.assertEqual(set(features), set(MANIFEST["features"]))
            options = (folder / "packages.options").read_text(encoding="utf-8").split()
            self.assertIn("-DK8S_SD_SCRAPE=ON", options)
            self.assertIn("-DK8S_SD_BUILD_TESTS=OFF", options)
            for file in ("share/k8s_sd/k8s_sdConfig.cmake", "share/k8s-sd/usage",
                         "share/k8s-sd/copyright", "include/k8s_sd/discoverer.hpp"):
                self.assertTrue((packages / file).is_file(), file)
            self.assertFalse((packages / "share/doc").exists())
            self.assertFalse((packages / "bin").exists())
            (folder / "CMakeLists.txt").write_text(HOST, encoding="utf-8")
            result = run(CMAKE, "-S", folder, "-B", folder / "host",
                         f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_PREFIX_PATH={packages}")
            self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
