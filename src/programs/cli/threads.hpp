#pragma once

#include <boost/asio/io_context.hpp>

namespace cli {

/// Runs the context in this number of threads, including the calling one, until it is out of work.
/// An exception in any of them ends all and is rethrown here.
void run_threads(boost::asio::io_context&, unsigned count);

}  // namespace cli
