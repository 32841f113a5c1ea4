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

/// The list/watch protocol as data: the owner performs a Step and reports its Outcome. No I/O.
///
/// LIST until the list is complete, WATCH from its resource version, and again from the last
/// version seen whenever a watch ends. Where the server can do that, the list is streamed: it comes
/// as the first events of the watch (a watch-list, KEP-3157), and on_list_streamed() takes the place
/// of an outcome. It lists again when the version has expired, and when
/// watches fail, end or stay silent so often that changes may have been missed. A Probe tells
/// before whether the server works at all, and whether its versions went back.
///
/// Bounds, whatever the server does: a list that takes the place of a watch follows the one before
/// after a pause that doubles up to WatchOptions::backoff_max. The first one comes at once, and so
/// does one after a watch that lived for a minute, or after five minutes. A list that fails because
/// of its version or token is asked for in another way at once, one time. All other failures are
/// followed by a pause that doubles, too: up to five minutes where the server does not have the
/// API. A watch that ends is reopened at once only if it lived for a second.
class WatchMachine {
 public:
    struct List : ListPlan::Request {
        ListReason reason = ListReason::first;
    };
    /// A list of one object, for its version.
    struct Probe {};
    struct Watch {
        std::string resource_version;
    };
    struct Sleep {
        Duration delay{};
        Waiting why = Waiting::backoff;
        bool until_recovery = false;  ///< ends when another request of the server succeeds
    };
    using Step = std::variant<List, Probe, Watch, Sleep>;

    using PageListed = ListPlan::Page;
    /// A list is complete, and has lost so much of what was known that it needs confirmation.
    struct Shrunken {};
    struct Probed {
        std::string resource_version;
    };
    /// `in_time`: the server ended the watch when it was asked to.
    struct WatchEnded {
        bool clean = true;
        bool in_time = false;
    };
    struct Silent {};           ///< a watch was silent for longer than it may be
    struct Malformed {};        ///< a watch brought bytes that are not events
    struct Expired {};          ///< 410, as a status or as an event
    struct VersionTooLarge {};  ///< the version is from the future of this server
    struct Rejected {};         ///< 400 or 422: something in the request is not accepted
    struct BadPages {};         ///< the pages of a list repeat, or do not end
    /// A list does not come with a watch, or shall not; asked for in the usual way, it may.
    struct NotStreamed {
        bool tried = true;
    };
    enum class Cause : std::uint8_t {
        unreachable,  ///< no connection
        network,      ///< no answer, or one of something between here and the server
        busy,         ///< 429, or the server says when to come again
        server,       ///< any other answer that is an error
        refused,      ///< the server does not let this client do it: 403, 405 …
        cut,          ///< an answer that began well and was not complete
        absent,       ///< the server does not have the API
    };
    struct Failed {
        std::optional<Duration> retry_after{};
        Cause cause = Cause::server;
    };
    /// The collection is in another version of its API now; nothing that is known of it counts.
    struct Moved {};
    /// As many watches of the server are open as may be.
    struct NoPlace {};
    /// Failed because of credentials, and there are new ones.
    struct NewCredentials {};
    /// Not served as it was asked for, in that encoding or for a share, and there is another way.
    struct AskOtherwise {};
    /// Not sent: the server is not the one any more that the position belongs to.
    struct OtherServer {};
    struct Slept {};
    using Outcome = std::variant<PageListed, Shrunken, Probed, WatchEnded, Silent, Malformed,
                                 Expired, VersionTooLarge, Rejected, BadPages, NotStreamed, Failed,
                                 Moved, NoPlace, NewCredentials, AskOtherwise, OtherServer, Slept>;

    WatchMachine(const WatchOptions& options, std::uint64_t seed)
        : options_(options),
          plan_(options.page_size, options.max_objects, options.first_list_from_cache),
          backoff_(options.backoff_min, options.backoff_max, seed),
          list_pace_(options.backoff_min, options.backoff_max, seed + 1),
          reopen_pace_(options.backoff_min, std::min(options.backoff_max, reopen_max), seed + 2),
          absence_pace_(absent_min, absent_max, seed + 3) {}

