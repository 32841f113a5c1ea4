#pragma once

#include "event.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"

#include <boost/json/value.hpp>
#include <map>
#include <memory>
#include <vector>

namespace k8s_sd_c {

/// Changed objects of any kind.
class ObjectEvent final : public Event {
 public:
    ObjectEvent(WatchIdentity watch, const k8s_sd::ObjectDiff<k8s_sd::Generic>& diff);

    std::size_t size() const noexcept override { return changes_.size(); }
    k8s_sd_op op(std::size_t change) const override { return changes_[change].op; }
    std::string_view key(std::size_t change) override;
    std::size_t pairs(std::size_t change, std::int64_t set, std::span<k8s_sd_pair>) const override;
    std::optional<std::string_view> value(std::size_t change, std::int64_t set,
                                          std::string_view name) const override;
    std::optional<std::string_view> field(std::size_t change, std::string_view pointer) override;

 private:
    using ObjectPtr = std::shared_ptr<const k8s_sd::Generic>;
    struct Change {
        k8s_sd_op op;
        ObjectPtr object;
    };

    void write_change(JsonWriter&, std::size_t change) override;
    const k8s_sd::api::StringMap* map(std::size_t change, std::int64_t set) const;
    const boost::json::value& metadata(std::size_t change);

    std::vector<Change> changes_;
    std::map<std::size_t, boost::json::value> metadata_;  ///< made when the host asks for it
};

}  // namespace k8s_sd_c
