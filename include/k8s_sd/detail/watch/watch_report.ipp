#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/watch/watch_report.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

WatchReport::WatchReport(const WatchSubject& subject, const ReportContext& context, TimePoint now)
    : subject_(subject), context_(context) {
    status_.since = now;
    add(metrics().watchers, 1);
}

// --- actions ------------------------------------------------------------------------------------

void WatchReport::wait(Waiting waiting, TimePoint now, std::optional<Duration> pause) {
    status_.waiting = waiting;
    status_.waiting_since = now;
    status_.pause.reset();
    if (pause) status_.pause = *pause;
}

void WatchReport::begin_list(ListReason reason, TimePoint now) noexcept {
    has_bad_objects_ = false;
    unread_.begin_list();
    list_reason_ = reason;
    list_began_ = now;
}

void WatchReport::begin_poll(Duration interval) {
    if (std::exchange(polling_, true)) return;
    log(LogLevel::warning, LogEvent::watch_refused,
        "cannot be watched; lists it every " + seconds_text(interval) +
            " instead, and tries to watch each time");
}

void WatchReport::begin_api_version(std::string_view version) {
    api_version_ = version;
    log(LogLevel::warning, LogEvent::api_version_changed,
        version.empty()
            ? "the server has the current version of this API, which replaces the older one"
            : "the server is old: it has this API in " + api_version_.text() +
                  " only, which is used until there is a newer one");
}

// --- incoming data ------------------------------------------------------------------------------

void WatchReport::on_watch() {
    add(metrics().watches);
    starting_since_.reset();
}

void WatchReport::on_bytes(std::size_t count, TimePoint now) {
    add(metrics().bytes_received, count);
    status_.last_byte = now;
}

void WatchReport::on_event(TimePoint now) {
    add(metrics().events);
    status_.last_event = now;
}

void WatchReport::on_bookmark(TimePoint now) {
    add(metrics().bookmarks);
    status_.last_bookmark = now;
}

void WatchReport::on_change(const ObjectChange& change) {
    add(!change.before ? metrics().added : !change.after ? metrics().removed : metrics().updated);
    count_objects((change.after ? 1 : 0) - (change.before ? 1 : 0));
}

void WatchReport::on_bad_object(const BadObject& bad, bool hides_state) {
    add(metrics().bad_objects);
    const std::string key = UnreadObjects::key(bad.ns, bad.name);
    if (hides_state) {
        unread_.add(is_identified(bad, subject_.kind()) ? key : UnreadObjects::nameless(),
                    status_.last_byte.value_or(TimePoint()));
    }
    if (std::exchange(has_bad_objects_, true)) return;
    log(LogLevel::warning, LogEvent::object_skipped,
        "skipped the object " + printable(key) + ": " + bad.ec.message() + ": " +
            printable(bad.problem),
        bad.ec);
}

WatchStatus WatchReport::whole_status() const {
    WatchStatus status;
    status.kind = subject_.kind();
    status.ns = subject_.ns();
    status.synced = status_.synced;
    if (trouble_) {
        status.error = trouble_->error;
        status.message = trouble_->message;
        status.foreign_response = trouble_->past.last_is_foreign();
        status.failures = trouble_->failures;
    }
    status.since = status_.since;
    status.objects = status_.objects;
    status.waiting = status_.waiting;
    status.waiting_since = status_.waiting_since;
    if (status_.pause) status.pause = *status_.pause;
    status.last_byte = status_.last_byte;
    status.last_event = status_.last_event;
    status.last_bookmark = status_.last_bookmark;
    status.last_list = status_.last_list;
    const RequestStatus::Lists& lists = status_.lists;
    status.list_duration = lists.duration;
    const RequestStatus::Lists::Counts counts = lists.counts();
    std::copy(counts.begin(), counts.end(), status.lists.begin());
    status.streamed_lists = lists.streamed;
    status.http_version = status_.http_version;
    status.server_sharded = status_.server_sharded;
    status.server = context_.server;
    if (status.error || unread_.empty()) return status;
    status.error = unread_.error();
    status.message = context_.redact(url() + ": " + status.error.message() + ": " + unread_.text() +
                                     "; the last known state stays until the object is deleted");
    status.since = unread_.since();
    return status;
}

void WatchReport::on_version_regression(std::string_view version, std::string_view known) {
    add(metrics().version_regressions);
    log(LogLevel::warning, LogEvent::version_regressed,
        "the server's version went back from " + printable(known) + " to " + printable(version) +
            ": it was restored from a backup, or is another server; its present state counts");
}

