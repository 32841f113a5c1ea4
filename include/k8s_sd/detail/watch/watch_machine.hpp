#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/watch/list_plan.hpp"
#include "k8s_sd/detail/watch/resource_version.hpp"
#include "k8s_sd/detail/watch/stream_record.hpp"
#include "k8s_sd/status.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

/// The list/watch protocol as a state machine: the owner performs a Step and reports its Outcome.
/// No I/O.
///
/// The machine lists until the list is complete, watches from its resource version, and reopens
/// each ended watch from the last version seen. If the server supports watch-lists (KEP-3157), the
/// list is streamed as the initial events of the watch, and on_list_streamed() replaces an outcome.
/// The machine lists again after an expired version, and after watches fail, end or stay silent
/// often enough for events to be lost. A Probe first checks the server's health, and its version
/// for a regression.
///
/// Bounds for any behavior of the server:
/// - A list in place of a watch waits for a pause since the previous one. The pause doubles up to
///   WatchOptions::backoff_max; it is skipped for the first such list, after a watch open for a
///   minute, and after five minutes.
/// - A list with a rejected version or token is repeated in another way at once, one time.
/// - Until all forms of a list have failed (ListForms), the next one follows within 8 s. They start
///   over when the server begins a stream later that brings no complete list.
/// - All other failures lead to a doubling pause, too: up to five minutes for a missing API.
/// - A watch is reopened at once only if it was open for a second.
class WatchMachine {
 public:
    struct List : ListPlan::Request {
        ListReason reason = ListReason::first;
    };
    /// A list of one object, for the server's version.
    struct Probe {};
    struct Watch {
        std::string resource_version;
    };
    struct Sleep {
        Duration delay{};
        Waiting why = Waiting::backoff;
        bool until_recovery = false;  ///< ends early when another request to the server succeeds
    };
    using Step = std::variant<List, Probe, Watch, Sleep>;

    using PageListed = ListPlan::Page;
    /// A complete list has lost so many known objects that it needs confirmation.
    struct Suspicious {};
    struct Probed {
        std::string resource_version;
    };
    /// `in_time`: the watch ended at its requested timeout.
    struct WatchEnded {
        bool clean = true;
        bool in_time = false;
    };
    struct Silent {};     ///< a watch exceeded its idle timeout
    struct Malformed {};  ///< a watch delivered bytes other than events
    /// A watch delivered an object older than its start version. Some servers do this.
    struct Doubted {};
    /// The server's version is older than the start version of a watch.
    struct WentBack {
        std::string resource_version;
    };
    struct Expired {};          ///< 410, as a status or as an event
    struct VersionTooLarge {};  ///< the server has not reached the version yet
    struct Rejected {};         ///< 400 or 422: the server rejects the request
    struct BadPages {};         ///< the pages of a list repeat, or do not end
    /// The list cannot be streamed now; a LIST may succeed.
    struct NotStreamed {
        bool tried = true;      ///< the server or the stream has shown that it does not work
        bool answered = false;  ///< the server has begun a stream, so it is up
    };
    enum class Cause : std::uint8_t {
        unreachable,  ///< no connection
        network,      ///< no response, or one from a proxy
        busy,         ///< 429, or a response with Retry-After
        server,       ///< any other error response
        refused,      ///< the server denies the request to this client: 403, 405 …
        cut,          ///< a good response ended early
        absent,       ///< the server does not have the API
        silent,       ///< the response timed out, at its head or body
        unsent,       ///< the request was not sent, because credentials are missing
    };
    struct Failed {
        std::optional<Duration> retry_after{};
        Cause cause = Cause::server;
    };
    /// The API version of the collection has changed; all known state is void.
    struct Moved {};
    /// The limit of open watches on the server is reached.
    struct NoPermit {};
    /// The credentials were rejected, and new ones are available.
    struct NewCredentials {};
    /// The server rejects the encoding or the share; another request is possible.
    struct AskOtherwise {};
    /// Not sent: the version belongs to a previous server.
    struct OtherServer {};
    struct Slept {};
    using Outcome =
        std::variant<PageListed, Suspicious, Probed, WatchEnded, Silent, Malformed, Doubted,
                     WentBack, Expired, VersionTooLarge, Rejected, BadPages, NotStreamed, Failed,
                     Moved, NoPermit, NewCredentials, AskOtherwise, OtherServer, Slept>;

