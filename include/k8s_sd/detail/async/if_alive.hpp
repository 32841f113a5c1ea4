#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

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
        if (std::exchange(posted_, true)) return;
        boost::asio::post(strand,
                          if_alive(std::move(owner), [this, call = std::move(call)](Owner& alive) {
                              posted_ = false;
                              std::invoke(call, alive);
                          }));
    }

 private:
    bool posted_ = false;
};

}  // namespace k8s_sd::inline v0::detail
