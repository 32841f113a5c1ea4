#include "k8s_sd/detail/base/fnv1a.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/transport/unreachable.hpp"
#include "k8s_sd/detail/watch/url_watcher_impl.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

namespace {

/// A watch open for this long works, even without an event.
constexpr Duration proof_of_life = std::chrono::seconds(1);
/// The recovery of a server wakes all waiting watches: spread over this time, and none of them
/// sooner than this pause after its own failure.
constexpr Duration recovery_jitter = std::chrono::seconds(1);
constexpr Duration min_recovery_pause = std::chrono::seconds(4);
/// Watches leave a server removed from the kubeconfig spread over this time.
constexpr Duration leaving_jitter = std::chrono::seconds(5);
constexpr Duration max_permit_wait = std::chrono::minutes(2);
/// More objects than a server returns for a list with limit 1.
constexpr std::size_t max_probed = 100;
/// A timer this late was held up by a busy executor, and so were incoming bytes.
constexpr Duration late_timer = std::chrono::seconds(1);

/// How long a watch must stay open to clear a failure; nullopt if lifetime alone cannot clear it.
std::optional<Duration> life_that_proves(Proof proof) {
    switch (proof) {
        case Proof::life: return proof_of_life;
        case Proof::steady_life: return StreamRecord::short_life;
        case Proof::long_life: return StreamRecord::long_life;
        case Proof::event: break;
    }
    return std::nullopt;
}

bool is_gzip(std::string_view content_encoding) noexcept {
    return content_encoding == "gzip" || content_encoding == "x-gzip";
}

/// Detects the encoding of a body by its first byte; empty: unknown.
std::string_view type_of_body(char first, bool events) noexcept {
    constexpr std::string_view json_begins_with = "{ \t\r\n\xEF";
    // A list in protobuf begins with "k8s", an event with its length: less than 16 MiB.
    if (first == (events ? '\0' : 'k')) return protobuf_media_type;
    return json_begins_with.find(first) != std::string_view::npos ? json_media_type
                                                                  : std::string_view();
}

}  // namespace

URLWatcherImpl::URLWatcherImpl(std::shared_ptr<ApiClient> client, WatchQuery query,
                               const WatchOptions& options, WatchObserver& observer,
                               std::shared_ptr<ObjectMaker> maker,
                               std::shared_ptr<const ObjectForm> form)
    : client_(std::move(client)),
      api_(client_->impl()),
      server_(api_.server_revision),
      traffic_(api_.traffic),
      query_(std::move(query)),
      options_(options),
      observer_(observer),
      maker_(std::move(maker)),
      form_(form || is_built_in(query_.kind)
                ? std::move(form)
                : std::make_shared<const ObjectForm>(query_.kind, Fields::all(), false)),
      schema_(form_ ? form_->schema : schema_of(query_.kind)),
      reader_(schema_, options.max_object_bytes, *this),
      encoding_(options.protobuf && !schema_.json_only, schema_.metadata_only),
      machine_(options, api_.next_seed(), encoding_.has_other()),
      random_(api_.next_seed()),
      idle_timeout_(traffic_->bookmarks),
      initial_events_(options),
      report_(
          query_, api_.url(), api_.environment.metrics->of(query_.kind), api_.environment.logger,
          [this](std::string text) { return api_.redact(std::move(text)); }, now()),
      connection_(api_.make_connection()),
      timer_(api_.environment.clock->make_timer(api_.executor)) {}

void URLWatcherImpl::start() {
    if (started_ || stopped_) return;
    started_ = true;
    take_server();
    api_.add_user(*this);
    const auto self = shared_from_this();  // the observer may drop the watcher
    machine_.know(known_forms());
    perform(machine_.start());
}

void URLWatcherImpl::stop() noexcept {
    if (stopped_) return;
    stopped_ = true;
    api_.remove_user(*this);
    connection_->close();
    timer_->cancel();
    if (leaving_) leaving_->cancel();
    request_handle_.reset();
    list_permit_.reset();
    watch_permit_.reset();
    report_.end();
}

WatchStatus URLWatcherImpl::status() const {
    WatchStatus status = report_.whole_status();
    status.resource_version = machine_.resource_version();
    return status;
}

void URLWatcherImpl::forget(std::string_view ns, std::string_view name) {
    report_.on_read(ns, name);
    if (store_.remove(ns, name).before) report_.on_forgotten();
}

void URLWatcherImpl::adopt(ObjectPtr object) {
    adopted_ = true;
    if (store_.put(std::move(object)).after) report_.on_adopted();
}

// --- steps of the machine -----------------------------------------------------------------------

void URLWatcherImpl::go_on(const WatchMachine::Outcome& outcome) {
    if (stopped_) return;
    machine_.know(known_forms());
    perform(machine_.next(outcome, now()));
}

ListMemory::Known URLWatcherImpl::known_forms() const {
    return traffic_->list_forms.of(query_.kind, now());
}

void URLWatcherImpl::perform(const WatchMachine::Step& step) {
    if (stopped_) return;
    std::visit([this](const auto& s) { perform(s); }, step);
}