    /// \param other_encoding  a second encoding exists
    WatchMachine(const WatchOptions& options, std::uint64_t seed, bool other_encoding = false)
        : options_(options),
          plan_({options.page_size, options.max_objects, options.first_list_from_cache,
                 options.watch_list, other_encoding}),
          backoff_(options.backoff_min, options.backoff_max, seed),
          list_pace_(options.backoff_min, options.backoff_max, seed + 1),
          reopen_pace_(options.backoff_min, std::min(options.backoff_max, reopen_max), seed + 2),
          absence_pace_(absent_min, absent_max, seed + 3),
          form_pace_(options.backoff_min, std::min(options.backoff_max, form_max), seed + 4) {}

    Step start() {
        if (options_.start_jitter <= Duration{}) return resume();
        return Sleep{backoff_.uniform(options_.start_jitter), Waiting::start};
    }
    Step next(const Outcome& outcome, TimePoint now) {
        now_ = now;
        if (const auto stream = streams_.end(now)) on_stream_end(*stream);
        return std::visit([this](const auto& o) { return on(o); }, outcome);
    }

    /// Sets the known properties of the server, see ListMemory.
    void know(const ListMemory::Known& known) { plan_.know(known); }
    /// The streamed list is complete; the watch continues from its version.
    void on_list_streamed(const PageListed& list, TimePoint now) {
        now_ = now;
        plan_.add(list);
        complete_list();
        on_watching(now);
    }
    /// The forms of the current list and their results so far.
    const ListForms& list_forms() const noexcept { return plan_.forms(); }
    /// Whether the current list cannot be streamed: the server refused, or sent no list.
    bool stream_refused() const noexcept { return plan_.stream_refused(); }
    /// The head of a watch response has arrived.
    void on_watching(TimePoint now) {
        streams_.begin(now);
        rejected_watches_ = refused_watches_ = refusals_ = 0;
        watched_since_list_ = true;
    }
    /// An event or bookmark has arrived.
    /// \returns whether its version is new; an older one is not
    bool on_progress(std::string_view resource_version, TimePoint now) {
        const bool advanced = !resource_version.empty() && resource_version != resource_version_ &&
                              !is_older_version(resource_version, resource_version_);
        streams_.on_event(advanced);
        if (!advanced) return false;
        last_news_ = now;
        resource_version_ = resource_version;
        if (is_newer_version(resource_version, greatest_)) greatest_ = resource_version;
        return true;
    }
    void on_bookmark() noexcept { has_bookmarks_ = true; }
    const std::string& resource_version() const noexcept { return resource_version_; }
    /// The greatest known version, if versions are comparable.
    const std::string& greatest_version() const noexcept { return greatest_; }
    /// Whether a version is older than the start version of the watch.
    bool is_before_watch(std::string_view version) const noexcept {
        return is_older_version(version, begin_);
    }
    /// Whether an old object leads to a Probe and a list. That happens once an hour, because some
    /// servers send old versions routinely.
    bool doubts_old_objects(TimePoint now) const noexcept {
        return !doubted_at_ || now - *doubted_at_ >= an_hour || owes_probe_;
    }
    const StreamRecord& streams() const noexcept { return streams_; }
    error_code problem_of(const PageListed& page) const { return plan_.problem_of(page); }
    /// Whether the next watch may be on a restored server: such a server may keep it open, but
    /// silent.
    bool is_suspect() const noexcept { return owes_probe_; }
    /// Whether the current list confirms a suspicious one; its result is final.
    bool confirming() const noexcept { return confirming_; }

