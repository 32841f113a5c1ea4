#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <memory>

namespace k8s_sd::inline v0::detail {

/// A strand of the library's own on the context of an executor. Never the host's strand: a callback
/// blocking there would stall the watches of all views sharing them.
boost::asio::any_io_executor make_own_strand(const boost::asio::any_io_executor&);

/// Destroys an owner of sockets and timers on its strand, wherever its last reference is released.
/// A separate invocation is necessary, because the release may happen inside an observer's call.
struct DestroyOn {
    boost::asio::any_io_executor strand;

    template <class T>
    void operator()(T* last) const {
        boost::asio::post(strand, [owned = std::unique_ptr<T>(last)] {});
    }
};

}  // namespace k8s_sd::inline v0::detail
