#pragma once

#include <boost/asio/any_io_executor.hpp>

namespace k8s_sd::inline v0::detail {

/// A strand of the library's own on the context of an executor. Never the host's strand: a callback
/// blocking there would stall the watches of all views sharing them.
boost::asio::any_io_executor make_own_strand(const boost::asio::any_io_executor&);

}  // namespace k8s_sd::inline v0::detail