 private:
    enum class Stage { listing, probing, watching };
    static constexpr int max_malformed = 3;
    static constexpr int max_failed_probes = 2;
    static constexpr int max_failures = 5;
    static constexpr int max_refusals = 10;
    static constexpr Duration reopen_jitter = std::chrono::milliseconds(100);
    static constexpr Duration max_spread = std::chrono::seconds(5);
    static constexpr Duration reopen_max = std::chrono::seconds(5);
    static constexpr Duration form_max = std::chrono::seconds(4);
    // A pause is up to twice as long: five minutes at most.
    static constexpr Duration absent_min = std::chrono::seconds(5);
    static constexpr Duration absent_max = std::chrono::seconds(150);
    static constexpr Duration failing_too_long = std::chrono::minutes(2);
    static constexpr Duration a_while = std::chrono::minutes(1);
    static constexpr Duration an_hour = std::chrono::hours(1);
    static constexpr Duration long_ago = std::chrono::minutes(5);
    // A server may have no events for hours, but then its watches end at their timeouts.
    static constexpr Duration max_time_without_progress = std::chrono::minutes(15);

    // --- lists ----------------------------------------------------------------------------------

    Step on(const PageListed& page) {
        refusals_ = 0;
        plan_.add(page);
        if (!plan_.in_chain()) complete_list();
        return resume();
    }
    void complete_list() {
        resource_version_ = begin_ = greatest_ = plan_.finish();
        if (!makes_up_for_watches()) backoff_.reset();
        last_list_ = last_news_ = now_;
        confirming_ = repeated_at_once_ = watched_since_list_ = false;
        stage_ = Stage::watching;
    }

    /// A list after failed watches, or to confirm another one, uses the simplest form first.
    bool may_be_streamed() const {
        switch (reason_) {
            case ListReason::first:
            case ListReason::expired:
            case ListReason::version_too_large:
            case ListReason::version_went_back:
            case ListReason::other_server: return options_.watch_list;
            default: return false;
        }
    }
    Step on(const NotStreamed& why) {
        if (why.answered && !plan_.forms().in_first_round()) {
            plan_.on_recovery();
            return resume();
        }
        const bool untried = plan_.forms().has_untried();
        plan_.give_up_stream(why.tried);
        return untried ? resume() : later();
    }

    /// Whether the backoff of failing watches continues after this list.
    bool makes_up_for_watches() const {
        return failures_ > 0 || reason_ == ListReason::malformed ||
               reason_ == ListReason::short_watches;
    }

    Step on(const Suspicious&) {
        plan_.finish();
        plan_.forget_version();
        reason_ = ListReason::shrunken;
        // The first suspicious list is no failure: earlier failures must not delay its
        // confirmation.
        return std::exchange(confirming_, true) ? later() : Sleep{short_pause(), Waiting::backoff};
    }
    Duration short_pause() { return options_.backoff_min + backoff_.uniform(options_.backoff_min); }

    Step on(const BadPages&) {
        plan_.on_failure(true);
        return later();
    }

    /// Lists again, because watches may have missed events.
    Step relist(ListReason reason) {
        stage_ = Stage::listing;
        reason_ = reason;
        const Duration pause = pause_before_list();
        return pause == Duration{} ? resume() : Sleep{pause, Waiting::backoff};
    }
    Step relist_later(ListReason reason) {
        stage_ = Stage::listing;
        reason_ = reason;
        return Sleep{std::max(pause_before_list(), backoff_.next()), Waiting::backoff};
    }
    Duration pause_before_list() {
        if (!last_list_ || now_ - *last_list_ >= long_ago) forget_quick_lists();
        return quick_lists_++ == 0 ? Duration{} : list_pace_.next();
    }
    void forget_quick_lists() {
        quick_lists_ = 0;
        list_pace_.reset();
        form_pace_.reset();
    }
    /// Repeats the list in another way, at once the first time.
    Step list_otherwise() {
        return std::exchange(repeated_at_once_, true) ? later_in({}) : resume();
    }
    /// The pause after a failed list, short while another form may succeed.
    Step later_in(const Failed& failure) {
        const bool first_round = plan_.forms().in_first_round();
        Sleep sleep = later(failure);
        if (failure.retry_after || !was_sent(failure) || !first_round) return sleep;
        // The response timeout already was a pause.
        const Duration pause = failure.cause == Cause::silent
                                   ? backoff_.uniform(options_.backoff_min)
                                   : form_pace_.next();
        sleep.delay = std::min(sleep.delay, pause);
        return sleep;
    }
    /// Polls with lists instead of watches.
    Step poll() {
        stage_ = Stage::listing;
        reason_ = ListReason::polling;
        const Duration wait = last_list_ ? *last_list_ + options_.poll_interval - now_ : Duration{};
        if (wait <= Duration{}) return resume();
        return Sleep{wait + backoff_.uniform(wait / 10), Waiting::poll};
    }