// A list holds its permit from the first to the last page unless interrupted.
void URLWatcherImpl::perform(const WatchMachine::List& wanted) {
    if (!list_permit_) list_permit_ = traffic_->try_list_permit();
    if (list_permit_) return list(wanted);
    wait(Waiting::list_budget);
    connection_->close();
    request_handle_ = traffic_->async_list_permit(
        api_.executor, [weak = weak_from_this(), wanted](ServerTraffic::Permit permit) {
            const auto self = weak.lock();
            if (!self || self->stopped_) return;
            self->timer_->cancel();
            self->list_permit_ = std::move(permit);
            self->list(wanted);
            if (!self->stopped_) self->observer_.on_status();
        });
    // A stalled list must not block the others indefinitely.
    timer_->expires_at(now() + max_permit_wait, [weak = weak_from_this(), wanted] {
        const auto self = weak.lock();
        if (!self || self->stopped_) return;
        self->request_handle_.reset();
        self->list(wanted);
        if (!self->stopped_) self->observer_.on_status();
    });
}

void URLWatcherImpl::list(const WatchMachine::List& wanted) {
    if (wanted.streamed && !may_stream_list()) return go_on(WatchMachine::NotStreamed{false});
    if (wanted.continue_token.empty()) {
        store_.begin_list();
        report_.begin_list(wanted.reason, now());
        begin_encoding(wanted);
    }
    if (wanted.streamed) return list_with_watch(wanted);
    reader_.expect(Document::list);
    WatchRequest request = list_request(query_to_send(), options_, wanted, api_version_);
    request.gzip = wants_gzip();
    begin(std::move(request), Purpose::list, Waiting::list);
}

/// Adopts the encoding choice of other watches of the kind, which have seen the first one fail.
void URLWatcherImpl::begin_encoding(const WatchMachine::List& wanted) {
    encoding_.begin_list(now());
    const auto json_until = known_forms().json_until;
    if (json_until && !wanted.other_encoding) encoding_.be_plain_until(*json_until);
}

/// The list keeps its permit until it is complete; its watch takes one now.
void URLWatcherImpl::list_with_watch(const WatchMachine::List& wanted) {
    watch_permit_ = traffic_->try_watch_permit();
    if (!watch_permit_) return go_on(WatchMachine::NotStreamed{false});
    watch_timeout_ = draw_watch_timeout(options_, random_);
    reader_.expect(Document::watch);
    begin(streamed_list_request(query_to_send(), options_, wanted, watch_timeout_), Purpose::list,
          Waiting::list);
}

/// Watch-lists require the current API version; servers with an older one lack the feature.
bool URLWatcherImpl::may_stream_list() const { return api_version_.empty() && !wants_gzip(); }

bool URLWatcherImpl::asks_for_share() const {
    return !query_.share.is_all() && options_.server_side_shares && share_.sends() &&
           traffic_->shards.worth_trying(now());
}

/// The query for the server; the watcher filters the rest.
WatchQuery URLWatcherImpl::query_to_send() const {
    WatchQuery query = query_;
    if (!asks_for_share()) query.share = {};
    return query;
}

/// Never gzip Secrets: zlib does not wipe its buffers.
bool URLWatcherImpl::wants_gzip() const {
    if (holds_secrets(query_.kind) || gzip_failed_ || !api_.compresses() ||
        options_.gzip == Compression::never || !known_forms().compresses) {
        return false;
    }
    return options_.gzip == Compression::always ||
           (traffic_->lists.is_slow(now()) && !api_.is_local());
}

void URLWatcherImpl::perform(const WatchMachine::Probe&) {
    report_.begin_probe();
    reader_.expect(Document::list);
    begin(probe_request(query_to_send(), options_, api_version_), Purpose::probe, Waiting::probe);
}

void URLWatcherImpl::perform(const WatchMachine::Watch& watch) {
    list_permit_.reset();
    watch_permit_.reset();
    if (api_version_.empty()) return open_watch(watch);
    wait(Waiting::watch);
    ask_for_versions(false, [this, watch](bool, bool moved) {
        if (!moved) open_watch(watch);
    });
}

void URLWatcherImpl::open_watch(const WatchMachine::Watch& watch) {
    watch_permit_ = traffic_->try_watch_permit();
    if (!watch_permit_) {
        exchange_ = {};
        exchange_.purpose = Purpose::watch;
        return conclude({WatchMachine::NoPermit{},
                         {errc::too_many_watches,
                          "the limit (ServerLimits::watches) of open watches is reached"},
                         true});
    }
    const std::chrono::seconds timeout = draw_watch_timeout(options_, random_);
    WatchRequest request = watch_request(query_to_send(), watch, timeout, api_version_);
    idle_timeout_.begin_watch(silence_of_watch(timeout));
    request.idle_timeout = idle_timeout_.allowed();
    if (machine_.is_suspect()) request.idle_timeout = idle_timeout_.allowed_if_suspect();
    reader_.expect(Document::watch);
    watch_timeout_ = timeout;
    begin(std::move(request), Purpose::watch, Waiting::watch);
}

