#pragma once

#include <boost/asio/any_io_executor.hpp>

namespace k8s_sd::inline v0::detail {

/// A strand of the library's own on the context of an executor. Never that of a host: a callback
/// that blocks there would stall the watches of everybody who shares them.
boost::asio::any_io_executor make_own_strand(const boost::asio::any_io_executor&);

}  // namespace k8s_sd::inline v0::detail