    // --- probes ---------------------------------------------------------------------------------

    Step on(const Probed& probe) {
        failed_probes_ = refusals_ = 0;
        owes_probe_ = false;
        const auto doubt = std::exchange(doubt_, std::nullopt);
        if (is_older_version(probe.resource_version, greatest_)) return on_regression();
        if (doubt == ListReason::polling) return poll();
        if (doubt) return relist(*doubt);
        stage_ = Stage::watching;
        return resume();
    }
    Step on(const WentBack&) { return on_regression(); }
    Step on_regression() {
        plan_.forget_version();
        return relist(ListReason::version_went_back);
    }
    /// The server itself fails, so the failed watches prove nothing. A watch is still tried at
    /// times, because the failure may affect only probes.
    Step on_failed_probe(const Failed& failure) {
        if (doubt_ != ListReason::silence) doubt_.reset();
        forget_failures();
        if (was_sent(failure)) ++failed_probes_;
        if (failure.cause == Cause::refused || failed_probes_ >= max_failed_probes) {
            failed_probes_ = 0;
            stage_ = Stage::watching;
        }
        return later(failure);
    }
    /// Requires a probe: the next response may come from another or a restored server.
    void owe_probe() {
        stage_ = Stage::probing;
        owes_probe_ = true;
    }

    // --- watches --------------------------------------------------------------------------------

    Step on(const WatchEnded& end) {
        const StreamRecord::Stream& stream = streams_.last();
        if (!end.clean) return on_broken(stream);
        if (owes_probe_) owe_probe();
        const bool news = stream.advanced || (stream.brought && stream.proven());
        if (end.in_time || news) last_news_ = now_;
        if (made_no_progress()) return stream.proven() ? on_quiet() : relist(ListReason::silence);
        if (is_due(streams_.short_in_a_row(), StreamRecord::max_short))
            return relist_later(ListReason::short_watches);
        if (stream.lived()) return Sleep{pause_before_reopening(end), Waiting::reopening};
        return Sleep{stream.brought ? reopen_pace_.next() : backoff_.next(), Waiting::reopening};
    }
    /// A proxy may close idle connections, or answer in place of the server. A probe compares the
    /// server's version. If bookmarks have arrived before, their absence calls for a list, too.
    Step on_quiet() {
        last_news_ = now_;
        owe_probe();
        if (has_bookmarks_) doubt_ = ListReason::silence;
        return resume();
    }
    /// Spreads reconnections after a server shutdown.
    Duration pause_before_reopening(const WatchEnded& end) {
        const Duration pause = backoff_.uniform(reopen_jitter);
        return end.in_time ? pause : pause + spread();
    }
    /// Clients with a start jitter also reconnect with one.
    Duration spread() { return backoff_.uniform(std::min(options_.start_jitter, max_spread)); }
    Step on_broken(const StreamRecord::Stream& stream) {
        owe_probe();
        if (made_no_progress()) doubt_ = ListReason::silence;
        if (!stream.is_short()) return Sleep{reopen_pace_.next() + spread(), Waiting::reopening};
        count_failure(true);
        if (fails_too_often()) doubt_ = ListReason::failing_watch;
        return later();
    }

    Step on(const Silent&) {
        owe_probe();
        streams_.on_silence();
        if (streams_.silent_in_a_row() >= StreamRecord::max_silent || made_no_progress())
            doubt_ = ListReason::silence;
        return Sleep{backoff_.next(), Waiting::reopening};
    }

    /// A probe detects a restored server. Otherwise a list replaces the rest of this watch, because
    /// its events may be as old.
    Step on(const Doubted&) {
        doubted_at_ = now_;
        doubt_ = ListReason::silence;
        owe_probe();
        return Sleep{reopen_pace_.next(), Waiting::reopening};
    }

    // The third malformed watch in a row at one version leads to a list.
    Step on(const Malformed&) {
        return is_due(++malformed_, max_malformed) ? relist_later(ListReason::malformed) : later();
    }
    /// Whether a row of events calls for a list: at its limit, and again whenever the last list is
    /// old.
    bool is_due(int in_a_row, int too_many) const {
        return in_a_row == too_many || (in_a_row > too_many && last_list_is_old());
    }
    bool last_list_is_old() const { return !last_list_ || now_ - *last_list_ >= a_while; }

