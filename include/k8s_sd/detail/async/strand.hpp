#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

inline boost::asio::any_io_executor without_strand(boost::asio::any_io_executor executor) {
    namespace asio = boost::asio;
    using Io = asio::io_context::executor_type;
    using Pool = asio::thread_pool::executor_type;
    if (const auto* io = executor.target<asio::strand<Io>>()) return io->get_inner_executor();
    if (const auto* pool = executor.target<asio::strand<Pool>>()) return pool->get_inner_executor();
    if (const auto* any = executor.target<asio::strand<asio::any_io_executor>>()) {
        return without_strand(any->get_inner_executor());
    }
    return executor;
}

/// A strand of the library's own on the context of an executor. Never the host's strand: a callback
/// blocking there would stall the watches of all views sharing them.
inline boost::asio::any_io_executor make_own_strand(const boost::asio::any_io_executor& executor) {
    return boost::asio::make_strand(without_strand(executor));
}

/// Destroys an owner of sockets and timers on its strand, wherever its last reference is released.
/// A separate invocation is necessary, because the release may happen inside an observer's call.
struct DestroyOn {
    boost::asio::any_io_executor strand;

    template <class T>
    void operator()(T* last) const {
        boost::asio::post(strand, [owned = std::unique_ptr<T>(last)] {});
    }
};

/// A handler that calls `call` with the object and the arguments of the handler; does nothing once
/// the object is destroyed. For timers and completions that must not keep their object alive.
/// \param call  a member function, or a function with the object as its first parameter
template <class Object, class Call>
auto if_alive(std::weak_ptr<Object> object, Call call) {
    return [object = std::move(object), call = std::move(call)](auto&&... args) {
        if (const auto self = object.lock()) {
            std::invoke(call, *self, std::forward<decltype(args)>(args)...);
        }
    };
}

/// A call in a separate handler of the owner's strand. Requests are coalesced until it runs. A
/// member of its owner; used on the strand.
class PostedCall {
 public:
    /// \param call  as for if_alive()
    template <class Owner, class Call>
    void request(const boost::asio::any_io_executor& strand, std::weak_ptr<Owner> owner,
                 Call call) {
        if (posted_) return;
        boost::asio::post(strand,
                          if_alive(std::move(owner), [this, call = std::move(call)](Owner& alive) {
                              posted_ = false;
                              std::invoke(call, alive);
                          }));
        posted_ = true;  // not before: without memory, post() throws
    }

 private:
    bool posted_ = false;
};

}  // namespace k8s_sd::inline v0::detail