void URLWatcherImpl::perform(const WatchMachine::Sleep& sleep) {
    if (is_of_other_server()) return go_to_other_server();
    list_permit_.reset();
    watch_permit_.reset();
    // The next connection resolves the address again, which spreads clients over replicas, and no
    // idle connection needs keep-alives.
    connection_->close();
    wait(sleep.why, sleep.delay);
    if (sleep.why == Waiting::poll) report_.begin_poll(options_.poll_interval);
    call_after(sleep.delay, &URLWatcherImpl::on_slept);
    // Only once in a row: a request may fail although the server works.
    if (sleep.until_recovery && !std::exchange(woken_, false)) wait_until_recovery(sleep);
}

/// Ends the pause early when another request to the server succeeds.
void URLWatcherImpl::wait_until_recovery(const WatchMachine::Sleep& sleep) {
    const TimePoint end = now() + sleep.delay;
    const TimePoint earliest = now() + min_recovery_pause;
    // The recovery may have happened while this watch waited for its response.
    if (traffic_->recoveries() != recoveries_) return wake(earliest, end);
    request_handle_ =
        traffic_->async_recovery(api_.executor, [weak = weak_from_this(), end, earliest] {
            const auto self = weak.lock();
            if (self && !self->stopped_) self->wake(earliest, end);
        });
}

void URLWatcherImpl::wake(TimePoint earliest, TimePoint end) {
    const TimePoint soon = std::max(now(), earliest) + draw_jitter(recovery_jitter);
    if (soon >= end) return;
    woken_ = true;
    call_after(soon - now(), &URLWatcherImpl::on_slept);
}

Duration URLWatcherImpl::draw_jitter(Duration most) {
    using Distribution = std::uniform_int_distribution<Duration::rep>;
    return Duration(Distribution(0, most.count())(random_));
}

void URLWatcherImpl::on_slept() {
    request_handle_.reset();
    go_on(WatchMachine::Slept{});
    if (!stopped_) observer_.on_status();
}

void URLWatcherImpl::begin(WatchRequest request, Purpose purpose, Waiting waiting) {
    exchange_ = {};
    exchange_.kind = query_.kind;
    exchange_.ns = query_.ns;
    exchange_.purpose = purpose;
    exchange_.has_position = request.has_position;
    exchange_.streams = machine_.streams();
    exchange_.streamed = request.streamed;
    exchange_.gzip = request.gzip;
    exchange_.sharded = asks_for_share();
    request.accept = encoding_.accept(purpose == Purpose::watch || request.streamed,
                                      api_version_.empty(), request.other_encoding);
    exchange_.hasty = request.hasty;
    exchange_.body_timeout = request.body_timeout;
    untyped_ = false;
    head_at_.reset();
    watching_since_.reset();
    inflater_.reset();
    body_bytes_ = listed_bytes_ = 0;
    body_wait_ = listed_wait_ = {};
    recoveries_ = traffic_->recoveries();
    too_many_ = false;
    wait(Waiting::credentials);
    api_.async_get_credentials([weak = weak_from_this(), request = std::move(request),
                                waiting](const RequestCredentials& credentials) {
        if (const auto self = weak.lock()) self->on_credentials(credentials, request, waiting);
    });
}

void URLWatcherImpl::on_credentials(const RequestCredentials& credentials,
                                    const WatchRequest& request, Waiting waiting) {
    if (stopped_) return;
    if (credentials.ec) {
        return conclude({WatchMachine::Failed{std::nullopt, WatchMachine::Cause::unsent},
                         {credentials.ec, credentials.problem},
                         true});
    }
    if (is_of_other_server()) return go_to_other_server();
    exchange_.credentials_problem = credentials.problem;
    credentials_ = credentials.revision;
    sent_at_ = now();
    wait(waiting);
    HttpRequest http = api_.make_request(request.target, credentials, request.accept, request.gzip);
    http.connect_timeout = options_.connect_timeout;
    http.idle_timeout = request.idle_timeout;
    http.idle_error = request.idle_error;
    http.secret_body = holds_secrets(query_.kind);
    connection_->async_send(api_.target_for(credentials), std::move(http), *this,
                            [this](error_code ec, std::string why) {
                                const auto self = shared_from_this();
                                on_end(ec, std::move(why));
                            });
}

// --- change of the server -----------------------------------------------------------------------

/// Jitter the move, so watchers do not hit the new server at the same time.
void URLWatcherImpl::on_server_change() {
    if (!leaving_) leaving_ = api_.environment.clock->make_timer(api_.executor);
    leaving_->expires_at(now() + draw_jitter(leaving_jitter), [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self && !self->stopped_) self->leave();
    });
}

/// Aborts a request to the old server; other waits check the server themselves afterwards.
void URLWatcherImpl::leave() {
    const bool sent = !asking_ && report_.status().waiting != Waiting::credentials;
    if (sent && is_of_other_server()) go_to_other_server();
}

