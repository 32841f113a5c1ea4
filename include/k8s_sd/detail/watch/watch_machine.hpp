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
/// as the first events of the watch (a watch-list, KEP-3157), and on_list_streamed() takes the
/// place of an outcome. It lists again when the version has expired, and when
/// watches fail, end or stay silent so often that changes may have been missed. A Probe tells
/// before whether the server works at all, and whether its versions went back.
///
/// Bounds, whatever the server does: a list that takes the place of a watch follows the one before
/// after a pause that doubles up to WatchOptions::backoff_max. The first one comes at once, and so
/// does one after a watch that lived for a minute, or after five minutes. A list that fails because
/// of its version or token is asked for in another way at once, one time. Until all forms of a list
/// have failed (ListForms) the next one follows within 8 s. All other failures are followed by a
/// pause that doubles, too: up to five minutes where the server does not have the API. A watch that
/// ends is reopened at once only if it lived for a second.
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
    struct Silent {};     ///< a watch was silent for longer than it may be
    struct Malformed {};  ///< a watch brought bytes that are not events
    /// A watch brought an object that is older than the version it began with. Some servers do
    /// that.
    struct Doubted {};
    /// The server's version is older than the one that a watch began with.
    struct WentBack {
        std::string resource_version;
    };
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
        silent,       ///< no answer in time, or no more of it
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
    using Outcome =
        std::variant<PageListed, Shrunken, Probed, WatchEnded, Silent, Malformed, Doubted, WentBack,
                     Expired, VersionTooLarge, Rejected, BadPages, NotStreamed, Failed, Moved,
                     NoPlace, NewCredentials, AskOtherwise, OtherServer, Slept>;

    /// \param other_encoding  there is one to ask for besides the usual
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

    /// What the server is known for, see ListMemory.
    void know(const ListMemory::Known& known) { plan_.know(known); }
    /// The list is complete that a watch began with; the watch goes on from there.
    void on_list_streamed(const PageListed& list, TimePoint now) {
        now_ = now;
        plan_.add(list);
        complete_list();
        on_watching(now);
    }
    /// How the list that is under way has come through so far.
    const ListForms& list_forms() const noexcept { return plan_.forms(); }
    /// The server has refused to list with a watch in that list, or such a watch brought no list.
    bool stream_refused() const noexcept { return plan_.stream_refused(); }
    /// The head of a watch's answer is there.
    void on_watching(TimePoint now) {
        streams_.begin(now);
        rejected_watches_ = refused_watches_ = refusals_ = 0;
        watched_since_list_ = true;
    }
    /// An event or bookmark has come. \returns whether its version is news: no older one is
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
    /// A bookmark is among what has come.
    void on_bookmark() noexcept { has_bookmarks_ = true; }
    const std::string& resource_version() const noexcept { return resource_version_; }
    /// The greatest version known, where versions can be compared.
    const std::string& greatest_version() const noexcept { return greatest_; }
    /// Whether a version is older than the one that the watch began with.
    bool is_before_watch(std::string_view version) const noexcept {
        return is_older_version(version, begin_);
    }
    /// Whether such a version of an object leads to a Probe and a list, as it does once an hour:
    /// these may be the ways of this server.
    bool doubts_old_objects(TimePoint now) const noexcept {
        return !doubted_at_ || now - *doubted_at_ >= an_hour || owes_probe_;
    }
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
    static constexpr Duration form_max = std::chrono::seconds(4);
    // Each pause is up to twice as long: five minutes at most.
    static constexpr Duration absent_min = std::chrono::seconds(5);
    static constexpr Duration absent_max = std::chrono::seconds(150);
    static constexpr Duration failing_too_long = std::chrono::minutes(2);
    static constexpr Duration a_while = std::chrono::minutes(1);
    static constexpr Duration an_hour = std::chrono::hours(1);
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
        resource_version_ = begin_ = greatest_ = plan_.finish();
        if (!makes_up_for_watches()) backoff_.reset();
        last_list_ = last_news_ = now_;
        confirming_ = repeated_at_once_ = watched_since_list_ = false;
        stage_ = Stage::watching;
    }

    /// A list that makes up for watches, or confirms another one, comes in the way that depends on
    /// least, if that works.
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
        const bool untried = plan_.forms().has_untried();
        plan_.give_up_stream(why.tried);
        return untried ? resume() : later();
    }

    /// The pauses between failing watches go on to grow then.
    bool makes_up_for_watches() const {
        return failures_ > 0 || reason_ == ListReason::malformed ||
               reason_ == ListReason::short_watches;
    }

    Step on(const Shrunken&) {
        plan_.finish();
        plan_.forget_version();
        reason_ = ListReason::shrunken;
        // The first one is not the outcome of a failure: no earlier failure makes it wait longer.
        return std::exchange(confirming_, true) ? later() : Sleep{short_pause(), Waiting::backoff};
    }
    Duration short_pause() { return options_.backoff_min + backoff_.uniform(options_.backoff_min); }

    Step on(const BadPages&) {
        plan_.on_failure(true);
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
        form_pace_.reset();
    }
    /// The list is asked for in another way, at once the first time.
    Step list_otherwise() {
        return std::exchange(repeated_at_once_, true) ? later_in({}) : resume();
    }
    /// The pause behind a list that failed: a short one as long as another form may get through.
    Step later_in(const Failed& failure) {
        const bool first_round = plan_.forms().in_first_round();
        Sleep sleep = later(failure);
        if (failure.retry_after || failure.cause == Cause::unreachable || !first_round)
            return sleep;
        // The wait for an answer was a pause.
        const Duration pause = failure.cause == Cause::silent
                                   ? backoff_.uniform(options_.backoff_min)
                                   : form_pace_.next();
        sleep.delay = std::min(sleep.delay, pause);
        return sleep;
    }
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
        const bool news = stream.advanced || (stream.brought && stream.proven());
        if (end.in_time || news) last_news_ = now_;
        if (is_barren()) return stream.proven() ? on_quiet() : relist(ListReason::silence);
        if (is_due(streams_.short_in_a_row(), StreamRecord::max_short))
            return relist_later(ListReason::short_watches);
        if (stream.lived()) return Sleep{pause_before_reopening(end), Waiting::reopening};
        return Sleep{stream.brought ? reopen_pace_.next() : backoff_.next(), Waiting::reopening};
    }
    /// Something on the way may close what is quiet, and may as well answer in place of the server.
    /// The version tells whether it is the same server. Where bookmarks have come, they are
    /// missing.
    Step on_quiet() {
        last_news_ = now_;
        owe_probe();
        if (has_bookmarks_) doubt_ = ListReason::silence;
        return resume();
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

    /// The version of the server tells whether it is of another past. If it is not, a list makes up
    /// for what this watch would have brought: it may be as old.
    Step on(const Doubted&) {
        doubted_at_ = now_;
        doubt_ = ListReason::silence;
        owe_probe();
        return Sleep{reopen_pace_.next(), Waiting::reopening};
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
        on_useless_version();
        return list_otherwise();
    }
    /// The pages took longer than the server keeps the version they belong to, or the version is of
    /// no use. A list without either that is answered so has failed.
    void on_useless_version() {
        if (!plan_.in_chain() && plan_.has_version(resource_version_))
            return plan_.forget_version();
        plan_.on_failure(plan_.in_chain());
    }

    // A quiet resource, another replica or a restored etcd: the most recent state is the truth.
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
        on_useless_version();
        return later_in({});
    }

    Step on(const Failed& failure) {
        // The first page of a list shows that the API is there.
        if (failure.cause == Cause::absent && !plan_.in_chain()) return on_absence();
        if (stage_ == Stage::probing) return on_failed_probe(failure);
        if (stage_ == Stage::watching) return on_failed_watch(failure);
        if (failure.cause != Cause::unreachable) plan_.on_failure(is_for_good(failure));
        return later_in(failure);
    }

    /// Whether a second try in the same form is not worth its time: of a form that was not
    /// answered, or is to be asked for later only, while another one may get through.
    bool is_for_good(const Failed& failure) const {
        return failure.cause == Cause::silent || failure.retry_after.has_value();
    }

    /// An API that comes back may have lost everything: its lists tell what was missed. A single
    /// answer may be that of something between here and the server.
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
    /// It may be the same cluster under another name; but versions of another one look alike, and
    /// a watch from there would keep what is not there.
    Step on(const OtherServer&) {
        begin_anew();
        resource_version_.clear();
        greatest_.clear();
        owes_probe_ = false;
        return relist(ListReason::other_server);
    }
    Step on(const Slept&) { return resume(); }

    /// Goes on with what is to be done.
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
    Backoff form_pace_;     // between the forms of a list
    TimePoint now_{};
    Stage stage_ = Stage::listing;
    ListReason reason_ = ListReason::first;
    std::string resource_version_;  // never goes back but with a list
    std::string begin_;             // of the watch
    std::string greatest_;          // of the list and what came since
    std::optional<TimePoint> last_list_;
    TimePoint last_news_{};            // see is_barren()
    std::optional<ListReason> doubt_;  // why to list if a probe succeeds
    std::optional<TimePoint> failing_since_;
    std::optional<TimePoint> doubted_at_;  // because of an old object
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
    bool has_bookmarks_ = false;  // ever
    bool repeated_at_once_ = false;
    bool watched_since_list_ = false;
};

}  // namespace k8s_sd::inline v0::detail