    Step on_failed_watch(const Failed& failure) {
        count_failure(failure.cause != Cause::busy);
        if (failure.cause == Cause::refused && ++refused_watches_ > 1) return on_refused_watch();
        const bool answered = failure.cause == Cause::server || failure.cause == Cause::busy ||
                              failure.cause == Cause::unsent;
        if ((!answered && failure.cause != Cause::refused) || owes_probe_) owe_probe();
        if (fails_too_often() || (answered && made_no_progress())) {
            doubt_ = ListReason::failing_watch;
            stage_ = Stage::probing;
        }
        return later(failure);
    }
    /// Whether no watch has made progress recently, by an event or an orderly end.
    bool made_no_progress() const { return now_ - last_news_ >= max_time_without_progress; }
    /// Polls from the second refusal in a row on, if lists are allowed. A list just before or a
    /// probe proves this.
    Step on_refused_watch() {
        if (!watched_since_list_) return poll();
        doubt_ = ListReason::polling;
        stage_ = Stage::probing;
        return resume();
    }
    Step on(const NoPermit&) { return poll(); }

    void count_failure(bool counts) {
        if (counts) ++failures_;
        if (!failing_since_) failing_since_ = now_;
    }
    bool fails_too_often() const {
        const bool often = failures_ >= max_failures || now_ - *failing_since_ >= failing_too_long;
        return often && last_list_is_old();
    }
    void forget_failures() {
        failures_ = 0;
        failing_since_.reset();
    }

    /// Evaluates the lifetime of a stream, however it ended.
    void on_stream_end(const StreamRecord::Stream& stream) {
        if (stream.life >= StreamRecord::long_life) forget_quick_lists();
        if (stream.advanced) malformed_ = 0;
        if (stream.lived()) reopen_pace_.reset();
        if (!stream.proven()) return;
        forget_failures();
        backoff_.reset();
        absence_pace_.reset();
        absences_ = 0;
    }

    // --- any request ----------------------------------------------------------------------------

    Step on(const Expired&) {
        if (stage_ == Stage::watching) {
            streams_.on_expiry(now_);
            return relist(ListReason::expired);
        }
        if (stage_ == Stage::probing) return on_failed_probe({});
        on_useless_version();
        return list_otherwise();
    }
    /// The version of the continue token has expired, or the known version is useless. Without
    /// either the list has failed.
    void on_useless_version() {
        if (!plan_.in_chain() && plan_.has_version(resource_version_))
            return plan_.forget_version();
        plan_.on_failure(plan_.in_chain());
    }

    // A quiet resource, another replica or a restored etcd: request the most recent state.
    Step on(const VersionTooLarge&) {
        if (stage_ == Stage::probing) return on_failed_probe({});
        if (stage_ == Stage::listing) {
            on_useless_version();
            return list_otherwise();
        }
        plan_.forget_version();
        return relist(ListReason::version_too_large);
    }

    Step on(const Rejected&) {
        if (stage_ == Stage::probing) {
            // Some servers reject a limit: then only the list itself decides.
            if (doubt_ && doubt_ != ListReason::polling)
                return relist(*std::exchange(doubt_, std::nullopt));
            return on_failed_probe({std::nullopt, Cause::refused});
        }
        if (stage_ == Stage::watching) {
            // The version is not the cause: the server does not support such watches.
            if (rejected_watches_++ > 0) return poll();
            plan_.forget_version();
            return relist_later(ListReason::rejected);
        }
        on_useless_version();
        return later_in({});
    }

    Step on(const Failed& failure) {
        // The first page of a list has proved the API's existence.
        if (failure.cause == Cause::absent && !plan_.in_chain()) return on_absence();
        if (stage_ == Stage::probing) return on_failed_probe(failure);
        if (stage_ == Stage::watching) return on_failed_watch(failure);
        if (was_sent(failure)) plan_.on_failure(is_for_good(failure));
        return later_in(failure);
    }
    /// Only a sent request can prove something about its form.
    static bool was_sent(const Failed& failure) noexcept {
        return failure.cause != Cause::unreachable && failure.cause != Cause::unsent;
    }

