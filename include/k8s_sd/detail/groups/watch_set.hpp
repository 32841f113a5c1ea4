#pragma once

#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The URLWatchers of one scope, by kind and namespace. Strand-confined, except for status().
class WatchSet {
 public:
    using Kinds = std::vector<Kind>;

    /// All watchers report to `observer` and make their objects with `maker`.
    WatchSet(const asio::any_io_executor& strand, WatchScope scope, const Environment& environment,
             std::shared_ptr<ObjectMaker> maker, WatchObserver& observer);

    /// Starts the watchers of kinds that are not watched yet.
    void start(const Kinds&);
    void stop_all_but(const Kinds&);
    /// Whether all of these have been listed completely.
    bool synced(const Kinds&) const;
    /// The object of that name, or null. `ns` does not matter for kinds without namespaces.
    const Object* find(Kind, std::string_view ns, std::string_view name) const;
    void for_each(Kind, const std::function<void(const ObjectPtr&)>&) const;

    /// Makes the present status that of status().
    void publish_status();
    /// The same for what changes with every event: copies no texts.
    void publish_counts();
    /// As it was published last, of these kinds. Any thread.
    std::vector<WatchStatus> status(const Kinds&) const;

 private:
    /// By namespace; one with the key "" where all namespaces are watched together.
    using Watchers = std::map<std::string, std::unique_ptr<URLWatcher>, std::less<>>;

    void start(Kind);
    bool synced(Kind) const;
    Watchers& of(Kind kind) { return watchers_[static_cast<std::size_t>(kind)]; }
    const Watchers& of(Kind kind) const { return watchers_[static_cast<std::size_t>(kind)]; }

    const WatchScope scope_;
    const std::shared_ptr<ApiClient> client_;
    const std::shared_ptr<ObjectMaker> maker_;
    WatchObserver& observer_;
    std::array<Watchers, kind_count> watchers_;

    mutable std::mutex status_mutex_;
    std::vector<WatchStatus> status_;
};

}  // namespace k8s_sd::inline v0::detail
