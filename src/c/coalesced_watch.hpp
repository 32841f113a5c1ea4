#pragma once

#include "k8s_sd/error.hpp"
#include "status_event.hpp"
#include "watch.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace k8s_sd_c {

/// The watch of a Discoverer or a Watcher: reads the next diff once the host has taken the event of
/// the previous one. Until then `Source` coalesces changes.
template <class Source, class EventOfDiff>
class CoalescedWatch final : public Watch {
 public:
    /// \param config  of the source
    template <class Config>
    CoalescedWatch(const Host& host, WatchIdentity identity, const Config& config)
        : Watch(host, identity), source_(host.io.get_executor(), config) {}

    void start() override {
        changes_ = reading_slot(*this);
        const auto weak = weak_of(*this);
        source_.set_status_callback([weak](const k8s_sd::DiscovererStatus& status) {
            if (const auto self = weak.lock()) self->on_status(status);
        });
        read();
    }
    /// Starts to read the next diff.
    void read() {
        source_.async_next([weak = weak_of(*this)](k8s_sd::error_code ec, auto diff) {
            const auto self = weak.lock();
            if (!ec && self) self->on_diff(std::move(diff));
        });
    }
    void cancel() noexcept override { source_.cancel(); }
    void write_status(JsonWriter& out, std::vector<k8s_sd::WatchStatus>& urls) const override {
        const auto status = source_.status();
        k8s_sd_c::write_status(out, status);
        urls.insert(urls.end(), status.watches.begin(), status.watches.end());
    }

 private:
    template <class Diff>
    void on_diff(Diff diff) {
        deliver(changes_, std::make_unique<EventOfDiff>(identity(), std::move(diff)));
    }
    void on_status(const k8s_sd::DiscovererStatus& status) {
        deliver(status_, std::make_unique<StatusEvent>(identity(), status.synced, status.message));
    }

    Source source_;
    std::shared_ptr<Slot> changes_;
    const std::shared_ptr<Slot> status_ = std::make_shared<Slot>();
};

}  // namespace k8s_sd_c