bool URLWatcherImpl::is_of_other_server() const noexcept { return server_ != api_.server_revision; }

void URLWatcherImpl::take_server() {
    server_ = api_.server_revision;
    if (traffic_ == api_.traffic) return;
    traffic_ = api_.traffic;
    idle_timeout_ = WatchIdleTimeout(traffic_->bookmarks);
}

/// Discards the state of the old server.
void URLWatcherImpl::go_to_other_server() {
    connection_->close();
    timer_->cancel();
    request_handle_.reset();
    list_permit_.reset();
    watch_permit_.reset();
    reader_.release();
    held_.clear();
    encoding_.forget();
    share_.forget();
    take_server();
    go_on(WatchMachine::OtherServer{});
    if (!stopped_) observer_.on_status();
}

// --- the response as it arrives -----------------------------------------------------------------

void URLWatcherImpl::on_head(const ResponseHead& head) {
    exchange_.head = head;
    head_at_ = read_until_ = now();
    const bool packed = is_gzip(head.content_encoding);
    if (head.status != 200 || (!packed && !head.content_encoding.empty())) return;
    // Some gateways compress without a request for it.
    if (packed) inflater_ = std::make_unique<Inflater>();
    exchange_.readable = reader_.choose_decoder(head.content_type);
    untyped_ = !exchange_.readable || head.content_type.empty();
    if (exchange_.readable) on_good_head();
}

/// The server has answered successfully.
void URLWatcherImpl::on_good_head() {
    traffic_->on_success();
    if (share_.on_success(exchange_.sharded)) on_share_refused();
    if (exchange_.watching()) {
        machine_.on_watching(*head_at_);
        return on_watching();
    }
    if (exchange_.purpose == Purpose::list)
        traffic_->list_forms.on_answer(*head_at_ - sent_at_, *head_at_);
    if (!exchange_.streamed) {
        if (exchange_.body_timeout > Duration{})
            connection_->set_idle_timeout(exchange_.body_timeout, errc::response_timeout);
        return;
    }
    initial_events_.begin(*head_at_, exchange_.hasty);
    wait_for_initial_events(initial_events_.deadline());
}

/// A proxy has removed or replaced the content type.
/// \returns whether the body is readable
bool URLWatcherImpl::take_type_from(std::string_view bytes) {
    if (bytes.empty() || !std::exchange(untyped_, false)) return exchange_.readable;
    const bool events = exchange_.watching() || exchange_.streamed;
    const std::string_view type = type_of_body(bytes.front(), events);
    if (type.empty() || (exchange_.readable && type == json_media_type)) return exchange_.readable;
    const bool known = std::exchange(exchange_.readable, reader_.choose_decoder(type));
    exchange_.mistyped = !exchange_.head.content_type.empty();
    if (exchange_.readable && !known) on_good_head();
    return exchange_.readable;
}

void URLWatcherImpl::on_watching() {
    watching_since_ = now();
    report_.on_watch();
    wait(Waiting::events);
    // Wait for proof that the watch works: an error may follow the head.
    const std::optional<Duration> life = life_that_proves(report_.over_with());
    if (report_.status().error && life) call_after(*life, &URLWatcherImpl::recover);
    observer_.on_status();
}

error_code URLWatcherImpl::on_body(std::string_view bytes) {
    batch_at_ = now();
    if (body_bytes_ > 0) body_wait_ += batch_at_ - read_until_;
    body_bytes_ += bytes.size();
    report_.on_bytes(bytes.size(), batch_at_);
    if (!exchange_.readable && !untyped_) return exchange_.add_error_text(bytes);
    const auto self = shared_from_this();  // the observer may drop the watcher
    const error_code ec = inflater_ ? unpack(bytes) : read(bytes);
    if (!stopped_ && report_.take_unread_change()) observer_.on_status();
    if (stopped_) return asio::error::operation_aborted;
    observer_.on_batch_end();
    read_until_ = now();
    return ec;
}

error_code URLWatcherImpl::unpack(std::string_view bytes) {
    return inflater_->feed(bytes, [this](std::string_view unpacked) { return read(unpacked); });
}

error_code URLWatcherImpl::read(std::string_view bytes) {
    if (!take_type_from(bytes)) return exchange_.add_error_text(bytes);
    if (stopped_) return asio::error::operation_aborted;
    const error_code ec = reader_.feed(bytes);
    if (stopped_) return asio::error::operation_aborted;
    if (ec) return ec;
    if (exchange_.has_verdict() || exchange_.doubted) return asio::error::operation_aborted;
    if (too_many_) return errc::too_many_objects;
    // An ERROR event ends the stream.
    return exchange_.error_event ? make_error_code(errc::server_error) : error_code();
}

