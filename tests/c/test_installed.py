#!/usr/bin/env python3
"""Compiles the example programs against the installed library, with the commands of the guide, and
runs them in a folder of their own against a simulated server."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(os.environ["K8S_SD_PROJECT"])
sys.path += [str(PROJECT / "bindings/python"), str(PROJECT / "bindings/python/tests")]
import wheel_backend  # noqa: E402
from server import Server  # noqa: E402

PREFIX = os.environ["K8S_SD_PREFIX"]
LIBRARIES = os.environ["K8S_SD_LIBRARIES"]
ENVIRONMENT = {**os.environ, "PKG_CONFIG_PATH": f"{LIBRARIES}/pkgconfig",
               "LD_LIBRARY_PATH": LIBRARIES}
EXAMPLES = PROJECT / "examples/c"
STATIC = f"{LIBRARIES}/libk8s_sd_c.a"


def pkg_config(*arguments):
    return subprocess.run(["pkg-config", *arguments, "k8s_sd_c"], env=ENVIRONMENT, text=True,
                          stdout=subprocess.PIPE, check=True).stdout.split()


def static_libraries():
    return [STATIC if flag == "-lk8s_sd_c" else flag
            for flag in pkg_config("--cflags", "--libs", "--static")]


def all_libraries():
    """The flags for the shared library, and for the static one where it is built."""
    yield pkg_config("--cflags", "--libs")
    if os.path.exists(STATIC):
        yield static_libraries()


class Installed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = Server()
        self.addCleanup(self.server.__exit__)
        self.server.pod("web-0", "10.0.0.1")

    def compile(self, compiler, source, *flags):
        program = self.folder / "program"
        subprocess.run([os.environ[compiler], EXAMPLES / source, "-o", program, *flags],
                       env=ENVIRONMENT, check=True)
        return program

    def start(self, *command, **variables):
        process = subprocess.Popen(command, env={**ENVIRONMENT, **variables}, text=True,
                                   cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def prints_pods(self, *command, **variables):
        process = self.start(*command, self.server.url, **variables)
        self.assertEqual(process.stdout.readline(), "pod/shop/web-0 10.0.0.1:80\n")
        self.server.tell("remove pods shop web-0")
        self.assertEqual(process.stdout.readline(), "pod/shop/web-0 removed\n")

    def test_c(self):
        program = self.compile("K8S_SD_CC", "pods.c", "-std=c99", "-Wall", "-Wextra", "-Werror",
                               *pkg_config("--cflags", "--libs"))
        self.prints_pods(program)

    def test_the_header_alone(self):
        for language in (["-xc", "-std=c99"], ["-xc++", "-std=c++98"], ["-xc++", "-std=c++20"]):
            subprocess.run([os.environ["K8S_SD_CXX"], *language, "-Wall", "-Wextra", "-Wpedantic",
                            "-Wconversion", "-Werror", "-fsyntax-only", *pkg_config("--cflags"),
                            "-"], input="#include <k8s_sd_c.h>\n", text=True, check=True)

    def test_the_header_in_a_block_of_c(self):
        """Some hosts in C++ include all headers of C libraries in such a block."""
        subprocess.run([os.environ["K8S_SD_CXX"], "-xc++", "-std=c++11", "-Wall", "-Werror",
                        "-fsyntax-only", *pkg_config("--cflags"), "-"], text=True, check=True,
                       input='extern "C" {\n#include <k8s_sd_c.h>\n}\n'
                             "k8s_sd_options options = K8S_SD_INIT(k8s_sd_options);\n")

    def test_cmake(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.23)\nproject(host C)\n"
            "find_package(k8s_sd_c 0.1 REQUIRED)\n"
            f"add_executable(host {EXAMPLES}/pods.c)\n"
            "target_link_libraries(host PRIVATE k8s_sd::c)\n", encoding="utf-8")
        build = self.folder / "build"
        for command in (["cmake", "-S", self.folder, "-B", build, f"-DCMAKE_PREFIX_PATH={PREFIX}",
                         f"-DCMAKE_C_COMPILER={os.environ['K8S_SD_CC']}"],
                        ["cmake", "--build", build]):
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        self.prints_pods(build / "host")

    def test_the_static_library(self):
        if not os.path.exists(STATIC):
            self.skipTest("not built")
        self.prints_pods(self.compile("K8S_SD_CC", "pods.c", *static_libraries()))

    def test_a_host_with_the_same_symbols(self):
        """The host offers all names of Boost and of the library's C++ to the linker and the loader;
        its functions end the program."""
        names = self.internal_names()
        self.assertGreater(len(names), 1000)
        source = self.folder / "names.c"
        source.write_text("void trap(void) { __builtin_trap(); }\n" + "".join(
            f'__asm__(".globl {name}\\n.set {name}, trap");\n' for name in names))
        for libraries in all_libraries():
            with self.subTest(libraries[-1]):
                self.prints_pods(self.compile("K8S_SD_CC", "pods.c", source, "-rdynamic",
                                              *libraries))
                self.server.pod("web-0", "10.0.0.1")

    @staticmethod
    def internal_names():
        lines = subprocess.run([os.environ["K8S_SD_NM"], "--defined-only",
                                f"{LIBRARIES}/libk8s_sd_c.so"], text=True, check=True,
                               stdout=subprocess.PIPE).stdout
        return sorted(set(re.findall(r" [TtWwVvu] (_Z\w*(?:5boost|6k8s_sd|8k8s_sd_c)\w*)$", lines,
                                     re.MULTILINE)))

    def test_a_host_with_another_boost(self):
        """With the newest Boost of scripts/unpack-boost, else with the installed one."""
        others = [(int(match[1]), header.parent.parent) for header in sorted(
            PROJECT.glob("build/boost/*/usr/include/boost/version.hpp"))
            if (match := re.search(r"define BOOST_VERSION (\d+)", header.read_text()))]
        version, include = max(others, default=(0, None))
        boost = ["-isystem", include] if include else []
        program = self.folder / "boost_host.o"
        subprocess.run([os.environ["K8S_SD_CXX"], "-std=c++17", "-c", PROJECT /
                        "tests/c/boost_host.cpp", "-o", program, *boost, *pkg_config("--cflags")],
                       check=True)
        for libraries in all_libraries():
            with self.subTest(libraries[-1], boost=version):
                host = self.compile("K8S_SD_CXX", program, *libraries)
                process = self.start(host, self.server.url)
                printed = int(process.stdout.readline())
                self.assertTrue(version in (0, printed))
                self.assertEqual(process.stdout.readline(), "pod/shop/web-0 10.0.0.1:80\n")
                process.kill()

    def test_cpp_without_exceptions(self):
        config = self.folder / "prometheus.yml"
        for libraries in all_libraries():
            with self.subTest(libraries[-1]):
                config.unlink(missing_ok=True)
                program = self.compile("K8S_SD_CXX", "no_exceptions.cpp", "-std=c++11",
                                       "-fno-exceptions", "-fno-rtti", *libraries)
                missing = subprocess.run([program, config], env=ENVIRONMENT, text=True,
                                         check=False, stderr=subprocess.PIPE)
                self.assertEqual((missing.returncode, missing.stderr),
                                 (2, f"{config}: No such file or directory\n"))
                config.write_text(
                    "scrape_configs: [{job_name: web, kubernetes_sd_configs: "
                    f"[{{role: pod, api_server: '{self.server.url}'}}]}}]", encoding="utf-8")
                process = self.start(program, config)
                self.assertEqual(process.stdout.readline(),
                                 "scrape web http://10.0.0.1:80/metrics\n")

    def test_a_loop_of_libevent(self):
        if subprocess.run(["pkg-config", "--exists", "libevent_core"], check=False).returncode:
            self.skipTest("there is no libevent")
        program = self.compile("K8S_SD_CC", "libevent_loop.c", "-std=c99",
                               *pkg_config("--cflags", "--libs", "libevent_core"))
        process = self.start(program, self.server.url)
        self.assertEqual(process.stdout.readline(), "+ shop/web-0\n")
        self.server.tell("remove pods shop web-0")
        self.assertEqual(process.stdout.readline(), "- shop/web-0\n")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 0)

    def test_the_filter_of_container_logs(self):
        program = self.compile("K8S_SD_CC", "kubernetes_filter.c", "-std=c99",
                               *pkg_config("--cflags", "--libs"))
        process = self.start(program, self.server.url)
        process.stdin.write("web-0_shop_web-0123.log GET /\nother_shop_web-0123.log GET /\n")
        process.stdin.flush()
        line = process.stdout.readline()
        self.assertIn('{"log":"GET /","kubernetes":{"pod_name":"web-0"', line)
        self.assertIn('"labels":{"app":"web"}', line)
        self.assertIn('"container_name":"web"', line)
        self.assertEqual(process.stdout.readline(), '{"log":"GET /"}\n')

    def test_the_rate_of_the_filter(self):
        """100 000 records a second on one core are the goal. It counts seconds of CPU, so other
        programs matter little."""
        for number in range(100):
            self.server.pod(f"web-{number}", f"10.0.0.{number}")
        program = self.compile("K8S_SD_CC", "kubernetes_filter.c", "-std=c99", "-O2",
                               *pkg_config("--cflags", "--libs"))
        process = self.start(program, self.server.url, "--rate", "200000")
        line = process.stdout.read()
        found = re.fullmatch(r"200000 records, 100 pods, (\d+) records a second of CPU\n", line)
        self.assertTrue(found, line)
        self.assertGreater(int(found[1]), 100_000)

    def test_python(self):
        name = wheel_backend.build_wheel(self.folder)
        for program in ("pods.py", "pods_asyncio.py"):
            with self.subTest(program):
                command = [sys.executable, EXAMPLES / program]
                if program == "pods.py":
                    self.prints_pods(*command, PYTHONPATH=str(self.folder / name))
                    continue
                process = self.start(*command, self.server.url, PYTHONPATH=str(self.folder / name))
                self.assertEqual(process.stdout.readline(), "complete state: 0 pods\n")


if __name__ == "__main__":
    unittest.main()
