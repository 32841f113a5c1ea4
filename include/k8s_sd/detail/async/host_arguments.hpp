#pragma once

#include "k8s_sd/error.hpp"

#include <boost/asio/any_io_executor.hpp>

namespace k8s_sd::inline v0::detail {

/// \throws ConfigError for an executor without a context
inline void check_host_executor(const boost::asio::any_io_executor& executor, const char* what) {
    if (executor) return;
    throw ConfigError(what, "the executor is empty; pass that of an io_context or thread_pool, "
                            "for example context.get_executor()");
}

/// \throws ConfigError for a std::function without a target
template <class Callback>
void check_callback(const Callback& callback, const char* what) {
    if (callback) return;
    throw ConfigError(what, "the callback is empty; pass a function to call");
}

}  // namespace k8s_sd::inline v0::detail