void URLWatcherImpl::on_object(EventType type, const DecodedObject& decoded) {
    const api::ObjectMeta& meta = decoded.meta;
    if (stopped_ || exchange_.has_verdict()) return;
    if (exchange_.sharded && !query_.share.contains(meta.uid)) on_object_of_other_share();
    const std::optional<std::uint16_t> tag = tag_of(type, decoded);
    if (stopped_ || is_one_too_many(type, tag.has_value(), meta)) return;
    if (exchange_.purpose == Purpose::probe) return on_probed_object();
    if (exchange_.streams_list()) on_initial_event(type);
    if (exchange_.watching()) {
        on_progress(meta.resource_version);
        report_.on_event(batch_at_);
        if (stopped_) return;
        // The event counts all the same: its version may not be comparable.
        if (machine_.doubts_old_objects(batch_at_) &&
            machine_.is_before_watch(meta.resource_version))
            exchange_.doubted = true;
    }
    if (!wants(meta.namespace_, meta.name)) return;
    report_.on_read(meta.namespace_, meta.name);
    if (!tag) return on_change(store_.remove(meta.namespace_, meta.name));
    ObjectPtr object = maker_->make(decoded, form_.get());
    ObjectTag::set(*object, *tag);
    if (*tag == ObjectTag::apart) observer_.keep_apart(object);
    if (!decoded.kind_is_certain) return held_.push_back(std::move(object));
    if (exchange_.watching()) return on_change(store_.put(std::move(object)));
    on_change(store_.put_listed(std::move(object)));
}

/// If the server ignores the limit, the second object follows the server's version.
void URLWatcherImpl::on_probed_object() {
    if (exchange_.items > 1) exchange_.early_version = reader_.early_version();
}

/// Also false if the observer drops the watcher.
bool URLWatcherImpl::wants(std::string_view ns, std::string_view name) {
    return observer_.wants(ns, name) && !stopped_;
}

/// Reported once per response.
void URLWatcherImpl::on_object_of_other_share() {
    exchange_.sharded = false;
    report_share(false);
}

/// The tag to store the object with; nullopt drops the object.
std::optional<std::uint16_t> URLWatcherImpl::tag_of(EventType type, const DecodedObject& decoded) {
    if (type == EventType::deleted || exchange_.purpose == Purpose::probe) return std::nullopt;
    if (!wants(decoded.meta.namespace_, decoded.meta.name)) return std::nullopt;
    if (!query_.share.contains(decoded.meta.uid)) return std::nullopt;
    return observer_.tag_of(decoded);
}

/// Counts all objects of a list or probe, wanted or not, so none is endless; a list may bring new
/// objects before it drops missing ones. An event beyond the limit is dropped with its version, so
/// the server sends it again.
bool URLWatcherImpl::is_one_too_many(EventType type, bool kept, const api::ObjectMeta& meta) {
    if (too_many_) return true;
    // A streamed list may contain changes of its own objects before its end.
    const bool is_change = exchange_.streams_list() && type != EventType::added &&
                           (type == EventType::deleted || store_.find(meta.namespace_, meta.name));
    if (!exchange_.watching() && !is_change) ++exchange_.items;
    const bool is_probe = exchange_.purpose == Purpose::probe;
    const bool no_room = exchange_.watching() && kept && store_.size() >= options_.max_objects &&
                         !store_.find(meta.namespace_, meta.name);
    too_many_ = no_room || exchange_.items > (is_probe ? max_probed : options_.max_objects);
    return too_many_;
}

void URLWatcherImpl::on_bookmark(std::string_view version, bool list_ends) {
    if (stopped_ || exchange_.has_verdict() || too_many_) return;
    report_.on_bookmark(batch_at_);
    if (exchange_.streams_list()) {
        if (list_ends && !version.empty()) on_list_streamed(version);
        return;
    }
    if (machine_.is_before_watch(version)) {
        exchange_.old_version = version;
        return;
    }
    machine_.on_bookmark();
    on_progress(version);
    if (stopped_) return;
    idle_timeout_.on_bookmark(batch_at_);
    connection_->set_idle_timeout(idle_timeout_.allowed(), errc::idle_timeout);
}

// --- a list as the first events of a watch ------------------------------------------------------

void URLWatcherImpl::on_initial_event(EventType type) {
    if (type != EventType::added) return initial_events_.on_change(batch_at_);
    initial_events_.on_object(batch_at_);
    listed_bytes_ = body_bytes_;
    listed_wait_ = body_wait_;
}

void URLWatcherImpl::wait_for_initial_events(TimePoint until) {
    initial_events_due_ = until;
    call_after(until - now(), &URLWatcherImpl::on_initial_events_late);
}

void URLWatcherImpl::on_initial_events_late() {
    if (stopped_ || !exchange_.streams_list()) return;
    // A busy executor delays the read; process the buffered bytes first.
    const Duration late = now() - initial_events_due_;
    if (late > late_timer) {
        initial_events_.on_blocked(late);
        return wait_for_initial_events(std::max(initial_events_.deadline(), now() + late_timer));
    }
    if (initial_events_.deadline() > now())
        return wait_for_initial_events(initial_events_.deadline());
    const auto self = shared_from_this();  // the observer may drop the watcher
    connection_->close();
    on_end(errc::response_timeout, "the list that the watch began with does not end");
}

