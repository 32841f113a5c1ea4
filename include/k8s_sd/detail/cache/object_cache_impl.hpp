#pragma once

#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/detail/async/run_state.hpp"
#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/cache/cache_namespace.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/environment.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace k8s_sd::inline v0::detail {

/// The state behind an ObjectCache. It runs on its own strand; host callbacks run on another one.
class ObjectCacheImpl final : public RunState, public CacheNamespace::Observer, private ServerUser {
 public:
    using executor_type = asio::any_io_executor;
    using Handler = asio::any_completion_handler<void(error_code, ObjectPtr)>;
    using Follower = std::shared_ptr<CacheFollower>;

    ObjectCacheImpl(const executor_type& executor, const ObjectCacheConfig& config);

    // Any thread.
    /// \throws ConfigError
    void check_name(std::string_view ns, std::string_view name) const;
    void add_reference(std::string ns, std::string name);
    void remove_reference(std::string ns, std::string name);
    void read_again(std::string ns, std::string name);
    void get(std::string ns, std::string name, Handler);
    void follow(std::string ns, std::string name, Follower);
    void unfollow(std::string ns, std::string name, Follower);
    ObjectCacheStatus status() const;
    std::optional<CachedObjectStatus> status(std::string_view ns, std::string_view name) const;

 private:
    using Get = std::shared_ptr<CacheGet>;

    // Called by the namespaces, on the strand.
    void on_value(CacheEntry&) override;
    void on_denied(CacheEntry&) override;
    void on_dropped(CacheEntry&) override;
    void on_update_due(CacheNamespace&) override;
    // Called by the client, on the strand.
    void on_server_change() override;

    void on_ended() noexcept override;
    template <class Task>
    void on_strand(Task);
    std::weak_ptr<ObjectCacheImpl> weak() { return self_as(this); }
    CacheEntry* find(std::string_view ns, std::string_view name);
    void start(const Get&);
    void give_up(const Get&, error_code);
    static void answer(const CacheEntry&, const Get&);
    void notify(const Follower&, const ObjectPtr&);
    void forget(const Follower&);
    bool deliver_next(TimePoint) override;
    std::optional<TimePoint> next_due(TimePoint) override;
    Follower take_next(ObjectPtr& newest);
    void update();
    void wake_for_idle();
    void recheck_immutable();
    void stop();

    const asio::any_io_executor strand_;
    const Duration get_timeout_;
    const CacheNamespace::Settings settings_;

    // Changed on the strand only, and under the mutex.
    std::map<std::string, CacheNamespace, std::less<>> namespaces_;

    // Under the mutex.
    std::deque<Follower> queue_;  // followers with an undelivered value

    // On the strand.
    std::set<CacheNamespace*, std::less<>> changed_;
    PostedCall next_update_;
    bool idle_awake_ = false;
    std::unique_ptr<Timer> idle_timer_;
};

}  // namespace k8s_sd::inline v0::detail
