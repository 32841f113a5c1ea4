#pragma once

#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The URLWatchers of one scope, by kind and namespace. Strand-confined, except for status().
/// What one of them reports costs the same however many there are.
///
/// Many namespaces are watched together (WatchOptions::cluster_wide_from) until the server refuses
/// that; from then on each has a watcher of its own, which begins with the objects that are known.
class WatchSet {
 public:
    using Kinds = std::vector<Kind>;

    /// Who is told of the objects of all watchers. Called on the strand.
    class Observer {
     public:
        /// See WatchObserver.
        virtual void on_change(const ObjectChange&) = 0;
        /// All changes that arrived together were reported; it may be that kinds are synced now.
        virtual void on_batch_end() = 0;

     protected:
        ~Observer() = default;
    };

    /// All watchers make their objects with `maker`.
    WatchSet(const asio::any_io_executor& strand, WatchScope scope, const Environment& environment,
             std::shared_ptr<ObjectMaker> maker, Observer& observer);
    WatchSet(const WatchSet&) = delete;
    WatchSet& operator=(const WatchSet&) = delete;
    ~WatchSet();

    /// Starts the watchers of kinds that are not watched yet.
    void start(const Kinds&);
    void stop_all_but(const Kinds&);
    /// Whether all of these have been listed completely.
    bool synced(const Kinds&) const;
    /// The object of that name, or null. `ns` does not matter for kinds without namespaces.
    const Object* find(Kind, std::string_view ns, std::string_view name) const;
    void for_each(Kind, const std::function<void(const ObjectPtr&)>&) const;

    /// Of the watchers of these kinds. Any thread.
    std::vector<WatchStatus> status(const Kinds&) const;

 private:
    class Watch;
    /// By namespace; one with the key "" where all namespaces are watched together.
    using Watches = std::map<std::string, std::unique_ptr<Watch>, std::less<>>;
    struct OfKind {
        Watches watches;           ///< changed on the strand only, under the mutex
        std::size_t unsynced = 0;  ///< of them
        bool refused = false;      ///< the server lets nobody watch all namespaces together
    };

    void start(Kind);
    std::vector<std::string> namespaces_to_watch(Kind) const;
    bool has_namespace(std::string_view) const;
    Watches make_watches(Kind, const std::vector<std::string>& namespaces);
    void run(Kind, Watches, std::size_t unsynced);
    void split(Watch&, error_code);
    OfKind& of(Kind kind) { return kinds_[static_cast<std::size_t>(kind)]; }
    const OfKind& of(Kind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }

    const WatchScope scope_;
    const std::shared_ptr<ApiClient> client_;
    const std::shared_ptr<ObjectMaker> maker_;
    Observer& observer_;
    mutable std::mutex mutex_;
    std::array<OfKind, kind_count> kinds_;
};

}  // namespace k8s_sd::inline v0::detail
