#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/groups/shared_groups.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/role.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <array>
#include <compare>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

class SharedWatches;

/// The settings of target groups. Views of the same watches with equal settings make equal groups.
struct GroupSettings {
    const SharedWatches* watches = nullptr;  ///< owned by each view with these settings
    GroupView view{};
    bool by_namespace = false;  ///< the configuration lists namespaces
    auto operator<=>(const GroupSettings&) const = default;
};

/// Calls one function after the other, each in a handler of its own. The list of a watch completes
/// the states of all its views together: a thousand first states in one handler would block the
/// strand, and all of them would be in memory before a host has received one. In a queue, each is
/// delivered before the next ones are made. Strand-confined.
class CallQueue {
 public:
    /// \param owner  of this object; without it, waiting calls are dropped
    template <class Owner>
    void request(const boost::asio::any_io_executor& strand, const std::weak_ptr<Owner>& owner,
                 std::function<void()> call) {
        post_next(strand, owner);  // if it throws, the call does not wait
        waiting_.push_back(std::move(call));
    }
    /// Before all waiting calls.
    template <class Owner>
    void request_first(const boost::asio::any_io_executor& strand,
                       const std::weak_ptr<Owner>& owner, std::function<void()> call) {
        post_next(strand, owner);
        waiting_.push_front(std::move(call));
    }

 private:
    template <class Owner>
    void post_next(const boost::asio::any_io_executor& strand, const std::weak_ptr<Owner>& owner) {
        next_.request(strand, owner, [this, strand, owner](Owner&) {
            if (waiting_.empty()) return;
            const std::function<void()> call = std::move(waiting_.front());
            waiting_.pop_front();
            const auto go_on = [&] {
                if (!waiting_.empty()) post_next(strand, owner);
            };
            try {
                call();
            } catch (...) {  // out of memory
                go_on();
                throw;
            }
            go_on();
        });
    }

    std::deque<std::function<void()>> waiting_;
    PostedCall next_;
};

/// What views with equal settings share. Strand-confined.
struct GroupMaking {
    ObjectMaker maker;
    std::array<SharedGroups, role_names.size()> groups{};  ///< by role
    CallQueue first_states{};                              ///< makes one after the other
};

}  // namespace k8s_sd::inline v0::detail
