#pragma once

#include "event.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/objects/data_object.hpp"

#include <string>
#include <utility>

namespace k8s_sd_c {

/// The state of one Secret or ConfigMap.
class DataEvent final : public Event {
 public:
    /// \param object  null: there is none
    DataEvent(WatchIdentity watch, bool full, k8s_sd_op op, std::string key,
              k8s_sd::DataObjectPtr object)
        : Event(K8S_SD_OBJECT, watch, full),
          op_(op),
          key_(std::move(key)),
          object_(std::move(object)) {}

    std::size_t size() const noexcept override { return 1; }
    k8s_sd_op op(std::size_t) const override { return op_; }
    std::string_view key(std::size_t) override { return key_; }
    std::size_t pairs(std::size_t change, std::int64_t set, std::span<k8s_sd_pair>) const override;
    std::optional<std::string_view> value(std::size_t change, std::int64_t set,
                                          std::string_view name) const override;
    /// "/type" and "/immutable".
    std::optional<std::string_view> field(std::size_t change, std::string_view pointer) override;
    std::string_view json() override;

 private:
    void write_change(JsonWriter&, std::size_t change) override;
    std::size_t max_json_size() const;

    const k8s_sd_op op_;
    const std::string key_;
    const k8s_sd::DataObjectPtr object_;
    k8s_sd::detail::CleansedBytes json_;
};

}  // namespace k8s_sd_c
