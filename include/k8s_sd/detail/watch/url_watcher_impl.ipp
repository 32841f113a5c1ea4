#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/watch/url_watcher_impl.hpp"

#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

URLWatcherImpl::URLWatcherImpl(std::shared_ptr<ApiClient> client, WatchQuery query,
                               const WatchOptions& options, WatchObserver& observer,
                               std::shared_ptr<ObjectMaker> maker)
    : client_(std::move(client)),
      api_(client_->impl()),
      query_(std::move(query)),
      options_(options),
      observer_(observer),
      maker_(std::move(maker)),
      reader_(schema_of(query_.kind), options.max_object_bytes, *this),
      machine_(options, api_.next_seed()),
      random_(api_.next_seed()),
      report_(query_, api_.url(), api_.environment.metrics->of(query_.kind),
              api_.environment.logger, now()),
      connection_(api_.make_connection()),
      timer_(api_.environment.clock->make_timer(api_.executor)) {}

void URLWatcherImpl::start() {
    if (started_ || stopped_) return;
    started_ = true;
    const auto self = shared_from_this();  // an observer may drop the watcher
    perform(machine_.start());
}

void URLWatcherImpl::stop() noexcept {
    if (stopped_) return;
    stopped_ = true;
    connection_->close();
    timer_->cancel();
    report_.end();
}

void URLWatcherImpl::forget(std::string_view ns, std::string_view name) {
    if (store_.remove(ns, name).before) report_.on_forgotten();
}

void URLWatcherImpl::adopt(ObjectPtr object) {
    if (store_.put(std::move(object)).after) report_.on_adopted();
}

// --- steps: what the machine wants --------------------------------------------------------------

void URLWatcherImpl::perform(const WatchMachine::Step& step) {
    if (stopped_) return;
    std::visit([this](const auto& s) { perform(s); }, step);
}

void URLWatcherImpl::perform(const WatchMachine::List& list) {
    if (list.continue_token.empty()) {
        store_.begin_list();
        report_.begin_list();
    }
    reader_.expect(Document::list);
    begin(list_request(query_, options_, list), false);
}

void URLWatcherImpl::perform(const WatchMachine::Watch& watch) {
    WatchRequest request = watch_request(query_, watch, draw_watch_timeout(options_, random_));
    patience_.begin_watch(request.idle_timeout);
    request.idle_timeout = patience_.allowed();
    reader_.expect(Document::watch);
    begin(std::move(request), true);
}

void URLWatcherImpl::perform(const WatchMachine::Sleep& sleep) {
    // The next connection looks the server's address up again, which spreads clients over
    // replicas, and no idle connection has to be kept alive.
    connection_->close();
    call_after(sleep.delay, &URLWatcherImpl::on_slept);
}

void URLWatcherImpl::on_slept() { perform(machine_.next(WatchMachine::Slept{})); }

void URLWatcherImpl::begin(WatchRequest request, bool watching) {
    exchange_ = {};
    exchange_.kind = query_.kind;
    exchange_.watching = watching;
    exchange_.has_position = request.has_position;
    api_.credentials.async_get([weak = weak_from_this(),
                                request = std::move(request)](const Authorization& authorization) {
        if (const auto self = weak.lock()) self->on_credentials(authorization, request);
    });
}

void URLWatcherImpl::on_credentials(const Authorization& authorization,
                                    const WatchRequest& request) {
    if (stopped_) return;
    if (authorization.ec) {
        return conclude({WatchMachine::Failed{}, {authorization.ec, authorization.problem}, true});
    }
    exchange_.credentials_problem = authorization.problem;
    credentials_ = authorization.revision;
    sent_at_ = now();
    HttpRequest http = api_.make_request(request.target, authorization);
    http.connect_timeout = options_.connect_timeout;
    http.idle_timeout = request.idle_timeout;
    http.idle_error = request.idle_error;
    http.secret_body = query_.kind == Kind::secret;
    connection_->async_get(api_.target, std::move(http), *this,
                           [this](error_code ec, std::string why) {
                               const auto self = shared_from_this();
                               on_end(ec, std::move(why));
                           });
}

// --- the answer as it arrives -------------------------------------------------------------------

void URLWatcherImpl::on_head(const ResponseHead& head) {
    exchange_.head = head;
    exchange_.readable = head.status == 200 && reader_.choose_decoder(head.content_type);
    if (!exchange_.readable || !exchange_.watching) return;
    report_.on_watch();
    // Not before it has proven that it lives: the next error may follow the head.
    if (status().error) call_after(proof_of_life, &URLWatcherImpl::recover);
}