    /// Whether to skip the second attempt in this form: it timed out, or has to wait, and another
    /// form may succeed now.
    bool is_for_good(const Failed& failure) const {
        return failure.cause == Cause::silent || failure.retry_after.has_value();
    }

    /// A restored API may have lost all objects, so it is listed again. A single 404 may come from
    /// a proxy.
    Step on_absence() {
        if (stage_ == Stage::listing) {
            plan_.on_failure(true, false);
        } else if (++absences_ > 1) {
            reason_ = ListReason::failing_watch;
            begin_anew();
        }
        return Sleep{absence_pace_.next(), Waiting::backoff};
    }
    Step on(const Moved&) {
        reason_ = ListReason::first;
        begin_anew();
        return resume();
    }
    void begin_anew() {
        stage_ = Stage::listing;
        doubt_.reset();
        plan_.forget_version();
    }

    Step on(const NewCredentials&) { return resume(); }
    Step on(const AskOtherwise&) { return resume(); }
    /// The server may be the same cluster under another name. Versions of different clusters look
    /// alike, though, and a watch from an old version would keep stale objects.
    Step on(const OtherServer&) {
        begin_anew();
        resource_version_.clear();
        greatest_.clear();
        owes_probe_ = false;
        return relist(ListReason::other_server);
    }
    Step on(const Slept&) { return resume(); }

    /// Returns the step of the current stage.
    Step resume() {
        if (stage_ == Stage::probing) return Probe{};
        if (stage_ == Stage::watching) {
            begin_ = resource_version_;
            return Watch{resource_version_};
        }
        return List{plan_.next(resource_version_, may_be_streamed()), reason_};
    }
    Step later() { return Sleep{backoff_.next(), Waiting::backoff}; }
    Sleep later(const Failed& failure) {
        if (failure.retry_after)
            return Sleep{wait_asked_for(*failure.retry_after), Waiting::retry_after};
        const bool server_is_away = failure.cause == Cause::unreachable ||
                                    failure.cause == Cause::network ||
                                    failure.cause == Cause::silent;
        return Sleep{backoff_.next(), Waiting::backoff, server_is_away};
    }
    /// Retry-After takes precedence for a few refusals; then the backoff grows as well.
    Duration wait_asked_for(Duration retry_after) {
        const Duration asked = std::max(retry_after, options_.backoff_min);
        const Duration wait = asked + backoff_.uniform(std::min(asked, options_.backoff_max));
        return ++refusals_ <= max_refusals ? wait : std::max(wait, backoff_.next());
    }

    WatchOptions options_;
    ListPlan plan_;
    StreamRecord streams_;
    Backoff backoff_;       // after failures
    Backoff list_pace_;     // between lists
    Backoff reopen_pace_;   // between watches with events but an early end
    Backoff absence_pace_;  // while the server does not have the API
    Backoff form_pace_;     // between the forms of a list
    TimePoint now_{};
    Stage stage_ = Stage::listing;
    ListReason reason_ = ListReason::first;
    std::string resource_version_;  // never decreases except by a list
    std::string begin_;             // of the watch
    std::string greatest_;          // of the list and all later events
    std::optional<TimePoint> last_list_;
    TimePoint last_news_{};            // see made_no_progress()
    std::optional<ListReason> doubt_;  // the reason to list after a successful probe
    std::optional<TimePoint> failing_since_;
    std::optional<TimePoint> doubted_at_;  // because of an old object
    int failures_ = 0;                     // of watches, since one worked or a probe failed
    int refusals_ = 0;                     // with Retry-After, in a row
    int quick_lists_ = 0;
    int malformed_ = 0;
    int rejected_watches_ = 0;
    int refused_watches_ = 0;
    int failed_probes_ = 0;
    int absences_ = 0;         // of the API, since a watch worked
    bool owes_probe_ = false;  // a watch was opened without a successful probe
    bool confirming_ = false;
    bool has_bookmarks_ = false;  // ever
    bool repeated_at_once_ = false;
    bool watched_since_list_ = false;
};

}  // namespace k8s_sd::inline v0::detail
