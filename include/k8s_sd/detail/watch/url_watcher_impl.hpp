#pragma once

#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/watch/outcome.hpp"
#include "k8s_sd/detail/watch/tagging_observer.hpp"
#include "k8s_sd/detail/watch/watch_exchange.hpp"
#include "k8s_sd/detail/watch/watch_forms.hpp"
#include "k8s_sd/detail/watch/watch_idle_timeout.hpp"
#include "k8s_sd/detail/watch/watch_intake.hpp"
#include "k8s_sd/detail/watch/watch_machine.hpp"
#include "k8s_sd/detail/watch/watch_permits.hpp"
#include "k8s_sd/detail/watch/watch_report.hpp"
#include "k8s_sd/detail/watch/watch_server.hpp"
#include "k8s_sd/detail/watch/watch_subject.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Performs the steps of a WatchMachine with the parts of a watch, and turns the verdict on each
/// exchange into an outcome for the machine. WatchPermits decide when a request may start,
/// WatchForms how it looks; WatchExchange sends it and decodes the response; WatchIntake stores the
/// objects; judge() decides the meaning of the response.
///
/// Used on the client's executor, and the only owner of the parts. An observer may stop or drop the
/// watcher in any of its functions. Handlers may outlive the watcher; after stop() they return at
/// once.
///
/// Its bodies are in url_watcher_impl.ipp, and those of a subject in a file of their own:
/// url_watcher_requests.ipp, url_watcher_response.ipp, url_watcher_initial_events.ipp and
/// url_watcher_verdict.ipp.
class URLWatcherImpl final : public std::enable_shared_from_this<URLWatcherImpl>,
                             private ServerUser,
                             private ResponseSink,
                             private GoodHeadSink,
                             private EventSink {
 public:
    /// \param tagger  see WatchIntake
    URLWatcherImpl(std::shared_ptr<ApiClient>, WatchSubject, WatchObserver&,
                   TaggingObserver* tagger = nullptr);

    void start();
    void stop() noexcept;
    /// Ends a pause after a failure whose reason may be gone.
    void end_pause();
    void forget(std::string_view ns, std::string_view name) { intake_.forget(ns, name); }
    void adopt(ObjectPtr object) { intake_.adopt(std::move(object)); }

    const WatchSubject& subject() const noexcept { return subject_; }
    Metrics& metrics() const noexcept { return *server_.api().environment.metrics; }
    const ObjectStore& store() const noexcept { return intake_.store(); }
    const RareList<ObjectPtr>& held() const noexcept { return intake_.held(); }
    bool synced() const noexcept { return report_.status().synced; }
    bool is_unread(std::string_view ns, std::string_view name) const {
        return report_.is_unread(ns, name);
    }
    bool knows_present_server() const noexcept { return server_.is_listed(); }
    WatchStatus status() const;

 private:
    enum class Life : std::uint8_t { created, started, stopped };

    // Requests, for the steps of the machine.
    void go_on(const WatchMachine::Outcome&);
    void perform(const WatchMachine::Step&);
    void perform(const WatchMachine::List&);
    void perform(const WatchMachine::Probe&);
    void perform(const WatchMachine::Watch&);
    void perform(const WatchMachine::Sleep&);
    void list(const WatchMachine::List&);
    void begin_list(const WatchMachine::List&);
    void stream_list(const WatchMachine::List&, std::optional<TimePoint> waiting_since = {});
    void list_with_watch(const WatchMachine::List&);
    void open_watch(const WatchMachine::Watch&);
    void begin(WatchRequest, Purpose);
    void on_credentials(const RequestCredentials&, const WatchRequest&);
    RequestKind kind_of_request();
    void find_version(bool lost, std::function<void(WatchServer::Version)> then);
    void on_version(WatchServer::Version);

    // Change of the server.
    void on_server_change() override;
    void leave();
    void take_server();
    void go_to_other_server();

    // The response.
    void on_connect_wait(bool waits) override;
    void on_pause(TimePoint end) override;
    void on_head(const ResponseHead&) override;
    void on_good_head() override;
    void on_watching();
    error_code on_body(std::string_view bytes) override;
    void on_object(EventType, const DecodedObject&) override;
    void on_bookmark(std::string_view version, bool list_ends) override;
    void on_error_event(const ServerStatus&) override;
    void on_bad_object(const BadObject&) override;
    void on_event(std::string_view version);
    void on_progress(std::string_view version);
    void on_object_of_other_share();

    // A list as the initial events of a watch.
    void on_stream_begun();
    void begin_initial_events();
    void on_initial_event(EventType);
    void wait_for_initial_events(TimePoint until);
    void on_initial_events_late(TimePoint due);
    void end_initial_events(std::string_view version);
    void on_list_streamed(const std::string& version);

    // The end of the response, its verdict and the reports.
    void on_end(error_code ec, std::string why);
    void end_response(error_code ec, std::string why);
    ExchangeEnd end_of_exchange(Failure) const;
    void decide(ExchangeEnd);
    void refresh_credentials(const Verdict&);
    void conclude(const Verdict&);
    static bool completes_list(const Verdict&);
    void remove_missing(const std::function<void()>& then);
    bool post_removal(const std::function<void()>& then);
    void fail_response();
    void report(const Verdict&);
    bool may_divide(const Verdict&) const;
    void report_failure(const Verdict&);
    void report_outcome(const WatchMachine::PageListed&);
    void report_outcome(const WatchMachine::Probed&);
    void report_outcome(const WatchMachine::WentBack&);
    void report_outcome(const WatchMachine::WatchEnded&);
    void report_outcome(const WatchMachine::Suspicious&);
    template <class Other>
    void report_outcome(const Other&) {}
    void report_regression(std::string_view version);
    void report_traffic(const Verdict&);
    void finish_list(const std::string& version);
    void recover();
    void on_status();
    template <class Call>
    void notify(const Call& call);
    void rethrow_later();

    /// Calls the method after `wait`, unless the watcher is gone or the timer was set again.
    void call_after(Duration wait, void (URLWatcherImpl::*method)());
    void wait(Waiting, std::optional<Duration> pause = {});
    bool stopped() const noexcept { return life_ == Life::stopped; }
    bool has_lost_much() const { return !machine_.confirming() && intake_.has_lost_much(); }
    Exchange& state() noexcept { return exchange_.state(); }
    const Exchange& state() const noexcept { return exchange_.state(); }
    TimePoint now() const noexcept { return server_.now(); }

    WatchServer server_;
    const WatchSubject subject_;
    WatchObserver& observer_;
    WatchReport report_;
    WatchIntake intake_;
    WatchForms forms_;
    WatchMachine machine_;
    WatchPermits permits_;
    WatchIdleTimeout idle_timeout_;
    Rare<InitialEventsTimeout> initial_events_;  ///< null in a watch
    WatchExchange exchange_;
    bool regression_reported_ = false;  ///< since a list was complete
    Life life_ = Life::created;
    std::exception_ptr problem_;  ///< of the observer, until it leaves the context
};

}  // namespace k8s_sd::inline v0::detail
