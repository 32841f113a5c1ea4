#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <boost/system/error_code.hpp>
#include <exception>
#include <string>

namespace k8s_sd::inline v0 {

/// Texts for users: what has happened and, where it is known, how to mend it. They name no
/// function, library, source file or error category.

/// "address already in use", "too many open files; raise the limit (ulimit -n)"
K8S_SD_EXPORT std::string in_words(const boost::system::error_code&);
/// Of any exception: those of Asio, of OpenSSL and of std::filesystem, std::bad_alloc, and others,
/// which have a text of their own.
K8S_SD_EXPORT std::string in_words(const std::exception&);

}  // namespace k8s_sd::inline v0
