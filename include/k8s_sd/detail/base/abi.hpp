#pragma once

// Requirements that a host shares with the library. Every public header with bodies compiled
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

// The compiled targets hide everything outside the interface. The target of a shared library sets
// K8S_SD_SHARED, for the library and for its hosts; a host that includes src.hpp does not set it.
#ifdef K8S_SD_SHARED
#define K8S_SD_EXPORT __attribute__((visibility("default")))
#else
#define K8S_SD_EXPORT
#endif

#define K8S_SD_JOIN_2(a, b) a##b
#define K8S_SD_JOIN(a, b) K8S_SD_JOIN_2(a, b)

namespace k8s_sd::inline v0::detail {

/// Encodes the Boost version in a symbol name. Boost types are part of the interface, so a host
/// compiled with another version must fail to link: the library does not define its symbol.
#define K8S_SD_BOOST_TAG K8S_SD_JOIN(library_was_built_with_boost_, BOOST_VERSION)
K8S_SD_EXPORT extern const char K8S_SD_BOOST_TAG;

[[gnu::used]] inline const char* const boost_tag = &K8S_SD_BOOST_TAG;

}  // namespace k8s_sd::inline v0::detail