    Step start() {
        if (options_.start_jitter <= Duration{}) return resume();
        return Sleep{backoff_.uniform(options_.start_jitter), Waiting::start};
    }
    Step next(const Outcome& outcome, TimePoint now) {
        now_ = now;
        if (const auto stream = streams_.end(now)) on_stream_end(*stream);
        return std::visit([this](const auto& o) { return on(o); }, outcome);
    }

    /// The list is complete that a watch began with; the watch goes on from there.
    void on_list_streamed(const PageListed& list, TimePoint now) {
        now_ = now;
        plan_.add(list);
        complete_list();
        on_watching(now);
    }
    /// A list has come through in the usual way, or is being asked for so, because it did not as
    /// the first events of a watch.
    bool stream_failed() const noexcept { return plan_.stream_failed(); }
    /// The head of a watch's answer is there.
    void on_watching(TimePoint now) {
        streams_.begin(now);
        rejected_watches_ = refused_watches_ = refusals_ = 0;
        watched_since_list_ = true;
    }
    /// An event or bookmark has come.
    void on_progress(std::string_view resource_version, TimePoint now) {
        const bool advanced = !resource_version.empty() && resource_version != resource_version_;
        streams_.on_event(advanced);
        if (!advanced) return;
        last_news_ = now;
        resource_version_ = resource_version;
    }
    const std::string& resource_version() const noexcept { return resource_version_; }
    const StreamRecord& streams() const noexcept { return streams_; }
    error_code problem_of(const PageListed& page) const { return plan_.problem_of(page); }
    /// Nobody knows whether the watch that is to be opened is one of the same past: a server that
    /// was restored may keep it open, and silent.
    bool is_suspect() const noexcept { return owes_probe_; }
    /// A list confirms one that has lost much; it is the truth, whatever it has lost.
    bool confirming() const noexcept { return confirming_; }

 private:
    enum class Stage { listing, probing, watching };
    static constexpr int max_malformed = 3;
    static constexpr int max_failed_probes = 2;
    static constexpr int max_failures = 5;
    static constexpr int max_refusals = 10;
    static constexpr Duration reopen_jitter = std::chrono::milliseconds(100);
    static constexpr Duration most_spread = std::chrono::seconds(5);
    static constexpr Duration reopen_max = std::chrono::seconds(5);
    // Each pause is up to twice as long: five minutes at most.
    static constexpr Duration absent_min = std::chrono::seconds(5);
    static constexpr Duration absent_max = std::chrono::seconds(150);
    static constexpr Duration failing_too_long = std::chrono::minutes(2);
    static constexpr Duration a_while = std::chrono::minutes(1);
    static constexpr Duration long_ago = std::chrono::minutes(5);
    // The server may be quiet for hours, but then its watches end when they were asked to.
    static constexpr Duration barren_too_long = std::chrono::minutes(15);

    // --- lists ----------------------------------------------------------------------------------

    Step on(const PageListed& page) {
        refusals_ = 0;
        plan_.add(page);
        if (!plan_.in_chain()) complete_list();
        return resume();
    }
    void complete_list() {
        resource_version_ = plan_.finish();
        if (!makes_up_for_watches()) backoff_.reset();
        last_list_ = last_news_ = now_;
        confirming_ = repeated_at_once_ = watched_since_list_ = false;
        stage_ = Stage::watching;
    }

