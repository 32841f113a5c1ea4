#pragma once

#include "event.hpp"

#include <string>
#include <utility>

namespace k8s_sd_c {

/// What the host learns about a watch, or about a job.
struct ReportedStatus {
    bool synced = false;
    std::string message{};
    bool operator==(const ReportedStatus&) const = default;
};

/// The latest status of a watch, or of one of its jobs.
class StatusEvent final : public Event {
 public:
    StatusEvent(WatchIdentity watch, ReportedStatus status, std::string job = {})
        : Event(K8S_SD_STATUS, watch, false), status_(std::move(status)), job_(std::move(job)) {}

    bool synced() const noexcept override { return status_.synced; }
    std::string_view message() const noexcept override { return status_.message; }
    std::string_view job() const noexcept override { return job_; }

 private:
    void write_members(JsonWriter& out) override {
        if (!job_.empty()) out.member("job", job_);
        out.member("synced", status_.synced).member("message", status_.message);
    }

    const ReportedStatus status_;
    const std::string job_;
};

}  // namespace k8s_sd_c
