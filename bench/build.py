#!/usr/bin/env python3
"""The cost of k8s_sd in a host's build: compile time, compiler memory, program size.

Each figure is printed beside a peer or a floor from the same run: a library build beside one of
another checkout (--against), headers beside boost/asio/io_context.hpp.

usage: bench/build.py [--against CHECKOUT] [--compiler g++] [--jobs N]
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ["-lboost_json", "-lssl", "-lcrypto", "-lyaml", "-pthread"]


class Cost:
    """Wall and CPU seconds of a command, and the peak memory of its largest process."""

    def __init__(self, command, **options):
        # Run the command in a grandchild, so that the peak memory covers this command alone.
        reader, writer = os.pipe()
        start = time.monotonic()
        pid = os.fork()
        if pid == 0:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False, **options)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            os.write(writer, f"{used.ru_utime + used.ru_stime} {used.ru_maxrss}".encode())
            os._exit(done.returncode)
        _, status = os.waitpid(pid, 0)
        self.wall = time.monotonic() - start
        os.close(writer)
        with os.fdopen(reader) as pipe:
            cpu, peak = pipe.read().split()
        self.cpu, self.megabytes = float(cpu), int(peak) / 1024
        if status:
            sys.exit(f"bench/build.py: failed: {' '.join(map(str, command))}")

    def __str__(self):
        return f"{self.cpu:7.1f} s CPU {self.wall:7.1f} s wall {self.megabytes:6.0f} MB peak"


def library_build(checkout, work, options):
    build = work / "library"
    shutil.rmtree(build, ignore_errors=True)
    subprocess.run(["cmake", "-S", checkout, "-B", build, "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={options.compiler}",
                    "-DCMAKE_CXX_COMPILER_LAUNCHER=", "-DK8S_SD_BUILD_TESTS=OFF",
                    "-DK8S_SD_BUILD_PROGRAMS=OFF", "-DK8S_SD_BUILD_EXAMPLES=OFF",
                    *options.cmake],
                   check=True, stdout=subprocess.DEVNULL)
    names = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True,
                           capture_output=True, text=True).stdout
    targets = [name for name in ("k8s_sd", "k8s_sd_scrape") if f"\n{name}: " in names]
    return Cost(["cmake", "--build", build, f"-j{options.jobs}", "--target", *targets])


def compile_source(text, work, options, *flags):
    source = work / "host.cpp"
    source.write_text(text, encoding="utf-8")
    return Cost([options.compiler, "-std=c++20", f"-I{ROOT / 'include'}", *flags, source])


def print_headers(work, options):
    print("\nA file that includes one public header, without code generation:")
    headers = sorted(path.relative_to(ROOT / "include")
                     for path in (ROOT / "include/k8s_sd").rglob("*.hpp"))
    public = [str(name) for name in headers
              if "detail" not in name.parts and name.name != "src.hpp"]
    for name in ["boost/asio/io_context.hpp", "boost/json.hpp", "boost/beast.hpp", *public]:
        print(f"{name:45} {compile_source(f'#include <{name}>', work, options, '-fsyntax-only')}")


def print_host_sizes(work, options):
    print("\nThe minimal host (examples/minimal.cpp), stripped:")
    minimal = ROOT / "examples/minimal.cpp"
    host = work / "host"

    def size(*command):
        subprocess.run([options.compiler, "-std=c++20", "-O2", f"-I{ROOT / 'include'}", minimal,
                        *command, "-o", host], check=True)
        subprocess.run(["strip", host], check=True)
        return host.stat().st_size / 1e6

    def build(name, *flags):
        directory = work / name
        subprocess.run(["cmake", "-S", ROOT, "-B", directory, "-G", "Ninja",
                        "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={options.compiler}",
                        "-DK8S_SD_BUILD_TESTS=OFF", "-DK8S_SD_BUILD_PROGRAMS=OFF",
                        "-DK8S_SD_BUILD_EXAMPLES=OFF", *flags],
                       check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", directory, "--target", "k8s_sd"], check=True,
                       stdout=subprocess.DEVNULL)
        return directory

    static = build("static") / "libk8s_sd.a"
    print(f"over libk8s_sd.a, other libraries shared   {size(static, *LIBRARIES):6.2f} MB")
    print(f"over libk8s_sd.a, fully static             "
          f"{size('-static', static, *LIBRARIES):6.2f} MB")
    shared = build("shared", "-DBUILD_SHARED_LIBS=ON")
    library = (shared / "libk8s_sd.so").resolve()
    program = size("-DK8S_SD_SHARED", f"-L{shared}", "-lk8s_sd", *LIBRARIES)
    subprocess.run(["strip", "--strip-unneeded", library], check=True)
    print(f"over libk8s_sd.so                          {program:6.2f} MB, and "
          f"{library.stat().st_size / 1e6:.2f} MB of libk8s_sd.so")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--against", help="another checkout, built in the same run")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", default=os.cpu_count())
    options = parser.parse_args()
    options.cmake = []
    os.environ["CCACHE_DISABLE"] = "1"
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        print(f"The libraries (k8s_sd and k8s_sd_scrape), release build, -j{options.jobs}:")
        print(f"this checkout   {library_build(ROOT, work, options)}")
        if options.against:
            print(f"the other one   {library_build(options.against, work, options)}")
        print("\nThe bodies in one file of a host, -O2:")
        one = compile_source("#include <k8s_sd/src.hpp>\n", work, options, "-O2", "-c", "-o",
                             work / "host.o")
        print(f"k8s_sd/src.hpp  {one}")
        print_headers(work, options)
        print_host_sizes(work, options)


if __name__ == "__main__":
    main()
