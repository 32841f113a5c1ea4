#pragma once

#include "k8s_sd/detail/base/optional_time.hpp"
#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/client/report_context.hpp"
#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/watch/failure.hpp"
#include "k8s_sd/detail/watch/watch_subject.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/logger.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/objects/object.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The names of the objects with an unknown state: present on the server, but unreadable.
class UnreadObjects {
 public:
    /// "namespace/name"
    static std::string key(std::string_view ns, std::string_view name) {
        return std::string(ns) + "/" + std::string(name);
    }
    /// Stands for all objects without a name.
    static std::string nameless() { return "/"; }

    void begin_list() noexcept {
        if (names_) names_->since_list.clear();
    }
    /// Only the objects added since begin_list() remain.
    void finish_list() {
        if (names_) names_->all = std::exchange(names_->since_list, {});
        drop_if_empty();
    }
    void add(const std::string& key, TimePoint now) {
        Names& names = names_.use();
        names.since_list.insert(key);
        if (names.all.empty()) names.since = now;
        if (names.all.insert(key).second) changed_ = true;
    }
    /// The object is readable again, or gone.
    void remove(std::string_view ns, std::string_view name) {
        if (names_) remove(key(ns, name));
    }
    bool contains(std::string_view ns, std::string_view name) const {
        return names_ && names_->all.contains(key(ns, name));
    }
    bool empty() const noexcept { return !names_ || names_->all.empty(); }
    /// Whether add() or remove() has changed the names since the last call.
    bool take_change() noexcept { return std::exchange(changed_, false); }

    // These require that there is an object.

    /// When the first of them was added.
    TimePoint since() const noexcept { return names_->since; }
    error_code error() const { return is_nameless() ? errc::bad_object : errc::object_too_large; }
    /// One of them, and the number of the others.
    std::string text() const {
        std::string one = is_nameless() ? "one without a name" : printable(*names_->all.begin());
        if (names_->all.size() == 1) return one;
        return one + " and " + std::to_string(names_->all.size() - 1) + " more";
    }

 private:
    struct Names {
        std::set<std::string, std::less<>> all;
        std::set<std::string, std::less<>> since_list;  ///< added since the start of the last list
        TimePoint since{};
    };

    void remove(const std::string& key) {
        names_->since_list.erase(key);
        if (names_->all.erase(key) > 0) changed_ = true;
        drop_if_empty();
    }
    void drop_if_empty() {
        if (names_ && names_->all.empty() && names_->since_list.empty()) names_.reset();
    }
    bool is_nameless() const { return *names_->all.begin() == nameless(); }

    Rare<Names> names_;
    bool changed_ = false;
};

/// The status of the requests of a watch that works: WatchStatus without the texts that others
/// know. There may be thousands of watches, so it is small.
struct RequestStatus {
    bool synced = false;
    Waiting waiting = Waiting::nothing;
    std::uint8_t http_version = 0;
    std::optional<bool> server_sharded{};
    TimePoint since{};
    TimePoint waiting_since{};
    Rare<Duration> pause{};
    OptionalTime last_byte{}, last_event{}, last_bookmark{}, last_list{};
    /// The lists so far.
    struct Lists {
        using Counts = std::array<std::uint32_t, list_reason_count>;

        void count(ListReason reason) {
            if (reason == ListReason::first) {
                ++first;
            } else {
                ++others.use()[static_cast<std::size_t>(reason)];
            }
        }
        Counts counts() const {
            Counts all = others ? *others : Counts{};
            all[static_cast<std::size_t>(ListReason::first)] = first;
            return all;
        }

        Duration duration{};  ///< of the last one
        std::uint32_t first = 0;
        std::uint32_t streamed = 0;
        Rare<Counts> others{};  ///< by reasons other than ListReason::first
    } lists{};
    std::size_t objects = 0;
};

/// Reports a watch: its status, metrics and log lines. Functions with a bool result return whether
/// the status has changed in more than the object count and the waiting state.
class WatchReport {
 public:
    /// Both must outlive the report.
    WatchReport(const WatchSubject&, const ReportContext&, TimePoint now);

    /// The status of the requests, but for their error.
    const RequestStatus& status() const noexcept { return status_; }
    /// The error of the requests; empty: they work.
    error_code error() const noexcept { return trouble_ ? trouble_->error : error_code(); }
    /// The same for hosts, without the version; without a request error, the error of objects with
    /// unknown state.
    WatchStatus whole_status() const;