/// All known state came over this stream, and the stream continues.
void URLWatcherImpl::on_list_streamed(std::string_view version) {
    if (has_lost_much()) {
        exchange_.suspicious = true;
        return;
    }
    if (exchange_.sharded && shows_shard(query_.share.fraction(), exchange_.items))
        report_share(true);
    timer_->cancel();
    list_permit_.reset();
    traffic_->lists.add(listed_bytes_, listed_wait_, now());
    finish_list(std::string(version));
    if (stopped_) return;
    machine_.on_list_streamed({std::string(version), {}, exchange_.items}, now());
    exchange_.purpose = Purpose::watch;
    idle_timeout_.begin_watch(silence_of_watch(watch_timeout_));
    connection_->set_idle_timeout(idle_timeout_.allowed(), errc::idle_timeout);
    on_watching();
}

/// Whether the list is suspicious. Truncated lists before the first sync do not count: no observer
/// has seen them as a state.
bool URLWatcherImpl::has_lost_much() const {
    return (synced() || adopted_) && options_.confirm_suspicious_lists && !machine_.confirming() &&
           store_.missing() * 2 > store_.known_before_list();
}

// --- the rest of a response ---------------------------------------------------------------------

void URLWatcherImpl::on_error_event(const ServerStatus& error) { exchange_.error_event = error; }

void URLWatcherImpl::on_bad_object(const BadObject& bad) {
    if (stopped_ || too_many_ || exchange_.has_verdict()) return;
    if (!exchange_.watching()) {
        too_many_ = ++exchange_.items > options_.max_objects;
        if (exchange_.purpose == Purpose::probe) return on_probed_object();
        if (exchange_.streamed) on_initial_event(EventType::added);
    } else if (!bad.resource_version.empty()) {
        on_progress(bad.resource_version);
        if (stopped_) return;
    }
    if (!bad.uid.empty() && !query_.share.contains(bad.uid)) return;
    if (bad.is_state) keep_last_state(bad);
    if (stopped_) return;
    if (bad.ns.empty() || bad.name.empty() || wants(bad.ns, bad.name))
        report_.on_bad_object(bad, hides_state(bad));
}

/// Keeps the last state of an unreadable object; another UID proves its deletion.
void URLWatcherImpl::keep_last_state(const BadObject& bad) {
    if (!is_identified(bad, query_.kind)) return store_.mark_nameless();
    const Object* known = store_.find(bad.ns, bad.name);
    if (!known) return;
    if (bad.uid.empty() || known->uid_hash() == fnv1a64(bad.uid)) {
        store_.mark_listed(bad.ns, bad.name);
    } else if (exchange_.watching()) {
        on_change(store_.remove(bad.ns, bad.name));
    }
}

/// An object over the size limit has an unknown state. So has a list with an unnamed object: any
/// missing object may be this one.
bool URLWatcherImpl::hides_state(const BadObject& bad) const {
    if (!bad.is_state) return false;
    return bad.ec == errc::object_too_large ||
           (store_.has_nameless() && !is_identified(bad, query_.kind));
}

void URLWatcherImpl::on_progress(std::string_view version) {
    ++exchange_.events;
    if (machine_.on_progress(version, batch_at_)) exchange_.advanced = true;
    if (report_.status().error && report_.over_with() != Proof::long_life) recover();
}

void URLWatcherImpl::recover() {
    if (!stopped_ && report_.recover(now())) observer_.on_status();
}

void URLWatcherImpl::on_change(const ObjectChange& change) {
    if (stopped_ || (!change.before && !change.after)) return;
    report_.on_change(change);
    observer_.on_change(change);
}

// --- the end of the response --------------------------------------------------------------------

void URLWatcherImpl::on_end(error_code ec, std::string why) {
    if (stopped_) return;
    timer_->cancel();
    watch_permit_.reset();
    const std::unique_ptr<Inflater> inflater = std::exchange(inflater_, nullptr);
    if (!ec && inflater) ec = inflater->finish();
    if (ec) {
        reader_.release();
    } else if (exchange_.readable) {
        ec = reader_.finish();
    }
    const auto held = std::exchange(held_, {});
    if (!ec) {
        for (const ObjectPtr& object : held) on_change(store_.put_listed(object));
        if (stopped_) return;
    }
    if (too_many_) {
        why = exchange_.purpose == Purpose::probe
                  ? "a list of one object was asked for, and has very many before its version"
                  : "more than " + std::to_string(options_.max_objects) +
                        " objects; select fewer, or raise max_objects";
    } else if (ec && ec.category() == category() && !reader_.problem().empty()) {
        why = reader_.problem();
    } else if (ec && inflater && !inflater->problem().empty()) {
        why = inflater->problem();
    }
    ExchangeEnd end = end_of_exchange({ec, std::move(why)});
    if (exchange_.head.status != 404 || schema_.older_version.empty())
        return decide(std::move(end));
    list_permit_.reset();
    ask_for_versions(true, [this, end = std::move(end)](bool served, bool moved) {
        exchange_.served = served;
        if (!moved) decide(end);
    });
}

