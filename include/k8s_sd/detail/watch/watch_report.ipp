#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/watch/resource_version.hpp"
#include "k8s_sd/detail/watch/watch_report.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"

namespace k8s_sd::inline v0::detail {

WatchReport::WatchReport(const WatchQuery& query, const std::string& server,
                         Metrics::PerKind& metrics, const Logger& logger, TimePoint now)
    : query_(query), server_(server), metrics_(metrics), logger_(logger) {
    status_.kind = query.kind;
    status_.ns = query.ns;
    status_.since = now;
    add(metrics_.watchers, 1);
}

void WatchReport::on_change(const ObjectChange& change) {
    add(!change.before ? metrics_.added : !change.after ? metrics_.removed : metrics_.updated);
    count_objects((change.after ? 1 : 0) - (change.before ? 1 : 0));
}

void WatchReport::on_bad_object(std::string_view ns, std::string_view name,
                                const Failure& failure) {
    add(metrics_.bad_objects);
    if (bad_objects_++ > 0) return;
    log(LogLevel::warning, "skipped the object " +
                               printable(std::string(ns) + "/" + std::string(name)) + ": " +
                               failure.ec.message() + ": " + printable(failure.message));
}

void WatchReport::on_page(std::string_view version, std::string_view known) const {
    if (!is_older_version(version, known)) return;
    log(LogLevel::warning, "the list is older than what was seen before (" + printable(version) +
                               " after " + printable(known) +
                               "); was the cluster restored, or is it another one?");
}

bool WatchReport::on_list(TimePoint now) {
    add(metrics_.lists);
    return !failed_watching_ && recover(now);
}

bool WatchReport::on_synced() {
    if (status_.synced) return false;
    status_.synced = true;
    add(metrics_.synced_watchers, 1);
    log(LogLevel::info, "listed " + std::to_string(status_.objects) + " objects");
    return true;
}

void WatchReport::note(const Failure& failure) {
    add(failure_counter(metrics_, failure.ec));
    if (!failure.message.empty()) log(LogLevel::debug, failure.message);
}

void WatchReport::fail(const Failure& failure, bool watching, TimePoint now) {
    add(failure_counter(metrics_, failure.ec));
    ++status_.failures;
    failed_watching_ = watching;
    const bool changed = status_.error != failure.ec;
    status_.error = failure.ec;
    status_.message = url() + ": " + failure.message;
    if (changed) {
        status_.since = now;
        log(LogLevel::warning, failure.message);
    }
}

bool WatchReport::recover(TimePoint now) {
    status_.failures = 0;
    if (!status_.error) return false;
    status_.error = {};
    status_.message.clear();
    status_.since = now;
    log(LogLevel::warning, "works again");
    return true;
}

void WatchReport::end() noexcept {
    add(metrics_.watchers, -1);
    add(metrics_.objects, -static_cast<std::int64_t>(status_.objects));
    if (status_.synced) add(metrics_.synced_watchers, -1);
}

void WatchReport::count_objects(int delta) {
    status_.objects += static_cast<std::size_t>(delta);
    add(metrics_.objects, delta);
}

std::string WatchReport::url() const { return server_ + collection_target(query_); }

void WatchReport::log(LogLevel level, const std::string& text) const {
    if (logger_.enabled(level)) logger_.log(level, url() + ": " + text);
}

}  // namespace k8s_sd::inline v0::detail
