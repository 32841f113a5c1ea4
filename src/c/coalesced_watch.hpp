#pragma once

#include "k8s_sd/error.hpp"
#include "status_event.hpp"
#include "watch.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace k8s_sd_c {

/// The watch of a Discoverer or a Watcher: reads the next diff once the host has taken the event of
/// the previous one. Until then `Source` coalesces changes.
template <class Source, class Config, class EventOfDiff>
class CoalescedWatch final : public Watch {
 public:
    CoalescedWatch(const Host& host, WatchIdentity identity, Config config)
        : Watch(host, identity),
          config_(std::move(config)),
          source_(std::make_shared<Source>(host.io.get_executor(), config_)) {}

    void start() override {
        changes_ = reading_slot(*this);
        begin();
    }
    void cancel() noexcept override {
        if (const auto source = this->source()) source->cancel();
    }
    void forget() noexcept override {
        cancel();
        set_source(nullptr);
    }
    void begin_again() override {
        set_source(std::make_shared<Source>(host().io.get_executor(), config_));
        begin();
    }
    /// Starts to read the next diff, unless it is being read.
    void read() {
        const auto source = this->source();
        if (reading_ || !source) return;
        reading_ = true;
        source->async_next(
            [weak = weak_of(*this), number = source_number_](k8s_sd::error_code ec, auto diff) {
                const auto self = weak.lock();
                if (!ec && self && self->source_number_ == number) self->on_diff(std::move(diff));
            });
    }
    void write_status(JsonWriter& out, std::vector<k8s_sd::WatchStatus>& urls) const override {
        const auto source = this->source();
        const auto status = source ? source->status() : k8s_sd::DiscovererStatus();
        k8s_sd_c::write_status(out, status);
        urls.insert(urls.end(), status.watches.begin(), status.watches.end());
    }

 private:
    std::shared_ptr<Source> source() const {
        const std::lock_guard lock(mutex_);
        return source_;
    }
    void set_source(std::shared_ptr<Source> source) noexcept {
        const std::lock_guard lock(mutex_);
        source_.swap(source);  // destroys the previous one without the mutex
    }
    void begin() {
        ++source_number_;
        reading_ = false;
        source()->set_status_callback([weak = weak_of(*this), number = source_number_](
                                          const k8s_sd::DiscovererStatus& status) {
            const auto self = weak.lock();
            if (self && self->source_number_ == number) self->on_status(status);
        });
        read();
    }
    template <class Diff>
    void on_diff(Diff diff) {
        reading_ = false;
        deliver(changes_, std::make_unique<EventOfDiff>(identity(), std::move(diff)));
    }
    void on_status(const k8s_sd::DiscovererStatus& status) {
        deliver(status_, std::make_unique<StatusEvent>(
                             identity(), ReportedStatus{status.synced, status.message}));
    }

    const Config config_;
    mutable std::mutex mutex_;
    std::shared_ptr<Source> source_;  ///< protected by the mutex; null: forgotten
    // Used in the context only, and by start().
    std::uint64_t source_number_ = 0;  ///< counts the sources
    bool reading_ = false;
    std::shared_ptr<Slot> changes_;
    const std::shared_ptr<Slot> status_ = std::make_shared<Slot>();
};

}  // namespace k8s_sd_c
