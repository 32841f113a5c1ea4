#pragma once

#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace k8s_sd::test {

/// The host's action on its handle within a callback.
enum class HostAct : std::uint8_t {
    cancel,   ///< any call that ends it and keeps the object
    destroy,  ///< destroys the object
    replace,  ///< moves another one into the object
    call_it,  ///< calls its functions, including those that start an operation
};
constexpr HostAct host_acts[] = {HostAct::cancel, HostAct::destroy, HostAct::replace,
                                 HostAct::call_it};
constexpr std::string_view to_string(HostAct act) noexcept {
    constexpr std::string_view names[] = {"cancel", "destroy", "replace", "call it"};
    return names[static_cast<std::size_t>(act)];
}

/// Counts the callbacks of a handle, and acts in one of them.
class ActingHost {
 public:
    /// \param act  runs in that callback
    void act_in(int callback, std::function<void()> act) {
        callback_ = callback;
        act_ = std::move(act);
    }
    /// No action from now on.
    void disarm() { callback_ = -1; }
    /// Must be called in each callback. May destroy the handle and the objects it owns.
    void on_callback() {
        if (callbacks_++ != callback_) return;
        acted_ = true;
        const auto act = std::exchange(act_, nullptr);
        act();
    }
    bool acted() const noexcept { return acted_; }
    int callbacks() const noexcept { return callbacks_; }

 private:
    int callback_ = -1;
    int callbacks_ = 0;
    bool acted_ = false;
    std::function<void()> act_;
};

/// Events in a cluster that trigger each kind of callback: a first state, changes, a temporary
/// outage of the server, and a list after it.
inline void play_cluster(Simulation& s) {
    s.settle();
    s.server.apply(pod({.name = "b"}));
    s.settle();
    s.server.apply(pod({.name = "a", .labels = {{"v", "2"}}}));
    s.advance(std::chrono::seconds(1));
    s.server.accept_connections(false);
    s.server.disconnect_all();
    s.advance(std::chrono::seconds(10));
    s.server.remove("pods", "default", "a");
    s.server.compact();
    s.server.accept_connections(true);
    s.advance(std::chrono::minutes(2));
}

/// Lets a host act once in each possible callback, each time in a fresh cluster.
/// \param Host  made from a Simulation with the pod "a"; has `ActingHost acting`, begin(),
///              after which any callback may run, and act(HostAct)
template <class Host>
void act_in_each_callback() {
    for (const HostAct act : host_acts) {
        CAPTURE(to_string(act));
        int callback = 0;
        for (bool acted = true; acted; ++callback) {
            CAPTURE(callback);
            Simulation s;
            s.server.apply(pod({.name = "a"}));
            auto host = std::make_shared<Host>(s);
            host->acting.act_in(callback, [&] { host->act(act); });
            host->begin();
            play_cluster(s);
            if (!host->acting.acted()) host->act(HostAct::cancel);
            s.settle();  // operations complete
            acted = host->acting.acted();
            host->acting.disarm();
            host->act(HostAct::destroy);
            s.settle();
            REQUIRE(callback < 200);
        }
        CHECK(callback > 3);
    }
}

}  // namespace k8s_sd::test
