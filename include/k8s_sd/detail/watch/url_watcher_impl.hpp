#pragma once

#include "k8s_sd/detail/base/random.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/detail/objects/object_tag.hpp"
#include "k8s_sd/detail/transport/inflate.hpp"
#include "k8s_sd/detail/watch/encoding_choice.hpp"
#include "k8s_sd/detail/watch/outcome.hpp"
#include "k8s_sd/detail/watch/share_choice.hpp"
#include "k8s_sd/detail/watch/watch_idle_timeout.hpp"
#include "k8s_sd/detail/watch/watch_machine.hpp"
#include "k8s_sd/detail/watch/watch_report.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Performs the steps of a WatchMachine: sends requests, feeds responses to the reader and objects
/// to the store. judge() decides the meaning of a response.
///
/// Handlers may outlive the watcher; after stop() they return at once.
class URLWatcherImpl final : public std::enable_shared_from_this<URLWatcherImpl>,
                             private ServerUser,
                             private ResponseSink,
                             private EventSink {
 public:
    URLWatcherImpl(std::shared_ptr<ApiClient>, WatchQuery, const WatchOptions&, WatchObserver&,
                   std::shared_ptr<ObjectMaker>, std::shared_ptr<const ObjectForm> form);

    void start();
    void stop() noexcept;
    void forget(std::string_view ns, std::string_view name);
    void adopt(ObjectPtr object);

    const ObjectStore& store() const noexcept { return store_; }
    const std::vector<ObjectPtr>& held() const noexcept { return held_; }
    bool synced() const noexcept { return report_.status().synced; }
    bool is_unread(std::string_view ns, std::string_view name) const {
        return report_.is_unread(ns, name);
    }
    bool knows_present_server() const noexcept { return listed_server_ == api_.server_revision; }
    WatchStatus status() const;

 private:
    void go_on(const WatchMachine::Outcome&);
    ListMemory::Known known_forms() const;
    void perform(const WatchMachine::Step&);
    void perform(const WatchMachine::List&);
    void perform(const WatchMachine::Probe&);
    void perform(const WatchMachine::Watch&);
    void perform(const WatchMachine::Sleep&);
    void list(const WatchMachine::List&);
    void begin_encoding(const WatchMachine::List&);
    void list_with_watch(const WatchMachine::List&);
    bool may_stream_list() const;
    bool wants_gzip() const;
    bool asks_for_share() const;
    WatchQuery query_to_send() const;
    void open_watch(const WatchMachine::Watch&);
    void begin(WatchRequest, Purpose, Waiting);
    void on_credentials(const RequestCredentials&, const WatchRequest&, Waiting);

    void on_server_change() override;
    void leave();
    bool is_of_other_server() const noexcept;
    void take_server();
    void go_to_other_server();

    void on_head(const ResponseHead&) override;
    void on_good_head();
    bool take_type_from(std::string_view bytes);
    void on_watching();
    error_code on_body(std::string_view bytes) override;
    error_code unpack(std::string_view bytes);
    error_code read(std::string_view bytes);

    void on_object(EventType, const DecodedObject&) override;
    void on_bookmark(std::string_view version, bool list_ends) override;
    void on_error_event(const ServerStatus&) override;
    void on_bad_object(const BadObject&) override;
    void keep_last_state(const BadObject&);
    bool hides_state(const BadObject&) const;
    void on_progress(std::string_view version);
    void on_change(const ObjectChange&);
    void on_object_of_other_share();
    void on_probed_object();
    bool wants(std::string_view ns, std::string_view name);
    std::optional<std::uint16_t> tag_of(EventType, const DecodedObject&);
    bool is_one_too_many(EventType, bool kept, const api::ObjectMeta&);
    void on_initial_event(EventType);
    void wait_for_initial_events(TimePoint until);
    void on_initial_events_late();
    void on_list_streamed(std::string_view version);
    bool has_lost_much() const;

    void on_end(error_code ec, std::string why);
    void ask_for_versions(bool lost, std::function<void(bool served, bool moved)> then);
    void move_to(std::string_view api_version);
    void decide(ExchangeEnd);
    bool encoding_is_of_no_use(const ExchangeEnd&) const;
    bool fall_back(const Verdict&);
    void ask_otherwise();
    ExchangeEnd end_of_exchange(Failure) const;
    void refresh_credentials(const Verdict&);
    bool has_just_retried() const;
    void conclude(const Verdict&);
    void report(const Verdict&);
    void report_regression(const std::string& version);
    void report_traffic(const Verdict&);
    void finish_list(const std::string& version);
    void learn_forms();
    void on_share_refused();
    void report_share(bool by_server);
    void recover();

    /// Calls the method after `wait`, unless the watcher is gone or the timer was set again.
    void call_after(Duration wait, void (URLWatcherImpl::*method)());
    void wait_until_recovery(const WatchMachine::Sleep&);
    void wake(TimePoint earliest, TimePoint end);
    Duration draw_jitter(Duration most);
    void on_slept();
    void wait(Waiting, std::optional<Duration> pause = {});
    TimePoint now() const noexcept { return api_.environment.clock->now(); }

    std::shared_ptr<ApiClient> client_;
    ApiClientImpl& api_;
    std::uint64_t server_;                        ///< revision of the current server
    std::shared_ptr<ServerTraffic> traffic_;      ///< of that server
    std::optional<std::uint64_t> listed_server_;  ///< server revision of the last list
    WatchQuery query_;
    std::string_view api_version_;  ///< on this server; empty: the current one
    WatchOptions options_;
    WatchObserver& observer_;
    std::shared_ptr<ObjectMaker> maker_;
    const std::shared_ptr<const ObjectForm> form_;
    const KindSchema& schema_;
    ObjectStore store_;
    ListWatchReader reader_;
    EncodingChoice encoding_;
    WatchMachine machine_;
    ShareChoice share_;
    Random random_;
    WatchIdleTimeout idle_timeout_;
    InitialEventsTimeout initial_events_;
    WatchReport report_;
    std::unique_ptr<HttpConnection> connection_;
    std::unique_ptr<Timer> timer_;
    std::unique_ptr<Timer> leaving_;  ///< delays the server change; null: there was none

    ServerTraffic::RequestHandle request_handle_;  ///< of a pending permit or wake-up
    ServerTraffic::Permit list_permit_;
    ServerTraffic::Permit watch_permit_;

    Exchange exchange_;              ///< the current one
    std::uint64_t credentials_ = 0;  ///< revision of the credentials sent
    std::uint64_t recoveries_ = 0;   ///< of the server, when the request was sent
    TimePoint sent_at_{};
    bool untyped_ = false;  ///< no usable content type; the first byte of the body decides
    TimePoint initial_events_due_{};  ///< expiry of the timer
    std::optional<TimePoint> head_at_;
    std::optional<TimePoint> watching_since_;
    std::chrono::seconds watch_timeout_{};  ///< requested `timeoutSeconds`
    std::unique_ptr<Inflater> inflater_;    ///< null: the body is not compressed
    bool gzip_failed_ = false;              ///< since a list was complete
    std::uint64_t body_bytes_ = 0;          ///< of the response
    Duration body_wait_{};                  ///< time spent on the network, not here
    std::uint64_t listed_bytes_ = 0;        ///< up to the last object of a list
    Duration listed_wait_{};
    TimePoint read_until_{};               ///< end of the previous read
    TimePoint batch_at_{};                 ///< arrival of the current bytes
    std::vector<ObjectPtr> held_;          ///< of a list with unknown kind so far
    bool too_many_ = false;                ///< objects
    bool asking_ = false;                  ///< for API versions
    std::optional<TimePoint> retried_at_;  ///< immediate retry with new credentials
    bool woken_ = false;                   ///< by the server's recovery, before the pause ended
    bool regression_reported_ = false;     // since a list was complete
    bool adopted_ = false;                 ///< objects from another watch
    bool started_ = false;
    bool stopped_ = false;
};

}  // namespace k8s_sd::inline v0::detail
