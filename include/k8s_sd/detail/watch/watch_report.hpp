#pragma once

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/watch/failure.hpp"
#include "k8s_sd/logger.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/object.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/watch_query.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// What a watch tells the outside: its status, its metrics and its few log lines. Functions that
/// return bool say whether the status has changed in more than the number of objects and what it
/// waits for.
class WatchReport {
 public:
    /// Takes out of a text what the server may have copied from our credentials.
    using Redact = std::function<std::string(std::string)>;

    /// All but `now` must outlive the report.
    /// \param server  the URL, for messages
    WatchReport(const WatchQuery&, const std::string& server, Metrics::PerKind&, const Logger&,
                Redact redact, TimePoint now);

    /// Of requests.
    const WatchStatus& status() const noexcept { return status_; }
    /// The same, or if they have no error, that of objects whose present state is unknown.
    WatchStatus whole_status() const;

    // What is done.
    void wait(Waiting, TimePoint now, std::optional<Duration> pause = {});
    void begin_list(ListReason, TimePoint now) noexcept;
    void begin_probe() { add(metrics_.probes); }
    /// Lists take the place of watches; said once until a watch works.
    void begin_poll(Duration interval);

    /// The server has the kind in this version of its API; empty: the present one.
    void begin_api_version(std::string_view version);

    // What comes.
    void on_watch() { add(metrics_.watches); }
    void on_bytes(std::size_t count, TimePoint now);
    void on_event(TimePoint now);
    void on_bookmark(TimePoint now);
    void on_change(const ObjectChange&);
    /// An object was dropped because nobody wants it.
    void on_forgotten() { count_objects(-1); }
    /// An object of another watch was taken over.
    void on_adopted() { count_objects(1); }
    /// The first of them has a log line, until the next list begins.
    /// \param hides_state  an error of whole_status() until the object can be read or is gone
    void on_bad_object(const BadObject&, bool hides_state);
    /// The object was read, or is gone.
    void on_read(std::string_view ns, std::string_view name) {
        if (!unread_.empty()) forget_unread(ns, name);
    }
    bool is_unread(std::string_view ns, std::string_view name) const;
    /// Whether that has changed whole_status() since the last call.
    bool take_unread_change() noexcept { return std::exchange(unread_changed_, false); }
    /// The server's version is older than the one that is known.
    void on_version_regression(std::string_view version, std::string_view known);
    /// Of the list that is under way.
    ListReason list_reason() const noexcept { return list_reason_; }
    /// Plain JSON is asked for from now on, because of the failure.
    void on_other_encoding(const Failure&);
    /// The server has said or shown whether it sends the share only.
    void on_sharded(bool by_server) noexcept { status_.server_sharded = by_server; }
    /// A request came through without shardSelector, but not with it.
    void on_shard_selector_refused();
    /// A list is complete that needs confirmation.
    void on_shrunken_list(std::size_t lost, std::size_t known);
    /// A list is complete. The error of a watch stays until a watch works.
    /// \param streamed  it came as the first events of a watch
    bool on_list(TimePoint now, bool streamed = false);
    bool on_synced();
    void on_silence() { add(metrics_.silent_watches); }

    /// A failure that does not change the status.
    void note(const Failure&);
    /// Always a change of the status.
    void fail(const Failure&, bool watching, TimePoint now);
    /// What shows that the failure of the status is over.
    Proof over_with() const noexcept { return over_with_; }
    bool recover(TimePoint now);
    /// The watch is no more; its objects and itself are not counted any longer.
    void end() noexcept;

 private:
    static void add(Metrics::Counter& counter, std::uint64_t count = 1) {
        counter.fetch_add(count, std::memory_order_relaxed);
    }
    static void add(Metrics::Gauge& gauge, std::int64_t delta) {
        gauge.fetch_add(delta, std::memory_order_relaxed);
    }
    void count_objects(int delta);
    void add_unread(const std::string& key);
    void forget_unread(std::string_view ns, std::string_view name);
    std::string url() const;
    void log(LogLevel, const std::string& text, error_code error = {}) const;
    bool is_new_error(const error_code&);

    const WatchQuery& query_;
    const std::string& server_;
    Metrics::PerKind& metrics_;
    const Logger& logger_;
    const Redact redact_;
    WatchStatus status_;
    std::string api_version_;
    TimePoint list_began_{};
    ListReason list_reason_ = ListReason::first;
    std::uint64_t bad_objects_ = 0;
    /// The names of objects whose present state is unknown; "/" stands for those without one.
    std::set<std::string, std::less<>> unread_;
    std::set<std::string, std::less<>> unread_since_list_;  ///< the last one that has begun
    TimePoint unread_since_{};
    bool unread_changed_ = false;
    static constexpr std::size_t max_logged_errors = 8;
    std::vector<error_code> logged_;  ///< since the watch worked
    bool failed_watching_ = false;    ///< the error of the status is that of a watch
    Proof over_with_ = Proof::life;
    bool polling_ = false;
};

}  // namespace k8s_sd::inline v0::detail
