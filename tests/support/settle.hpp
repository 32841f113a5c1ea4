#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>

namespace k8s_sd::test {

/// Runs everything that is ready, and everything it makes ready; waits for nothing.
/// \returns the number of handlers that ran
inline std::size_t settle(boost::asio::io_context& context) {
    context.restart();
    return context.poll();
}

}  // namespace k8s_sd::test
