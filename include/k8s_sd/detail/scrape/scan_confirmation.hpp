#pragma once

#include "k8s_sd/detail/scrape/config_scan.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The calls of check(), and their answers.
class ScanRequests {
 public:
    /// Any thread. \returns the number of the call
    std::uint64_t ask() { return ++asked_; }

    // On the strand.
    void receive(std::uint64_t number) { received_ = std::max(received_, number); }
    void begin_scan() noexcept { of_scan_ = received_; }
    /// The calls received before the current scan.
    std::uint64_t of_scan() const noexcept { return of_scan_; }
    void answer(std::uint64_t number) noexcept { answered_ = number; }
    std::uint64_t answered() const noexcept { return answered_; }
    bool pending() const noexcept { return received_ > answered_; }

 private:
    std::atomic<std::uint64_t> asked_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t of_scan_ = 0;
    std::uint64_t answered_ = 0;
};

/// An update that would take something from the host waits here until a later scan has found the
/// same bytes. No I/O.
class ScanConfirmation {
 public:
    /// \param interval  between two scans; zero: only check() scans
    explicit ScanConfirmation(Duration interval) : interval_(interval) {}

    /// \param began   the start of the scan
    /// \param urgent  the host waits for the update
    void hold(ConfigScan scan, TimePoint began, bool urgent) {
        held_ = std::move(scan);
        due_ = began + delay(urgent);
    }
    /// The files of the update that waits; null: none waits.
    std::shared_ptr<const ConfigFiles> files() const { return held_ ? held_->files : nullptr; }
    bool pending() const noexcept { return held_.has_value(); }
    /// A scan started then, or later, confirms the update.
    TimePoint due() const noexcept { return due_; }
    /// Another scan has found the same bytes.
    /// \param began  the start of that scan
    /// \returns the confirmed update; nullopt: it began too early
    std::optional<ConfigScan> confirm(TimePoint began, bool urgent) {
        if (began >= due_) return std::exchange(held_, std::nullopt);
        due_ = std::min(due_, began + delay(urgent));
        return std::nullopt;
    }
    void reset() noexcept { held_.reset(); }

 private:
    Duration delay(bool urgent) const {
        if (interval_ <= Duration{}) return urgent_delay;
        return urgent ? std::min<Duration>(interval_, urgent_delay) : interval_;
    }

    static constexpr std::chrono::seconds urgent_delay{1};

    const Duration interval_;
    std::optional<ConfigScan> held_;
    TimePoint due_{};
};

}  // namespace k8s_sd::inline v0::detail
