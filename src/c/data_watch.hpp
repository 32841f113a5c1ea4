#pragma once

#include "k8s_sd/cache/object_cache.hpp"
#include "status_event.hpp"
#include "watch.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd_c {

/// The watch of one Secret or ConfigMap.
class DataWatch final : public Watch {
 public:
    /// \throws ConfigError for an invalid namespace or name
    DataWatch(const Host&, WatchIdentity, const k8s_sd::ObjectCacheConfig&, std::string ns,
              std::string name);

    void start() override;
    /// Delivers the latest state if it differs from the delivered one. Called in the context.
    void read();
    void cancel() noexcept override;
    void forget() noexcept override;
    void begin_again() override;
    bool checks_status() const noexcept override { return true; }
    void check_status() override;
    void write_status(JsonWriter&, std::vector<k8s_sd::WatchStatus>&) const override;

 private:
    /// A cache of one object.
    struct Cache {
        Cache(const asio::any_io_executor& executor, const k8s_sd::ObjectCacheConfig& config)
            : objects(executor, config) {}
        k8s_sd::ObjectCache objects;
        k8s_sd::ObjectCache::Subscription subscription{};
    };

    std::shared_ptr<Cache> cache() const;
    void set_cache(std::shared_ptr<Cache>) noexcept;
    void subscribe();
    void on_object(const k8s_sd::ObjectPtr&);
    std::optional<k8s_sd::CachedObjectStatus> object_status() const;

    const k8s_sd::ObjectCacheConfig config_;
    const std::string ns_;
    const std::string name_;
    mutable std::mutex mutex_;
    std::shared_ptr<Cache> cache_;  ///< protected by the mutex; null: forgotten
    std::shared_ptr<Slot> changes_;
    const std::shared_ptr<Slot> status_slot_ = std::make_shared<Slot>();
    // Used in the context only. Null: there is no such object.
    std::optional<k8s_sd::ObjectPtr> delivered_;  ///< nullopt: nothing
    std::optional<k8s_sd::ObjectPtr> latest_;     ///< nullopt: unknown
    bool waiting_ = false;                        ///< an event is in the queue
    ReportedStatus reported_;
};

}  // namespace k8s_sd_c