error_code URLWatcherImpl::on_body(std::string_view bytes) {
    report_.on_bytes(bytes.size());
    if (!exchange_.readable) return exchange_.add_error_text(bytes);
    const auto self = shared_from_this();  // an observer may drop the watcher
    const error_code ec = reader_.feed(bytes);
    if (stopped_) return asio::error::operation_aborted;
    observer_.on_batch_end();
    if (!ec && exchange_.error_event) return errc::server_error;  // nothing follows an ERROR event
    return ec;
}

void URLWatcherImpl::on_object(EventType type, const DecodedObject& decoded) {
    if (stopped_) return;
    const model::ObjectMeta& meta = decoded.meta;
    if (exchange_.watching) {
        on_progress(meta.resource_version);
        report_.on_event();
        if (stopped_) return;
    }
    if (!observer_.wants(meta.ns, meta.name)) return;
    if (type == EventType::deleted) return on_change(store_.remove(meta.ns, meta.name));
    ObjectPtr object = maker_->make(decoded);
    on_change(exchange_.watching ? store_.put(std::move(object))
                                 : store_.put_listed(std::move(object)));
}

void URLWatcherImpl::on_bookmark(std::string_view version) {
    on_progress(version);
    report_.on_bookmark();
    if (patience_.on_bookmark(now())) connection_->set_idle_timeout(patience_.allowed());
}

void URLWatcherImpl::on_error_event(const ServerStatus& error) { exchange_.error_event = error; }

void URLWatcherImpl::on_bad_object(std::string_view ns, std::string_view name,
                                   std::string_view version, error_code ec,
                                   std::string_view problem) {
    if (stopped_) return;
    if (!exchange_.watching) {
        store_.mark_listed(ns, name);
    } else if (!version.empty()) {
        on_progress(version);
    }
    report_.on_bad_object(ns, name, {ec, std::string(problem)});
}

void URLWatcherImpl::on_progress(std::string_view version) {
    ++exchange_.events;
    machine_.on_progress(version);
    if (status().error) recover();
}

void URLWatcherImpl::recover() {
    if (!stopped_ && report_.recover(now())) observer_.on_status();
}

void URLWatcherImpl::on_change(const ObjectChange& change) {
    if (stopped_ || (!change.before && !change.after)) return;
    report_.on_change(change);
    observer_.on_change(change);
}

// --- the end of the answer ----------------------------------------------------------------------

void URLWatcherImpl::on_end(error_code ec, std::string why) {
    if (stopped_) return;
    timer_->cancel();
    if (ec) {
        reader_.release();
    } else if (exchange_.readable) {
        ec = reader_.finish();
    }
    if (ec && ec.category() == category() && !reader_.problem().empty()) why = reader_.problem();
    const Verdict verdict =
        judge(exchange_, {{ec, std::move(why)},
                          {reader_.resource_version(), reader_.continue_token()},
                          now() - sent_at_});
    verdict.credentials_refused ? refresh_credentials(verdict) : conclude(verdict);
}

void URLWatcherImpl::refresh_credentials(const Verdict& verdict) {
    api_.credentials.async_refresh(credentials_, [weak = weak_from_this(), verdict](bool changed) {
        const auto self = weak.lock();
        if (!self || self->stopped_) return;
        if (!changed) return self->conclude(verdict);
        self->perform(self->machine_.next(WatchMachine::NewCredentials{}));
    });
}

void URLWatcherImpl::conclude(const Verdict& verdict) {
    // The silence that a bookmark should have ended may have been misjudged.
    if (verdict.failure.ec == errc::idle_timeout) patience_.forget();
    if (verdict.failed) {
        if (observer_.makes_up_for(verdict.failure.ec)) return report_.note(verdict.failure);
        report_.fail(verdict.failure, exchange_.watching, now());
        observer_.on_status();
    } else if (verdict.failure.ec) {
        report_.note(verdict.failure);
    } else if (const auto* page = std::get_if<WatchMachine::PageListed>(&verdict.outcome)) {
        report_.on_page(page->resource_version, machine_.resource_version());
        if (page->continue_token.empty()) finish_list();
    }
    perform(machine_.next(verdict.outcome));
}

void URLWatcherImpl::finish_list() {
    for (const ObjectChange& removal : store_.finish_list()) on_change(removal);
    if (stopped_) return;
    if (report_.on_list(now())) observer_.on_status();
    if (!stopped_ && report_.on_synced()) {
        observer_.on_status();
        if (!stopped_) observer_.on_synced();
    }
    if (!stopped_) observer_.on_batch_end();
}

void URLWatcherImpl::call_after(Duration wait, void (URLWatcherImpl::*method)()) {
    timer_->expires_at(now() + wait, [weak = weak_from_this(), method] {
        if (const auto self = weak.lock()) ((*self).*method)();
    });
}

}  // namespace k8s_sd::inline v0::detail
