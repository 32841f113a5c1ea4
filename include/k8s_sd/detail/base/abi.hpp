#pragma once

// What a host must have in common with the library. Every public header whose bodies are compiled
// elsewhere includes this one.

#include <boost/version.hpp>

#if __cplusplus < 202002L
#error "k8s_sd needs C++20: compile with -std=c++20 or newer"
#endif
#if !defined(__cpp_rtti) && !defined(__GXX_RTTI)
#error "k8s_sd needs RTTI: any_io_executor of Boost.Asio differs without it; remove -fno-rtti"
#endif
#if BOOST_VERSION < 108100
#error "k8s_sd needs Boost 1.81 or newer"
#endif

// The compiled targets hide what is not part of the interface. K8S_SD_SHARED is set by the target
// of a shared library, for the library and for its hosts; not by a host that includes src.hpp.
#ifdef K8S_SD_SHARED
#define K8S_SD_EXPORT __attribute__((visibility("default")))
#else
#define K8S_SD_EXPORT
#endif

#define K8S_SD_JOIN_2(a, b) a##b
#define K8S_SD_JOIN(a, b) K8S_SD_JOIN_2(a, b)

namespace k8s_sd::inline v0::detail {

/// Names the version of Boost in a symbol. Types of Boost are part of the interface, so a host that
/// was compiled with another version must not link: it asks for a name that the library lacks.
#define K8S_SD_BOOST_TAG K8S_SD_JOIN(library_was_built_with_boost_, BOOST_VERSION)
K8S_SD_EXPORT extern const char K8S_SD_BOOST_TAG;

[[gnu::used]] inline const char* const boost_tag = &K8S_SD_BOOST_TAG;

}  // namespace k8s_sd::inline v0::detail