/// Asks discovery for the API versions of the kind and switches to the best one.
/// \param lost  the watched version is missing on the server
/// `served`: discovery lists a version. `moved`: another version is listed from now on. If the
/// older version is gone and discovery is silent, list the current version.
void URLWatcherImpl::ask_for_versions(bool lost,
                                      std::function<void(bool served, bool moved)> then) {
    using Answer = ServedVersions::Answer;
    const std::string_view older = schema_.older_version;
    asking_ = true;
    api_.served_versions.async_get(
        query_.kind, older,
        [weak = weak_from_this(), older, lost, then = std::move(then)](Answer answer) {
            const auto self = weak.lock();
            if (!self || self->stopped_) return;
            self->asking_ = false;
            if (self->is_of_other_server()) return self->go_to_other_server();
            const bool served = answer != Answer::none;
            const std::string_view best = answer == Answer::older ? older : std::string_view();
            const bool moved = best != self->api_version_ && (served || lost);
            if (moved) self->move_to(best);
            then(served, moved);
            if (!self->stopped_) self->observer_.on_status();
        });
}

void URLWatcherImpl::move_to(std::string_view api_version) {
    api_version_ = api_version;
    report_.begin_api_version(api_version);
    go_on(WatchMachine::Moved{});
}

void URLWatcherImpl::decide(ExchangeEnd end) {
    const bool of_no_use = encoding_is_of_no_use(end);
    const bool sharded = exchange_.sharded;
    const Verdict verdict = judge(exchange_, std::move(end));
    if (exchange_.gzip && verdict.failure.ec && !is_unreachable(verdict.failure.ec))
        gzip_failed_ = true;
    if (of_no_use && fall_back(verdict)) return;
    if (verdict.failure.ec && share_.on_failure(sharded, exchange_.head.status)) {
        report_.note(verdict.failure);
        return ask_otherwise();
    }
    verdict.credentials_refused ? refresh_credentials(verdict) : conclude(verdict);
}

bool URLWatcherImpl::encoding_is_of_no_use(const ExchangeEnd& end) const {
    // Later rounds of the list forms try both encodings anyway.
    if (!machine_.list_forms().at_first()) return false;
    const ResponseHead& head = exchange_.head;
    if (head.status == 406 || head.status == 415) return true;
    return exchange_.readable && head.content_encoding.empty() &&
           head.content_type == protobuf_media_type && end.failure.ec == errc::malformed_response;
}

/// Repeats the request at once in plain JSON.
/// \returns false if that has failed already
bool URLWatcherImpl::fall_back(const Verdict& verdict) {
    if (!encoding_.fall_back(now())) return false;
    traffic_->list_forms.on_json(query_.kind, *encoding_.plain_until());
    report_.on_other_encoding(verdict.failure);
    ask_otherwise();
    return true;
}

void URLWatcherImpl::ask_otherwise() {
    go_on(WatchMachine::AskOtherwise{});
    if (!stopped_) observer_.on_status();
}

ExchangeEnd URLWatcherImpl::end_of_exchange(Failure failure) const {
    // Tolerates servers with a slightly early end.
    constexpr Duration margin = std::chrono::seconds(5);
    ExchangeEnd end;
    end.failure = std::move(failure);
    end.page = {reader_.resource_version(), reader_.continue_token(), exchange_.items};
    const Duration open = head_at_ ? now() - *head_at_ : Duration{};
    end.life = watching_since_ ? now() - *watching_since_ : open;
    end.in_time = watch_timeout_ > margin && open >= watch_timeout_ - margin;
    if (exchange_.purpose != Purpose::list || exchange_.streamed || end.failure.ec) return end;
    end.page_problem = machine_.problem_of(end.page);
    end.suspicious = end.page.continue_token.empty() && has_lost_much();
    return end;
}

void URLWatcherImpl::refresh_credentials(const Verdict& verdict) {
    wait(Waiting::credentials);
    list_permit_.reset();
    api_.async_refresh_credentials(credentials_, [weak = weak_from_this(), verdict](bool changed) {
        const auto self = weak.lock();
        if (!self || self->stopped_) return;
        if (!changed || self->has_just_retried()) return self->conclude(verdict);
        self->retried_at_ = self->now();
        self->go_on(WatchMachine::NewCredentials{});
    });
}

/// Some sources return new credentials each time, though the server rejects all of them.
bool URLWatcherImpl::has_just_retried() const {
    return retried_at_ && now() - *retried_at_ < std::chrono::seconds(30);
}

void URLWatcherImpl::conclude(const Verdict& verdict) {
    report_traffic(verdict);
    report(verdict);
    go_on(verdict.outcome);
    if (!stopped_) observer_.on_status();  // reports the new waiting state, too
}