void WatchReport::on_other_encoding(const Failure& failure) {
    add(metrics().json_fallbacks);
    log(LogLevel::warning, LogEvent::encoding_refused,
        "is not served in the requested encoding; plain JSON is used instead: " + failure.message,
        failure.ec);
}

void WatchReport::on_shard_selector_refused() {
    log(LogLevel::warning, LogEvent::parameter_refused,
        "the server refuses the parameter shardSelector; it sends everything, and objects outside "
        "the share are dropped here");
}

void WatchReport::on_drop_refused() {
    log(LogLevel::info, LogEvent::parameter_refused,
        "the server refuses the parameter drop of the header Accept; it sends managedFields");
}

void WatchReport::on_managed_fields(bool with) {
    add(with ? metrics().lists_with_managed_fields : metrics().lists_without_managed_fields);
}

void WatchReport::on_suspicious_list(std::size_t lost, std::size_t known) {
    add(metrics().suspicious_lists);
    log(LogLevel::warning, LogEvent::list_suspicious,
        "a list lacks " + std::to_string(lost) + " of " + std::to_string(known) +
            " objects; a second one has to confirm that before they are "
            "removed");
}

bool WatchReport::on_list(TimePoint now, bool streamed) {
    status_.lists.count(list_reason_);  // before all else, because it may allocate
    add(metrics().lists);
    if (streamed) {
        add(metrics().streamed_lists);
        ++status_.lists.streamed;
    }
    if (status_.synced) add(metrics().relists);
    if (list_reason_ == ListReason::polling) add(metrics().polls);
    const Duration took = now - list_began_;
    add(metrics().list_milliseconds,
        static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
    unread_.finish_list();
    starting_since_.reset();
    status_.lists.duration = took;
    status_.last_list = now;
    const bool of_watch = trouble_ && trouble_->past.of_watch();
    return !of_watch && recover(now);
}

bool WatchReport::on_synced() {
    if (status_.synced) return false;
    // Before all else: if it throws, as without memory, the next list is the first one.
    log(LogLevel::info, LogEvent::list_complete,
        "listed " + std::to_string(status_.objects) + " objects" +
            (status_.lists.streamed > 0 ? " with a watch" : ""));
    status_.synced = true;
    add(metrics().synced_watchers, 1);
    return true;
}

// --- failures -----------------------------------------------------------------------------------

bool WatchReport::on_starting(TimePoint now) {
    if (!starting_since_) {
        starting_since_ = now;
        log(LogLevel::info, LogEvent::server_starting,
            "the server has just started and fills its caches; waiting for it");
    }
    return now - *starting_since_ < std::chrono::minutes(1);
}

void WatchReport::note(const Failure& failure) {
    add(failure_counter(metrics(), failure.ec));
    if (!failure.message.empty())
        log(LogLevel::debug, LogEvent::watch_interrupted, failure.message, failure.ec);
}

void WatchReport::fail(const Failure& failure, bool watching, TimePoint now) {
    add(failure_counter(metrics(), failure.ec));
    if (!trouble_) add(metrics().failing_watchers, 1);
    Trouble& trouble = trouble_.use();
    ++trouble.failures;
    const bool changed = trouble.error != failure.ec;
    trouble.error = failure.ec;
    trouble.message = context_.redact(url() + ": " + failure.message);
    if (changed) status_.since = now;
    if (trouble.past.add(failure, watching))
        log(LogLevel::warning, LogEvent::watch_failed, failure.message, failure.ec);
}

bool WatchReport::recover(TimePoint now) {
    polling_ = false;
    if (!trouble_) return false;
    trouble_.reset();
    add(metrics().failing_watchers, -1);
    status_.since = now;
    log(LogLevel::warning, LogEvent::watch_recovered, "works again");
    return true;
}

void WatchReport::end() noexcept {
    add(metrics().watchers, -1);
    add(metrics().objects, -static_cast<std::int64_t>(status_.objects));
    if (status_.synced) add(metrics().synced_watchers, -1);
    if (trouble_) add(metrics().failing_watchers, -1);
}

void WatchReport::count_objects(int delta) {
    status_.objects += static_cast<std::size_t>(delta);
    add(metrics().objects, delta);
}

/// Omits the share: its selector is long, and not part of every request.
std::string WatchReport::url() const {
    WatchQuery query = subject_.query();
    query.share = {};
    return context_.server + collection_target(query, api_version_);
}

void WatchReport::log(LogLevel level, LogEvent event, const std::string& text,
                      error_code error) const {
    const Logger& logger = context_.logger;
    if (!logger.enabled(level)) return;
    const std::string line = context_.redact(url() + ": " + text);
    logger.log({level, event, line, subject_.kind(), subject_.ns(), error});
}

}  // namespace k8s_sd::inline v0::detail
