# The dependencies of the library. A host that builds one of them itself already has its targets.
if(NOT TARGET Boost::headers OR NOT TARGET Boost::json)
    find_package(Boost 1.81 REQUIRED COMPONENTS json)
endif()
find_package(OpenSSL 3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
# Header-only use of protozero.
find_path(K8S_SD_PROTOZERO_INCLUDE_DIR protozero/pbf_writer.hpp REQUIRED)
mark_as_advanced(K8S_SD_PROTOZERO_INCLUDE_DIR)
list(PREPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)
find_package(libyaml REQUIRED)
if(K8S_SD_SCRAPE)
    find_package(re2)
endif()
if(K8S_SD_HTTP2 STREQUAL "AUTO")
    find_package(nghttp2 QUIET)
elseif(K8S_SD_HTTP2)
    find_package(nghttp2 REQUIRED)
endif()
set(K8S_SD_HAS_HTTP2 OFF)
if(K8S_SD_HTTP2 AND nghttp2_FOUND)
    set(K8S_SD_HAS_HTTP2 ON)
endif()
list(POP_FRONT CMAKE_MODULE_PATH)
if(K8S_SD_SCRAPE)
    # Header-only use of xxHash.
    find_path(K8S_SD_XXHASH_INCLUDE_DIR xxhash.h)
    mark_as_advanced(K8S_SD_XXHASH_INCLUDE_DIR)
    if(NOT TARGET re2::re2 OR NOT K8S_SD_XXHASH_INCLUDE_DIR)
        message(FATAL_ERROR
            "k8s_sd::scrape (relabelling and scrape targets) needs RE2 and xxHash, Debian's "
            "packages libre2-dev and libxxhash-dev. Install them, or configure with "
            "-DK8S_SD_SCRAPE=OFF: discovery and the object cache do without.")
    endif()
elseif(K8S_SD_BUILD_TESTS OR K8S_SD_BUILD_BENCH OR K8S_SD_BUILD_FUZZERS)
    message(FATAL_ERROR "K8S_SD_BUILD_TESTS, K8S_SD_BUILD_BENCH and K8S_SD_BUILD_FUZZERS need "
                        "K8S_SD_SCRAPE=ON")
endif()
