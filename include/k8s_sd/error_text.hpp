#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <boost/system/error_code.hpp>
#include <exception>
#include <string>

namespace k8s_sd::inline v0 {

/// Error texts for users: the failure and, if known, its remedy, without the name of a function,
/// library, source file or error category.

/// "address already in use", "too many open files; raise the limit (ulimit -n)"
K8S_SD_EXPORT std::string in_words(const boost::system::error_code&);
/// The text of an exception: of Asio, OpenSSL or std::filesystem, std::bad_alloc, or any other with
/// a text of its own.
K8S_SD_EXPORT std::string in_words(const std::exception&);

}  // namespace k8s_sd::inline v0
