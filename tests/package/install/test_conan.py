#!/usr/bin/env python3
"""The recipe of Conan: version, requirements, options and components are those of the project.
Conan itself is not here: modules of the same names record the calls of the recipe.

usage: test_conan.py CMAKE BUILD CXX
"""
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
RECIPE = ROOT / "cmake/packaging/conan/conanfile.py"
DEPENDENCIES = json.loads((ROOT / "cmake/packaging/dependencies.json").read_text(encoding="utf-8"))
CMAKE, BUILD, CXX = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]


class Options(types.SimpleNamespace):
    """The values of a recipe's options."""


class Info:
    """cpp_info, or one of its components."""

    def __init__(self):
        self.properties = {}
        self.components = {}

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        self[name] = Info()
        return self[name]


class ConanFile:
    recipe_folder = str(RECIPE.parent)
    export_sources_folder = "/export"

    def __init__(self, **options):
        self.options = Options(**{**{name: value for name, value in self.default_options.items()
                                     if "/" not in name}, **options})
        self.required = {}
        self.tools = []
        self.cpp_info = Info()
        self.cpp_info.components = Components()

    def requires(self, reference, **traits):
        name, _, version = reference.partition("/")
        self.required[name] = (version, traits)

    def tool_requires(self, reference):
        self.tools.append(reference)


def load_recipe(path, copied):
    """The module, with stand-ins for those of Conan."""
    def module(name, **content):
        made = types.ModuleType(name)
        made.__dict__.update(content)
        return name, made

    modules = dict([
        module("conan", ConanFile=ConanFile), module("conan.tools"),
        module("conan.tools.build", check_min_cppstd=mock.Mock(), can_run=lambda _: True),
        module("conan.tools.cmake", CMake=mock.Mock(), CMakeDeps=mock.Mock(),
               CMakeToolchain=mock.Mock(), cmake_layout=mock.Mock()),
        module("conan.tools.files", rmdir=mock.Mock(),
               copy=lambda _, pattern, source, target: copied.append((pattern, source)),
               load=lambda _, file: pathlib.Path(file).read_text(encoding="utf-8"))])
    with mock.patch.dict(sys.modules, modules):
        spec = importlib.util.spec_from_file_location("recipe", path)
        recipe = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(recipe)
    return recipe, modules


class Recipe(unittest.TestCase):
    def setUp(self):
        self.copied = []
        self.module, self.modules = load_recipe(RECIPE, self.copied)
        self.cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")

    def recipe(self, **options):
        return self.module.K8sSdConan(**options)

    def test_the_version_is_that_of_the_project(self):
        recipe = self.recipe()
        recipe.set_version()
        self.assertIn(f"project(k8s_sd VERSION {recipe.version} ", self.cmake)

    def test_it_exports_what_the_build_reads(self):
        self.recipe().export_sources()
        for pattern, source in self.copied:
            self.assertTrue(list(pathlib.Path(source).glob(pattern)), pattern)

    def test_it_requires_the_dependencies(self):
        recipe = self.recipe()
        recipe.requirements()
        self.assertEqual(set(recipe.required), {entry["conan"] for entry in DEPENDENCIES})
        for entry in DEPENDENCIES:
            self.assertIn(f">={entry['version']}" if entry["version"] else "",
                          recipe.required[entry["conan"]][0])
        # Types of Boost are part of the interface.
        self.assertTrue(recipe.required["boost"][1]["transitive_headers"])

    def test_options_leave_out_their_dependencies(self):
        for option in ("scrape", "http2"):
            recipe = self.recipe(**{option: False})
            recipe.requirements()
            self.assertEqual(set(recipe.required), {entry["conan"] for entry in DEPENDENCIES
                                                    if entry.get("option") != option})

    def cache_variables(self):
        toolchain = self.modules["conan.tools.cmake"].CMakeToolchain.return_value
        toolchain.cache_variables = {}
        self.recipe().generate()
        return toolchain.cache_variables

    def test_the_exported_sources_are_enough(self):
        self.recipe().export_sources()
        options = [f"-D{name}={value}" for name, value in self.cache_variables().items()]
        with tempfile.TemporaryDirectory() as scratch:
            for pattern, source in self.copied:
                for path in pathlib.Path(source).glob(pattern):
                    target = pathlib.Path(scratch, path.relative_to(source))
                    target.parent.mkdir(parents=True, exist_ok=True)
                    (shutil.copytree if path.is_dir() else shutil.copy)(path, target)
            result = subprocess.run(
                [CMAKE, "-S", scratch, "-B", f"{scratch}/build", f"-DCMAKE_CXX_COMPILER={CXX}",
                 *options], text=True, capture_output=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_build_has_its_cache_variables(self):
        cache_variables = self.cache_variables()
        cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        for name in cache_variables:
            self.assertRegex(cache, rf"(?m)^{name}:")
        self.assertIs(cache_variables["K8S_SD_SCRAPE"], True)

    def test_the_components_are_the_exported_targets(self):
        recipe = self.recipe()
        recipe.package_info()
        libraries = set(re.findall(r"^ *add_library\((\w+) (?!INTERFACE|ALIAS)", self.cmake,
                                   re.MULTILINE)) - {"k8s_sd_c"}
        components = recipe.cpp_info.components
        self.assertEqual({name for part in components.values() for name in part.libs}, libraries)
        self.assertEqual({part.properties["cmake_target_name"] for part in components.values()},
                         {"k8s_sd::k8s_sd", "k8s_sd::sim", "k8s_sd::scrape"})
        required = {name.partition("::")[0] for part in components.values()
                    for name in part.requires if "::" in name}
        recipe.requirements()
        self.assertEqual(required, set(recipe.required))
        for part in components.values():
            pkg_config = ROOT / f"cmake/{part.properties['pkg_config_name']}.pc.in"
            self.assertTrue(pkg_config.exists(), pkg_config)

    def test_the_host_of_the_package_has_a_recipe(self):
        folder = RECIPE.parent / "test_package"
        load_recipe(folder / "conanfile.py", [])
        text = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
        source = re.search(r"add_executable\(host (\S+)\)", text)[1]
        self.assertTrue((folder / source).resolve().is_file())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
