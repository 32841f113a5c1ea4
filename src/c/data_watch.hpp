#pragma once

#include "k8s_sd/cache/object_cache.hpp"
#include "watch.hpp"

#include <memory>
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
    void cancel() noexcept override { cache_.cancel(); }
    void write_status(JsonWriter&, std::vector<k8s_sd::WatchStatus>&) const override;

 private:
    void on_object(const k8s_sd::ObjectPtr&);

    const std::string ns_;
    const std::string name_;
    k8s_sd::ObjectCache cache_;
    k8s_sd::ObjectCache::Subscription subscription_;
    std::shared_ptr<Slot> changes_;
    // Used in the context only. Null: there is no such object.
    std::optional<k8s_sd::ObjectPtr> delivered_;  ///< nullopt: nothing
    std::optional<k8s_sd::ObjectPtr> latest_;     ///< nullopt: unknown
    bool waiting_ = false;                        ///< an event is in the queue
};

}  // namespace k8s_sd_c
