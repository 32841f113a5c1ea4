#pragma once

#include <boost/asio/io_context.hpp>

namespace support {

/// Runs the context in so many threads, this one among them, until it has nothing left to do. What
/// one of them throws ends all and is thrown here.
void run_threads(boost::asio::io_context&, unsigned count);

}  // namespace support