void URLWatcherImpl::report(const Verdict& verdict) {
    if (std::holds_alternative<WatchMachine::Silent>(verdict.outcome)) {
        idle_timeout_.on_silence();
        report_.on_silence();
    }
    if (verdict.failed) {
        if (observer_.makes_up_for(verdict.failure.ec)) return report_.note(verdict.failure);
        if (stopped_) return;
        return report_.fail(verdict.failure, exchange_.watching(), now());
    }
    if (verdict.failure.ec) return report_.note(verdict.failure);
    if (const auto* page = std::get_if<WatchMachine::PageListed>(&verdict.outcome)) {
        if (exchange_.head.content_encoding.empty())
            traffic_->lists.add(body_bytes_, body_wait_, now());
        // Metadata lists do not contain the selector.
        if (exchange_.sharded && !schema_.metadata_only)
            report_share(reader_.shard_selector() == query_.share.selector());
        if (page->continue_token.empty()) finish_list(page->resource_version);
    } else if (const auto* probe = std::get_if<WatchMachine::Probed>(&verdict.outcome)) {
        report_regression(probe->resource_version);
    } else if (const auto* back = std::get_if<WatchMachine::WentBack>(&verdict.outcome)) {
        report_regression(back->resource_version);
    } else if (const auto* end = std::get_if<WatchMachine::WatchEnded>(&verdict.outcome)) {
        // A proxy or server may close idle watches on its own schedule.
        const bool lived = watching_since_ && now() - *watching_since_ >= std::chrono::seconds(30);
        if (end->clean && (end->in_time || lived)) recover();
    } else if (std::holds_alternative<WatchMachine::Suspicious>(verdict.outcome)) {
        report_.on_suspicious_list(store_.missing(), store_.known_before_list());
    }
}

void URLWatcherImpl::report_regression(const std::string& version) {
    const bool regressed = is_older_version(version, machine_.greatest_version());
    if (regressed && !std::exchange(regression_reported_, true))
        report_.on_version_regression(version, machine_.greatest_version());
}

/// Reports failures to the other watches of the server; see on_head().
void URLWatcherImpl::report_traffic(const Verdict& verdict) {
    const bool not_streamed = std::holds_alternative<WatchMachine::NotStreamed>(verdict.outcome);
    // Servers without the feature return 422.
    if (not_streamed && exchange_.head.status == 422)
        traffic_->list_forms.on_not_streamed(query_.kind, true, now());
    const auto* failed = std::get_if<WatchMachine::Failed>(&verdict.outcome);
    if (failed && (failed->cause == WatchMachine::Cause::unreachable ||
                   failed->cause == WatchMachine::Cause::network ||
                   (failed->cause == WatchMachine::Cause::silent && exchange_.head.status == 0))) {
        traffic_->on_failure();
        api_.on_unreachable();
    }
}

void URLWatcherImpl::on_share_refused() {
    if (traffic_->shards.on_refused(now())) report_.on_shard_selector_refused();
    report_.on_sharded(false);
}

void URLWatcherImpl::report_share(bool by_server) {
    if (!by_server) traffic_->shards.on_ignored(now());
    report_.on_sharded(by_server);
}

void URLWatcherImpl::finish_list(const std::string& version) {
    report_regression(version);
    regression_reported_ = false;
    listed_server_ = server_;
    for (const ObjectChange& removal : store_.finish_list()) on_change(removal);
    if (stopped_) return;
    learn_forms();
    if (report_.on_list(now(), exchange_.streamed)) observer_.on_status();
    if (!stopped_ && report_.on_synced()) {
        observer_.on_status();
        if (!stopped_) observer_.on_synced();
    }
    if (!stopped_) observer_.on_batch_end();
}

/// Shares the failed and successful forms with all watches of the server.
void URLWatcherImpl::learn_forms() {
    ListMemory& memory = traffic_->list_forms;
    const ListForms& forms = machine_.list_forms();
    if (exchange_.streamed) {
        memory.on_streamed(query_.kind);
    } else if (forms.streams_failed()) {
        memory.on_not_streamed(query_.kind, machine_.stream_refused(), now());
    }
    if (const auto shape = forms.better_shape()) memory.on_shape(query_.kind, *shape, now());
    if (std::exchange(gzip_failed_, false) && !exchange_.gzip) memory.on_not_compressed(now());
    if (!forms.current().other_encoding) return encoding_.on_list();
    if (!forms.usual_encoding_failed()) return;
    encoding_.take_other(now());
    memory.on_json(query_.kind, encoding_.plain_until().value_or(now()));
    if (!encoding_.plain_until()) return;
    const error_code failed = report_.status().error;
    report_.on_other_encoding({failed, failed.message()});
}

void URLWatcherImpl::wait(Waiting waiting, std::optional<Duration> pause) {
    report_.wait(waiting, now(), pause);
}

void URLWatcherImpl::call_after(Duration wait, void (URLWatcherImpl::*method)()) {
    timer_->expires_at(now() + wait, [weak = weak_from_this(), method] {
        if (const auto self = weak.lock()) ((*self).*method)();
    });
}

}  // namespace k8s_sd::inline v0::detail
