#pragma once

#include "k8s_sd/detail/watch/failure.hpp"
#include "k8s_sd/logger.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/object.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/watch_query.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// What a watch tells the outside: its status, its metrics and its few log lines. Functions that
/// return bool say whether the status has changed in more than the number of objects.
class WatchReport {
 public:
    /// All but `now` must outlive the report.
    /// \param server  the URL, for messages
    WatchReport(const WatchQuery&, const std::string& server, Metrics::PerKind&, const Logger&,
                TimePoint now);

    const WatchStatus& status() const noexcept { return status_; }

    // What comes.
    void begin_list() noexcept { bad_objects_ = 0; }
    void on_watch() { add(metrics_.watches); }
    void on_bytes(std::size_t count) { add(metrics_.bytes_received, count); }
    void on_event() { add(metrics_.events); }
    void on_bookmark() { add(metrics_.bookmarks); }
    void on_change(const ObjectChange&);
    /// An object was dropped because nobody wants it.
    void on_forgotten() { count_objects(-1); }
    /// An object of another watch was taken over.
    void on_adopted() { count_objects(1); }
    /// The first of them has a log line, until the next list begins.
    void on_bad_object(std::string_view ns, std::string_view name, const Failure&);
    /// A page of a list has come. \param known  the version seen last
    void on_page(std::string_view version, std::string_view known) const;
    /// A list is complete. The error of a watch stays until a watch works.
    bool on_list(TimePoint now);
    bool on_synced();

    /// A failure that does not change the status.
    void note(const Failure&);
    /// Always a change of the status.
    void fail(const Failure&, bool watching, TimePoint now);
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
    std::string url() const;
    void log(LogLevel, const std::string& text) const;

    const WatchQuery& query_;
    const std::string& server_;
    Metrics::PerKind& metrics_;
    const Logger& logger_;
    WatchStatus status_;
    std::uint64_t bad_objects_ = 0;
    bool failed_watching_ = false;  ///< the error of the status is that of a watch
};

}  // namespace k8s_sd::inline v0::detail
