#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/watch/list_plan.hpp"
#include "k8s_sd/detail/watch/pacing.hpp"
#include "k8s_sd/detail/watch/probe_plan.hpp"
#include "k8s_sd/detail/watch/resource_version.hpp"
#include "k8s_sd/detail/watch/stream_record.hpp"
#include "k8s_sd/detail/watch/watch_failures.hpp"
#include "k8s_sd/status.hpp"

#include <algorithm>
#include <chrono>
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
/// for a regression. The parts decide by rules of their own: pauses (ListPacing, RetryPacing,
/// ApiAbsence), lists (ListPlan), probes (ProbePlan), and losses of events (WatchFailures,
/// WatchProgress, StreamRecord). The machine combines them.
///
/// Bounds for any behavior of the server:
/// - A list in place of a watch waits for a doubling pause since the previous one (ListPacing).
/// - A list with a rejected version or token is repeated in another way at once, one time.
/// - Until all forms of a list have failed (ListForms), the next one follows within 8 s. If a
///   stream begins later, and brings no complete list, one LIST follows at once.
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
        bool tried = true;       ///< the server or the stream has shown that it does not work
        bool answered = false;   ///< the server has begun a stream, so it is up
        bool timed_out = false;  ///< the attempt took as long as it may
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
        credentials,  ///< 401
    };
    struct Failed {
        std::optional<Duration> retry_after{};
        Cause cause = Cause::server;

        /// Whether the form of the request may be the cause.
        bool may_be_due_to_form() const noexcept {
            switch (cause) {
                case Cause::unreachable:
                case Cause::busy:
                case Cause::absent:
                case Cause::unsent:
                case Cause::credentials: return false;
                default: return true;
            }
        }
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

    /// \param options  outlive the machine
    /// \param other_encoding  a second encoding exists
    /// \param custom  see KindSchema
    WatchMachine(const WatchOptions& options, std::uint64_t seed, bool other_encoding = false,
                 bool custom = false)
        : plan_({options.max_objects, options.page_size, options.first_list_from_cache,
                 options.watch_list, other_encoding}),
          retries_(options, seed),
          lists_(options, seed + 1),
          absence_(seed + 2, custom) {}

    Step start() {
        const auto delay = retries_.at_start();
        return delay ? Sleep{*delay, Waiting::start} : resume();
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
        retries_.on_response();
        failures_.on_watching();
    }
    /// An event or bookmark has arrived.
    /// \returns whether its version is new; an older one is not
    bool on_progress(std::string_view resource_version, TimePoint now) {
        const bool advanced = versions_.on_event(resource_version);
        streams_.on_event(advanced);
        if (advanced) progress_.on_progress(now);
        return advanced;
    }
    void on_bookmark() noexcept { progress_.on_bookmark(); }
    std::string_view resource_version() const noexcept { return versions_.current(); }
    /// The greatest known version, if versions are comparable.
    std::string_view greatest_version() const noexcept { return versions_.greatest(); }
    /// Whether a version is older than the start version of the watch.
    bool is_before_watch(std::string_view version) const noexcept {
        return versions_.is_before_watch(version);
    }
    /// Whether an old object leads to a Probe and a list.
    bool doubts_old_objects(TimePoint now) const noexcept {
        return probes_.doubts_old_objects(now);
    }
    const StreamRecord& streams() const noexcept { return streams_; }
    error_code problem_of(const PageListed& page) const { return plan_.problem_of(page); }
    /// Whether the next watch may be on a restored server: such a server may keep it open, but
    /// silent.
    bool is_suspect() const noexcept { return probes_.is_owed(); }
    /// Whether the current list confirms a suspicious one; its result is final.
    bool confirming() const noexcept { return confirming_; }

 private:
    using Evidence = ListPlan::Evidence;
    enum class Stage : std::uint8_t { listing, probing, watching };

    // --- lists ----------------------------------------------------------------------------------

    Step on(const PageListed& page) {
        retries_.on_response();
        plan_.add(page);
        if (!plan_.in_chain()) complete_list();
        return resume();
    }
    void complete_list() {
        versions_.on_list(plan_.finish());
        if (!makes_up_for_watches()) retries_.reset();
        lists_.on_list(now_);
        failures_.on_list();
        progress_.on_progress(now_);
        confirming_ = false;
        stage_ = Stage::watching;
    }

    /// A list after failed watches, or to confirm another one, uses the simplest form first.
    bool may_be_streamed() const {
        switch (reason_) {
            case ListReason::first:
            case ListReason::expired:
            case ListReason::version_too_large:
            case ListReason::version_went_back:
            case ListReason::other_server: return true;
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
        if (why.timed_out) plan_.on_timeout();
        return untried ? resume() : later();
    }

    /// Whether the backoff of failing watches continues after this list.
    bool makes_up_for_watches() const {
        return failures_.any() || reason_ == ListReason::malformed ||
               reason_ == ListReason::short_watches;
    }

    Step on(const Suspicious&) {
        plan_.finish();
        plan_.forget_version();
        reason_ = ListReason::suspicious;
        // The first suspicious list is no failure: earlier failures must not delay its
        // confirmation.
        return std::exchange(confirming_, true) ? later()
                                                : Sleep{retries_.short_pause(), Waiting::backoff};
    }

    Step on(const BadPages&) {
        plan_.on_failure(true, Evidence::against_shape);
        return later();
    }

    /// Lists again, because watches may have missed events.
    Step relist(ListReason reason) {
        stage_ = Stage::listing;
        reason_ = reason;
        const Duration pause = lists_.before_list(now_);
        return pause == Duration{} ? resume() : Sleep{pause, Waiting::backoff};
    }
    Step relist_later(ListReason reason) {
        stage_ = Stage::listing;
        reason_ = reason;
        const Duration pause = lists_.before_list(now_);
        return Sleep{std::max(pause, retries_.after_failure()), Waiting::backoff};
    }
    /// Repeats the list in another way, at once the first time.
    Step list_otherwise() { return lists_.take_repetition() ? resume() : later_in({}); }
    /// The pause after a failed list, short while another form may succeed.
    Step later_in(const Failed& failure) {
        const bool first_round = plan_.forms().in_first_round();
        Sleep sleep = later(failure);
        if (failure.retry_after || !was_sent(failure) || !first_round) return sleep;
        const Duration pause =
            failure.cause == Cause::silent ? retries_.after_timeout() : lists_.before_form();
        sleep.delay = std::min(sleep.delay, pause);
        return sleep;
    }
    /// Polls with lists instead of watches.
    Step poll() {
        stage_ = Stage::listing;
        reason_ = ListReason::polling;
        const Duration wait = lists_.before_poll(now_);
        if (wait <= Duration{}) return resume();
        return Sleep{retries_.before_poll(wait), Waiting::poll};
    }

    // --- probes ---------------------------------------------------------------------------------

    Step on(const Probed& probe) {
        retries_.on_response();
        const auto doubt = probes_.on_success();
        if (versions_.is_regression(probe.resource_version)) return on_regression();
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
    Step on_failed_probe(const Failed& failure) {
        failures_.forget();
        if (probes_.on_failure(was_sent(failure), failure.cause == Cause::refused))
            stage_ = Stage::watching;
        return later(failure);
    }
    /// Requires a probe: the next response may come from another or a restored server.
    void owe_probe() {
        stage_ = Stage::probing;
        probes_.owe();
    }

    // --- watches --------------------------------------------------------------------------------

    Step on(const WatchEnded& end) {
        const StreamRecord::Stream& stream = streams_.last();
        if (!end.clean) return on_broken(stream);
        if (probes_.is_owed()) owe_probe();
        const bool news = stream.advanced || (stream.brought && stream.proven());
        if (end.in_time || news) progress_.on_progress(now_);
        if (progress_.is_missing(now_))
            return stream.proven() ? on_quiet() : relist(ListReason::silence);
        if (lists_.is_due(streams_.rows().short_ones, StreamRecord::max_short, now_))
            return relist_later(ListReason::short_watches);
        if (stream.lived())
            return Sleep{retries_.before_reopening(end.in_time), Waiting::reopening};
        return Sleep{stream.brought ? retries_.after_early_end() : retries_.after_failure(),
                     Waiting::reopening};
    }
    /// A probe compares the server's version.
    Step on_quiet() {
        owe_probe();
        if (progress_.on_quiet(now_)) probes_.doubt(ListReason::silence);
        return resume();
    }
    Step on_broken(const StreamRecord::Stream& stream) {
        owe_probe();
        if (progress_.is_missing(now_)) probes_.doubt(ListReason::silence);
        if (!stream.is_short()) return Sleep{retries_.after_break(), Waiting::reopening};
        failures_.on_failure(true, now_);
        if (fails_too_often()) probes_.doubt(ListReason::failing_watch);
        return later();
    }

    Step on(const Silent&) {
        owe_probe();
        streams_.on_silence();
        if (streams_.rows().silent >= StreamRecord::max_silent || progress_.is_missing(now_))
            probes_.doubt(ListReason::silence);
        return Sleep{retries_.after_failure(), Waiting::reopening};
    }

    /// A probe detects a restored server. Otherwise a list replaces the rest of this watch.
    Step on(const Doubted&) {
        probes_.on_old_object(now_);
        owe_probe();
        return Sleep{retries_.after_early_end(), Waiting::reopening};
    }

    Step on(const Malformed&) {
        const int in_a_row = failures_.on_malformed();
        const bool due = lists_.is_due(in_a_row, WatchFailures::max_malformed, now_);
        return due ? relist_later(ListReason::malformed) : later();
    }

    Step on_failed_watch(const Failed& failure) {
        failures_.on_failure(failure.cause != Cause::busy, now_);
        if (failure.cause == Cause::refused && failures_.on_denial()) return on_denied_watch();
        const bool answered = failure.cause == Cause::server || failure.cause == Cause::busy ||
                              failure.cause == Cause::unsent || failure.cause == Cause::credentials;
        if ((!answered && failure.cause != Cause::refused) || probes_.is_owed()) owe_probe();
        if (fails_too_often() || (answered && progress_.is_missing(now_))) {
            probes_.doubt(ListReason::failing_watch);
            stage_ = Stage::probing;
        }
        return later(failure);
    }
    /// Polls if lists are allowed. A list just before or a probe proves this.
    Step on_denied_watch() {
        if (failures_.lists_are_allowed()) return poll();
        probes_.doubt(ListReason::polling);
        stage_ = Stage::probing;
        return resume();
    }
    Step on(const NoPermit&) { return poll(); }

    bool fails_too_often() const { return failures_.too_often(now_) && lists_.is_old(now_); }

    /// Evaluates the lifetime of a stream, however it ended.
    void on_stream_end(const StreamRecord::Stream& stream) {
        if (stream.life >= StreamRecord::long_life) lists_.on_long_watch();
        if (stream.advanced) failures_.on_news();
        if (stream.lived()) retries_.on_lived();
        if (!stream.proven()) return;
        failures_.forget();
        retries_.reset();
        absence_.reset();
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
        if (!plan_.in_chain() && plan_.has_version(versions_.current()))
            return plan_.forget_version();
        if (plan_.in_chain()) return plan_.on_failure(true, Evidence::against_shape);
        plan_.on_failure();
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
            if (const auto doubt = probes_.on_rejection()) return relist(*doubt);
            return on_failed_probe({std::nullopt, Cause::refused});
        }
        if (stage_ == Stage::watching) {
            // The version is not the cause: the server does not support such watches.
            if (failures_.on_rejection()) return poll();
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
        if (was_sent(failure)) plan_.on_failure(skips_retry(failure), evidence_of(failure));
        if (failure.cause == Cause::silent) plan_.on_timeout();
        return later_in(failure);
    }
    /// Only a sent request can prove something about its form.
    static bool was_sent(const Failed& failure) noexcept {
        return failure.cause != Cause::unreachable && failure.cause != Cause::unsent;
    }

    static Evidence evidence_of(const Failed& failure) noexcept {
        return failure.may_be_due_to_form() ? Evidence::against_form : Evidence::none;
    }

    /// Whether to skip the second attempt in this form: it timed out, or has to wait for long, and
    /// another form may succeed sooner.
    static bool skips_retry(const Failed& failure) noexcept {
        constexpr Duration long_wait = std::chrono::seconds(5);
        return failure.cause == Cause::silent ||
               failure.retry_after.value_or(Duration{}) >= long_wait;
    }

    /// A restored API may have lost all objects, so it is listed again.
    Step on_absence() {
        if (stage_ == Stage::listing) {
            plan_.on_failure(true, Evidence::none);
        } else if (absence_.on_absent()) {
            reason_ = ListReason::failing_watch;
            begin_anew();
        }
        return Sleep{absence_.pause(), Waiting::backoff};
    }
    Step on(const Moved&) {
        reason_ = ListReason::first;
        begin_anew();
        return resume();
    }
    void begin_anew() {
        stage_ = Stage::listing;
        probes_.forget_doubt();
        plan_.forget_version();
    }

    Step on(const NewCredentials&) { return resume(); }
    Step on(const AskOtherwise&) { return resume(); }
    /// The server may be the same cluster under another name. Versions of different clusters look
    /// alike, though, and a watch from an old version would keep stale objects.
    Step on(const OtherServer&) {
        begin_anew();
        confirming_ = false;  // a suspicious list was the other one's
        versions_.on_other_server();
        probes_.on_other_server();
        return relist(ListReason::other_server);
    }
    Step on(const Slept&) { return resume(); }

    /// Returns the step of the current stage.
    Step resume() {
        if (stage_ == Stage::probing) return Probe{};
        if (stage_ == Stage::watching) return Watch{std::string(versions_.begin_watch())};
        return List{plan_.next(versions_.current(), may_be_streamed()), reason_};
    }
    Step later() { return Sleep{retries_.after_failure(), Waiting::backoff}; }
    Sleep later(const Failed& failure) {
        if (failure.retry_after)
            return Sleep{retries_.after_refusal(*failure.retry_after), Waiting::retry_after};
        const bool server_is_away = failure.cause == Cause::unreachable ||
                                    failure.cause == Cause::network ||
                                    failure.cause == Cause::silent;
        return Sleep{retries_.after_failure(), Waiting::backoff, server_is_away};
    }

    ListPlan plan_;
    StreamRecord streams_;
    RetryPacing retries_;
    ListPacing lists_;
    ApiAbsence absence_;
    WatchFailures failures_;
    ProbePlan probes_;
    KnownVersions versions_;
    WatchProgress progress_;
    TimePoint now_{};
    Stage stage_ = Stage::listing;
    ListReason reason_ = ListReason::first;
    bool confirming_ = false;
};

}  // namespace k8s_sd::inline v0::detail
