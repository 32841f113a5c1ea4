#pragma once

#include "k8s_sd/detail/groups/dependency_graph.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/detail/roles/generate.hpp"
#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// Confined to its strand, except status() and where noted.
class GroupWatcher::Impl final : private WatchObserver, private detail::Lookup {
 public:
    Impl(asio::any_io_executor ex, WatchScope key, const Environment& env);
    ~Impl();

    void subscribe(Role, std::weak_ptr<Subscriber>);
    void unsubscribe(Role, const std::weak_ptr<Subscriber>&);
    void deactivate_unused();
    std::vector<WatchStatus> status(Role) const;
    void for_each_group(Role, const std::function<void(const TargetGroupPtr&)>&) const;

    asio::any_io_executor strand;
    Environment environment;
    std::weak_ptr<GroupWatcher> owner;
    /// Subscribers on their way to the strand. Any thread.
    std::atomic<int> coming = 0;

 private:
    struct Entry;
    using Graph = detail::DependencyGraph<Entry>;

    /// A main object of a role, and the group made of it.
    struct Entry {
        ObjectPtr object;
        TargetGroupPtr group;
        std::unique_ptr<Graph::Dependencies> dependencies;  // null: none
        Role role;
        bool dirty = false;
        bool gone = false;
        bool replaced = false;  // by an object of the same name

        std::string_view ns() const noexcept { return object->ns(); }
        std::string_view name() const noexcept { return object->name(); }
    };

    struct RoleState {
        std::vector<std::weak_ptr<Subscriber>> subscribers;
        std::vector<Kind> needed;  // empty: the role is not active
        boost::unordered_flat_set<std::unique_ptr<Entry>, detail::KeyHash, detail::KeyEqual>
            entries;
        std::vector<Entry*> dirty;
        bool ready = false;
    };

    void on_change(const ObjectChange&) override;
    void on_synced() override {}
    void on_batch_end() override;
    void on_status() override;
    const Object* find(Kind, std::string_view ns, std::string_view name) override;

    RoleState& state_of(Role role) { return roles_[static_cast<std::size_t>(role)]; }
    const RoleState& state_of(Role role) const { return roles_[static_cast<std::size_t>(role)]; }
    void activate(Role);
    void deactivate(Role);
    void start_watchers(Kind);
    void stop_unneeded_watchers();
    bool synced(Kind) const;
    bool all_synced(const RoleState&) const;

    void warn_of_over_capacity(const ObjectChange&) const;
    void track(RoleState&, Role, const ObjectChange&);
    void mark(RoleState&, Entry&);
    void update();
    void update(Role);
    void regenerate(RoleState&, Entry&);
    TargetGroupPtr generate(Entry&);
    void notify(RoleState&, const GroupChange&);
    template <class Call>
    void for_each_subscriber(RoleState&, Call);
    void publish_status();
    void publish_counts();

    WatchScope key_;
    std::shared_ptr<ApiClient> client_;
    std::shared_ptr<detail::ObjectMaker> maker_;
    std::array<RoleState, role_names.size()> roles_;
    /// By namespace; one with the key "" where all namespaces are watched together.
    std::array<std::map<std::string, std::unique_ptr<URLWatcher>, std::less<>>, kind_count>
        watchers_;
    Graph graph_;
    Graph::Dependencies asked_;
    detail::GroupBuilder builder_;
    bool update_posted_ = false;

    mutable std::mutex status_mutex_;
    std::vector<WatchStatus> status_;
};

}  // namespace k8s_sd::inline v0