    /// A list that makes up for watches, or confirms another one, comes in the way that depends on
    /// least.
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
        plan_.give_up_stream(why.tried);
        return resume();
    }

    /// The pauses between failing watches go on to grow then.
    bool makes_up_for_watches() const {
        return failures_ > 0 || reason_ == ListReason::malformed ||
               reason_ == ListReason::short_watches;
    }

    Step on(const Shrunken&) {
        plan_.finish();
        plan_.forget_version();
        confirming_ = true;
        reason_ = ListReason::shrunken;
        return Sleep{backoff_.next(), Waiting::backoff};
    }

    Step on(const BadPages&) {
        plan_.give_up_pages();
        return later();
    }

    /// A list takes the place of what the watches may have missed.
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
    }
    /// The list is asked for in another way, at once the first time.
    Step list_otherwise() { return std::exchange(repeated_at_once_, true) ? later() : resume(); }
    /// Lists take the place of watches.
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
        if (is_older_version(probe.resource_version, resource_version_)) {
            plan_.forget_version();
            return relist(ListReason::version_went_back);
        }
        if (doubt == ListReason::polling) return poll();
        if (doubt) return relist(*doubt);
        stage_ = Stage::watching;
        return resume();
    }
    /// The server itself does not work: that is why the watches failed. Every now and then a watch
    /// is tried all the same: it may be the probe that does not get through.
    Step on_failed_probe(const Failed& failure) {
        if (doubt_ != ListReason::silence) doubt_.reset();
        forget_failures();
        if (failure.cause != Cause::unreachable) ++failed_probes_;
        if (failure.cause == Cause::refused || failed_probes_ >= max_failed_probes) {
            failed_probes_ = 0;
            stage_ = Stage::watching;
        }
        return later(failure);
    }
    /// What answers next may be another server, or one that was restored.
    void owe_probe() {
        stage_ = Stage::probing;
        owes_probe_ = true;
    }

    // --- watches --------------------------------------------------------------------------------

    Step on(const WatchEnded& end) {
        const StreamRecord::Stream& stream = streams_.last();
        if (!end.clean) return on_broken(stream);
        if (owes_probe_) owe_probe();
        // Something on the way may close what is quiet.
        if (end.in_time || stream.proven()) last_news_ = now_;
        if (is_barren()) return relist(ListReason::silence);
        if (is_due(streams_.short_in_a_row(), StreamRecord::max_short))
            return relist_later(ListReason::short_watches);
        if (stream.lived()) return Sleep{pause_before_reopening(end), Waiting::reopening};
        return Sleep{stream.brought ? reopen_pace_.next() : backoff_.next(), Waiting::reopening};
    }
    /// Spreads the clients of a server that shuts down.
    Duration pause_before_reopening(const WatchEnded& end) {
        const Duration pause = backoff_.uniform(reopen_jitter);
        return end.in_time ? pause : pause + spread();
    }
    /// Clients that begin apart, because they are many, come back apart.
    Duration spread() { return backoff_.uniform(std::min(options_.start_jitter, most_spread)); }
    Step on_broken(const StreamRecord::Stream& stream) {
        owe_probe();
        if (is_barren()) doubt_ = ListReason::silence;
        if (!stream.is_short()) return Sleep{reopen_pace_.next() + spread(), Waiting::reopening};
        count_failure(true);
        if (fails_too_often()) doubt_ = ListReason::failing_watch;
        return later();
    }

    Step on(const Silent&) {
        owe_probe();
        streams_.on_silence();
        if (streams_.silent_in_a_row() >= StreamRecord::max_silent || is_barren())
            doubt_ = ListReason::silence;
        return Sleep{backoff_.next(), Waiting::reopening};
    }

    // The third time in a row at one version it lists.
    Step on(const Malformed&) {
        return is_due(++malformed_, max_malformed) ? relist_later(ListReason::malformed) : later();
    }
    /// What happens in a row leads to a list the first time that it is too much, and then again
    /// and again.
    bool is_due(int in_a_row, int too_many) const {
        return in_a_row == too_many || (in_a_row > too_many && last_list_is_old());
    }
    bool last_list_is_old() const { return !last_list_ || now_ - *last_list_ >= a_while; }

    Step on_failed_watch(const Failed& failure) {
        count_failure(failure.cause != Cause::busy);
        if (failure.cause == Cause::refused && ++refused_watches_ > 1) return on_refused_watch();
        const bool answered = failure.cause == Cause::server || failure.cause == Cause::busy;
        if ((!answered && failure.cause != Cause::refused) || owes_probe_) owe_probe();
        if (fails_too_often() || (answered && is_barren())) {
            doubt_ = ListReason::failing_watch;
            stage_ = Stage::probing;
        }
        return later(failure);
    }
    /// No watch has brought anything for so long, or lived and ended well.
    bool is_barren() const { return now_ - last_news_ >= barren_too_long; }
    /// The second time in a row it polls, if a list is allowed: the one right before shows that, or
    /// a probe.
    Step on_refused_watch() {
        if (!watched_since_list_) return poll();
        doubt_ = ListReason::polling;
        stage_ = Stage::probing;
        return resume();
    }
    Step on(const NoPlace&) { return poll(); }

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

    /// What the life of a watch has shown, however it ended.
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
        // The pages took longer than the server keeps the version they belong to.
        plan_.in_chain() ? plan_.give_up_pages() : plan_.forget_version();
        return list_otherwise();
    }

    // A quiet resource, another replica or a restored etcd: the most recent state is the truth.
    Step on(const VersionTooLarge&) {
        if (stage_ == Stage::probing) return on_failed_probe({});
        plan_.forget_version();
        return stage_ == Stage::listing ? list_otherwise() : relist(ListReason::version_too_large);
    }

    Step on(const Rejected&) {
        if (stage_ == Stage::probing) {
            // Not every server takes a limit: then the list itself has to tell.
            if (doubt_ && doubt_ != ListReason::polling)
                return relist(*std::exchange(doubt_, std::nullopt));
            return on_failed_probe({std::nullopt, Cause::refused});
        }
        if (stage_ == Stage::watching) {
            // It is not the version, then: the server does not take such watches.
            if (rejected_watches_++ > 0) return poll();
            plan_.forget_version();
            return relist_later(ListReason::rejected);
        }
        plan_.in_chain() ? plan_.give_up_pages() : plan_.forget_version();
        return later();
    }

    Step on(const Failed& failure) {
        // The first page of a list shows that the API is there.
        if (failure.cause == Cause::absent && !plan_.in_chain()) return on_absence();
        if (stage_ == Stage::probing) return on_failed_probe(failure);
        if (stage_ == Stage::watching) return on_failed_watch(failure);
        if (says_something_about_form(failure.cause))
            plan_.on_failure(resource_version_, may_be_streamed());
        return later(failure);
    }

    /// Where a list is not allowed, another form of it is not, either. A token may be what is not.
    bool says_something_about_form(Cause cause) const {
        if (cause == Cause::cut || cause == Cause::server) return true;
        return plan_.in_chain() &&
               (cause == Cause::network || cause == Cause::refused || cause == Cause::absent);
    }

    /// An API that comes back may have lost everything: its lists tell what was missed. A single
    /// answer may be that of something between here and the server.
    Step on_absence() {
        if (stage_ == Stage::listing || ++absences_ > 1) {
            if (stage_ != Stage::listing) reason_ = ListReason::failing_watch;
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
    /// It may be the same cluster under another name; but versions of another one look alike, and
    /// a watch from there would keep what is not there.
    Step on(const OtherServer&) {
        begin_anew();
        resource_version_.clear();
        owes_probe_ = false;
        return relist(ListReason::other_server);
    }
    Step on(const Slept&) { return resume(); }

    /// Goes on with what is to be done.
    Step resume() {
        if (stage_ == Stage::probing) return Probe{};
        if (stage_ == Stage::watching) return Watch{resource_version_};
        return List{plan_.next(resource_version_, may_be_streamed()), reason_};
    }
    Step later() { return Sleep{backoff_.next(), Waiting::backoff}; }
    Step later(const Failed& failure) {
        if (failure.retry_after)
            return Sleep{wait_asked_for(*failure.retry_after), Waiting::retry_after};
        const bool server_is_away =
            failure.cause == Cause::unreachable || failure.cause == Cause::network;
        return Sleep{backoff_.next(), Waiting::backoff, server_is_away};
    }
    /// The server knows best, for a while: the backoff begins to grow when it has refused often.
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
    Backoff reopen_pace_;   // between watches that bring something and end at once
    Backoff absence_pace_;  // while the server does not have the API
    TimePoint now_{};
    Stage stage_ = Stage::listing;
    ListReason reason_ = ListReason::first;
    std::string resource_version_;
    std::optional<TimePoint> last_list_;
    TimePoint last_news_{};            // see is_barren()
    std::optional<ListReason> doubt_;  // why to list if a probe succeeds
    std::optional<TimePoint> failing_since_;
    int failures_ = 0;  // of watches, since one worked or the server was found not to work
    int refusals_ = 0;  // with Retry-After, in a row
    int quick_lists_ = 0;
    int malformed_ = 0;
    int rejected_watches_ = 0;
    int refused_watches_ = 0;
    int failed_probes_ = 0;
    int absences_ = 0;         // of the API, since a watch worked
    bool owes_probe_ = false;  // a watch was opened although no probe got through
    bool confirming_ = false;
    bool repeated_at_once_ = false;
    bool watched_since_list_ = false;
};

}  // namespace k8s_sd::inline v0::detail
