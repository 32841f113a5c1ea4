#pragma once

#include "event.hpp"

#include <string>
#include <utility>

namespace k8s_sd_c {

/// The latest status of a watch.
class StatusEvent final : public Event {
 public:
    StatusEvent(WatchIdentity watch, bool synced, std::string message)
        : Event(K8S_SD_STATUS, watch, false), synced_(synced), message_(std::move(message)) {}

    bool synced() const noexcept override { return synced_; }
    std::string_view message() const noexcept override { return message_; }

 private:
    void write_members(JsonWriter& out) override {
        out.key("synced").boolean(synced_).member("message", message_);
    }

    const bool synced_;
    const std::string message_;
};

}  // namespace k8s_sd_c