    // Actions.
    void wait(Waiting, TimePoint now, std::optional<Duration> pause = {});
    void begin_list(ListReason, TimePoint now) noexcept;
    /// Polling replaces watches; logged once until a watch works.
    void begin_poll(Duration interval);

    /// The API version of the kind on this server; empty: the current one.
    void begin_api_version(std::string_view version);

    // Incoming data.
    void on_watch();
    /// A probe has ended. One that waits for the end of a pause is sent later.
    void on_probe() { add(metrics().probes); }
    /// The server has answered a request.
    void on_head(bool http2) noexcept { status_.http_version = http2 ? 2U : 1U; }
    void on_bytes(std::size_t count, TimePoint now);
    void on_event(TimePoint now);
    void on_bookmark(TimePoint now);
    void on_change(const ObjectChange&);
    /// An object was dropped because no view selects it any longer.
    void on_forgotten() { count_objects(-1); }
    /// An object was adopted from another watch.
    void on_adopted() { count_objects(1); }
    /// Logs the first unreadable object of each list.
    /// \param hides_state  an error of whole_status() until the object is readable or gone
    void on_bad_object(const BadObject&, bool hides_state);
    /// The object is readable again, or gone.
    void on_read(std::string_view ns, std::string_view name) { unread_.remove(ns, name); }
    bool is_unread(std::string_view ns, std::string_view name) const {
        return unread_.contains(ns, name);
    }
    /// Whether unread objects have changed whole_status() since the last call.
    bool take_unread_change() noexcept { return unread_.take_change(); }
    /// The server's version is older than the known one.
    void on_version_regression(std::string_view version, std::string_view known);
    /// The reason for the current list.
    ListReason list_reason() const noexcept { return list_reason_; }
    /// The failure makes the watcher fall back to plain JSON.
    void on_other_encoding(const Failure&);
    /// The server has confirmed or disproved server-side filtering.
    void on_sharded(bool by_server) noexcept { status_.server_sharded = by_server; }
    /// A request succeeded only without shardSelector.
    void on_shard_selector_refused();
    /// A request succeeded only without the parameter for objects without managedFields.
    void on_drop_refused();
    /// A complete list was requested without managedFields.
    /// \param with  it has them all the same
    void on_managed_fields(bool with);
    /// A complete list is suspicious and needs confirmation.
    void on_suspicious_list(std::size_t lost, std::size_t known);
    /// A list is complete. The error of a watch persists until a watch works.
    /// \param streamed  the list was the initial events of a watch
    bool on_list(TimePoint now, bool streamed = false);
    bool on_synced();
    void on_silence() { add(metrics().silent_watches); }

    /// The server has just started and cannot answer yet.
    /// \returns whether this is no failure so far: it has lasted for less than a minute
    bool on_starting(TimePoint now);
    /// Counts a failure without a change of the status.
    void note(const Failure&);
    /// Sets the error of the status, always a change of it.
    void fail(const Failure&, bool watching, TimePoint now);
    /// The evidence required to clear the current failure.
    Proof over_with() const noexcept { return trouble_ ? trouble_->past.over_with() : Proof::life; }
    bool recover(TimePoint now);
    /// The watch has ended: removes it and its objects from the metrics.
    void end() noexcept;

 private:
    /// The failures since the requests last worked.
    struct Trouble {
        error_code error;  ///< the last one
        std::string message;
        unsigned failures = 0;
        PastFailures past;
    };

    Metrics::PerKind& metrics() const { return context_.metrics.of(subject_.kind()); }
    static void add(Metrics::Counter& counter, std::uint64_t count = 1) {
        counter.fetch_add(count, std::memory_order_relaxed);
    }
    static void add(Metrics::Gauge& gauge, std::int64_t delta) {
        gauge.fetch_add(delta, std::memory_order_relaxed);
    }
    void count_objects(int delta);
    std::string url() const;
    void log(LogLevel, LogEvent, const std::string& text, error_code error = {}) const;

    const WatchSubject& subject_;
    const ReportContext& context_;
    RequestStatus status_;
    RareText api_version_;
    TimePoint list_began_{};
    UnreadObjects unread_;
    Rare<Trouble> trouble_;        ///< null: requests work
    OptionalTime starting_since_;  ///< see on_starting()
    ListReason list_reason_ = ListReason::first;
    bool has_bad_objects_ = false;  ///< in the current list
    bool polling_ = false;
};

}  // namespace k8s_sd::inline v0::detail
