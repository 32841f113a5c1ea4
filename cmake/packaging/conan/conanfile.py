"""Recipe for Conan 2 of this version of the sources.

In the root of the project: conan create cmake/packaging/conan --build=missing
"""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir


class K8sSdConan(ConanFile):
    name = "k8s_sd"
    package_type = "library"
    license = "Apache-2.0"
    description = "Kubernetes service discovery for C++ on Boost.Asio"
    topics = ("kubernetes", "service-discovery", "prometheus", "asio")
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "scrape": [True, False],
               "http2": [True, False]}
    default_options = {"shared": False, "fPIC": True, "scrape": True, "http2": True,
                       "boost/*:without_json": False}
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._root, "CMakeLists.txt"))
        self.version = re.search(r"project\(k8s_sd VERSION ([\d.]+)", text)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Types of Boost are part of the interface, and host and library need the same version.
        self.requires("boost/[>=1.81 <2]", transitive_headers=True, transitive_libs=True)
        self.requires("openssl/[>=3 <4]")
        self.requires("zlib/[>=1.2.11 <2]")
        self.requires("libyaml/[>=0.2.5 <1]")
        # Header-only.
        self.requires("protozero/[>=1.7 <2]")
        if self.options.http2:
            self.requires("libnghttp2/[>=1.51 <2]")
        if self.options.scrape:
            self.requires("re2/[*]")
            self.requires("xxhash/[>=0.8 <1]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.23]")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "PROGRAMS", "EXAMPLES", "C"):
            toolchain.cache_variables[f"K8S_SD_BUILD_{part}"] = False
        toolchain.cache_variables["K8S_SD_INSTALL"] = True
        toolchain.cache_variables["K8S_SD_SCRAPE"] = bool(self.options.scrape)
        toolchain.cache_variables["K8S_SD_HTTP2"] = "ON" if self.options.http2 else "OFF"
        toolchain.generate()
        # The modules of the project find libyaml, nghttp2 and RE2 on the paths of the toolchain.
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan generates its own files for find_package() and pkg-config.
        for folder in ("lib/cmake", "lib/pkgconfig", "share"):
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "k8s_sd")
        http2 = ["libnghttp2::libnghttp2"] if self.options.http2 else []
        self._add_component("k8s_sd", "k8s_sd", [
            "boost::headers", "boost::json", "openssl::ssl", "openssl::crypto", "zlib::zlib",
            "libyaml::libyaml", "protozero::protozero", *http2])
        self._add_component("sim", "k8s_sd_sim", [
            "k8s_sd", "openssl::ssl", "openssl::crypto", "zlib::zlib"])
        if self.options.scrape:
            self._add_component("scrape", "k8s_sd_scrape", [
                "k8s_sd", "re2::re2", "xxhash::xxhash", "openssl::crypto", "libyaml::libyaml"])

    def _add_component(self, name, library, requires):
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", f"k8s_sd::{name}")
        package = "k8s_sd" if name == "k8s_sd" else f"k8s_sd-{name}"
        component.set_property("pkg_config_name", package)
        component.libs = [library]
        component.requires = requires
        component.system_libs = ["pthread"]
        if self.options.shared:
            component.defines = ["K8S_SD_SHARED"]
