#include "k8s_sd/detail/base/percent_encoding.hpp"
#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/net/api_client_impl.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/detail/watch/failure.hpp"
#include "k8s_sd/detail/watch/random.hpp"
#include "k8s_sd/detail/watch/watch_machine.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <variant>

namespace k8s_sd::inline v0 {

using namespace detail;

namespace {

template <class... F>
struct overloaded : F... {
    using F::operator()...;
};
// Of use to compilers without the deduction of C++20.
template <class... F>
overloaded(F...) -> overloaded<F...>;

constexpr std::size_t error_body_limit = 16 * 1024;
constexpr Duration watch_margin = std::chrono::seconds(10);
constexpr Duration proven = std::chrono::seconds(1);
constexpr double bookmark_patience = 2.5;
// Bookmarks that a proxy held back come together, and the last of a watch follows soon.
constexpr Duration least_patience = std::chrono::seconds(90);

WatchQuery checked(WatchQuery query) {
    if (query.ns.empty() || is_namespace_name(query.ns)) return query;
    throw ConfigError("namespace", "\"" + printable(query.ns) + "\" is not a name of a namespace");
}

// Versions are decimal numbers since Kubernetes 1.35 (KEP-5504); other ones are not compared.
bool is_older(std::string_view a, std::string_view b) {
    const auto comparable = [](std::string_view version) {
        return !version.empty() && version.front() != '0' &&
               version.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (!comparable(a) || !comparable(b)) return false;
    return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

/// Executes the steps of a WatchMachine. Alive as long as the watcher; what is under way is
/// dropped in stop().
class URLWatcher::State final : public std::enable_shared_from_this<State>,
                                private ResponseSink,
                                private EventSink {
 public:
    State(std::shared_ptr<ApiClient> client, WatchQuery query, const WatchOptions& options,
          WatchObserver& observer, std::shared_ptr<ObjectMaker> maker)
        : client_(std::move(client)),
          api_(client_->impl()),
          query_(std::move(query)),
          options_(options),
          observer_(&observer),
          maker_(std::move(maker)),
          reader_(schema_of(query_.kind), options.max_object_bytes, *this),
          machine_(options, api_.next_seed()),
          random_(api_.next_seed()),
          connection_(api_.make_connection()),
          timer_(api_.environment.clock->make_timer(api_.executor)),
          metrics_(api_.environment.metrics->of(query_.kind)) {
        status_.kind = query_.kind;
        status_.ns = query_.ns;
        status_.since = now();
        metrics_.watchers.fetch_add(1, std::memory_order_relaxed);
    }

    void start() {
        if (started_ || stopped_) return;
        started_ = true;
        const auto self = shared_from_this();  // an observer may drop the watcher
        perform(machine_.start());
    }

    void stop() noexcept {
        if (stopped_) return;
        stopped_ = true;
        connection_->close();
        timer_->cancel();
        metrics_.watchers.fetch_sub(1, std::memory_order_relaxed);
        metrics_.objects.fetch_sub(static_cast<std::int64_t>(status_.objects),
                                   std::memory_order_relaxed);
        if (status_.synced) metrics_.synced_watchers.fetch_sub(1, std::memory_order_relaxed);
    }

    void forget(std::string_view ns, std::string_view name) {
        if (!store_.remove(ns, name).before) return;
        --status_.objects;
        metrics_.objects.fetch_sub(1, std::memory_order_relaxed);
    }

    const ObjectStore& store() const noexcept { return store_; }
    bool synced() const noexcept { return status_.synced; }
    const WatchStatus& status() const noexcept { return status_; }

 private:
    TimePoint now() const noexcept { return api_.environment.clock->now(); }

    // --- steps: what the machine wants -------------------------------------------------------

    void perform(const WatchMachine::Step& step) {
        if (stopped_) return;
        std::visit(overloaded{[this](const WatchMachine::List& list) { send_list(list); },
                              [this](const WatchMachine::Watch& watch) { send_watch(watch); },
                              [this](const WatchMachine::Sleep& sleep) { wait(sleep.delay); }},
                   step);
    }

    void wait(Duration delay) {
        // The next connection looks the server's address up again, which spreads clients over
        // replicas, and no idle connection has to be kept alive.
        connection_->close();
        timer_->expires_at(now() + delay, [weak = weak_from_this()] {
            if (auto self = weak.lock()) self->perform(self->machine_.next(WatchMachine::Slept{}));
        });
    }

    std::string collection() const {
        std::string path = collection_path(query_.kind, query_.ns);
        if (!query_.label_selector.empty())
            append_query(path, "labelSelector", query_.label_selector);
        if (!query_.field_selector.empty())
            append_query(path, "fieldSelector", query_.field_selector);
        return path;
    }

    void send_list(const WatchMachine::List& list) {
        std::string path = collection();
        if (list.limit != 0) append_query(path, "limit", std::to_string(list.limit));
        if (!list.continue_token.empty()) {
            append_query(path, "continue", list.continue_token);
        } else {
            store_.begin_list();
            bad_objects_ = 0;
        }
        if (!list.resource_version.empty()) {
            append_query(path, "resourceVersion", list.resource_version);
            append_query(path, "resourceVersionMatch", "NotOlderThan");
        }
        sent_position_ = !list.continue_token.empty() || !list.resource_version.empty();
        watching_ = false;
        reader_.expect(Document::list);
        send(path, options_.response_timeout, errc::response_timeout);
    }

    void send_watch(const WatchMachine::Watch& watch) {
        const auto seconds = [](Duration d) {
            return std::chrono::duration_cast<std::chrono::seconds>(d).count();
        };
        const auto timeout = std::uniform_int_distribution<std::int64_t>(
            seconds(options_.watch_timeout_min), seconds(options_.watch_timeout_max))(random_);
        std::string path = collection();
        append_query(path, "watch", "1");
        append_query(path, "allowWatchBookmarks", "true");
        append_query(path, "resourceVersion", watch.resource_version);
        silence_ = {};
        if (timeout > 0) {
            append_query(path, "timeoutSeconds", std::to_string(timeout));
            silence_ = std::chrono::seconds(timeout) + watch_margin;
        }
        sent_position_ = true;
        watching_ = true;
        events_ = 0;
        last_bookmark_.reset();
        watch_began_ = now();
        reader_.expect(Document::watch);
        send(path, patience(), errc::idle_timeout);
    }

    // A server that was seen to send bookmarks is dead when they stay away.
    Duration patience() const noexcept {
        if (!bookmark_interval_) return silence_;
        const auto quiet =
            std::max(std::chrono::duration_cast<Duration>(*bookmark_interval_ * bookmark_patience),
                     least_patience);
        return silence_ <= Duration{} ? quiet : std::min(silence_, quiet);
    }

    void send(const std::string& path, Duration idle_timeout, errc idle_error) {
        head_ = {};
        body_.clear();
        event_status_.reset();
        error_code ec;
        ApiClient::Impl::Request request = api_.make_request(path, ec, credentials_problem_);
        if (ec) {
            fail({ec, credentials_problem_});
            return perform(machine_.next(WatchMachine::Failed{}));
        }
        sent_credentials_ = request.credentials;
        request.http.connect_timeout = options_.connect_timeout;
        request.http.idle_timeout = idle_timeout;
        request.http.idle_error = idle_error;
        request.http.secret_body = query_.kind == Kind::secret;
        connection_->async_get(api_.target, std::move(request.http), *this,
                               [this](error_code end, std::string why) {
                                   const auto self = shared_from_this();
                                   on_end(end, std::move(why));
                               });
    }

    // --- the response as it arrives ------------------------------------------------------------

    void on_head(const ResponseHead& head) override {
        head_ = head;
        if (head.status == 200) reader_.choose_decoder(head.content_type);
        if (!accepted() || !watching_) return;
        metrics_.watches.fetch_add(1, std::memory_order_relaxed);
        if (!status_.error) return;
        // Not before it has proven that it lives: the next error may follow the head.
        timer_->expires_at(now() + proven, [weak = weak_from_this()] {
            if (auto self = weak.lock()) self->recover();
        });
    }
    bool accepted() const noexcept { return head_.status == 200 && reader_.has_decoder(); }

    error_code on_body(std::string_view bytes) override {
        metrics_.bytes_received.fetch_add(bytes.size(), std::memory_order_relaxed);
        // Not an error text; it may be data that has to be cleansed.
        if (!accepted() && head_.status == 200) return errc::unexpected_content_type;
        if (!accepted()) {
            body_ += bytes.substr(0, error_body_limit - body_.size());
            return body_.size() < error_body_limit ? error_code() : errc::malformed_response;
        }
        const auto self = shared_from_this();  // an observer may drop the watcher
        const error_code ec = reader_.feed(bytes);
        if (stopped_) return asio::error::operation_aborted;
        observer_->on_batch_end();
        if (!ec && event_status_) return errc::server_error;  // nothing follows an ERROR event
        return ec;
    }

    void on_object(EventType type, const DecodedObject& decoded) override {
        if (stopped_) return;
        const model::ObjectMeta& meta = decoded.meta;
        if (watching_) {
            progress(meta.resource_version);
            metrics_.events.fetch_add(1, std::memory_order_relaxed);
            if (stopped_) return;
        }
        if (!observer_->wants(meta.ns, meta.name)) return;
        if (type == EventType::deleted) return report(store_.remove(meta.ns, meta.name));
        ObjectPtr object = maker_->make(decoded);
        report(watching_ ? store_.put(std::move(object)) : store_.put_listed(std::move(object)));
    }

    void on_bookmark(std::string_view version) override {
        progress(version);
        metrics_.bookmarks.fetch_add(1, std::memory_order_relaxed);
        if (last_bookmark_) {
            const Duration interval = now() - *last_bookmark_;
            bookmark_interval_ = std::max(bookmark_interval_.value_or(interval), interval);
            connection_->set_idle_timeout(patience());
        }
        last_bookmark_ = now();
    }

    void on_error_event(const ServerStatus& status) override { event_status_ = status; }

    void on_bad_object(std::string_view ns, std::string_view name, std::string_view version,
                       error_code ec, std::string_view problem) override {
        if (stopped_) return;
        if (watching_) {
            if (!version.empty()) progress(version);
        } else if (store_.find(ns, name) != nullptr) {
            store_.keep_listed(ns, name);
        }
        metrics_.bad_objects.fetch_add(1, std::memory_order_relaxed);
        // One line for the first of them; the metric counts the rest.
        if (bad_objects_++ > 0) return;
        log(LogLevel::warning, "skipped the object " +
                                   printable(std::string(ns) + "/" + std::string(name)) + ": " +
                                   ec.message() + ": " + printable(problem));
    }

    void progress(std::string_view version) {
        ++events_;
        machine_.on_progress(version);
        if (status_.error) recover();
    }

    void report(const ObjectChange& change) {
        if (stopped_ || (!change.before && !change.after)) return;
        auto& counter = !change.before  ? metrics_.added
                        : !change.after ? metrics_.removed
                                        : metrics_.updated;
        counter.fetch_add(1, std::memory_order_relaxed);
        const int delta = (change.after ? 1 : 0) - (change.before ? 1 : 0);
        status_.objects += static_cast<std::size_t>(delta);
        metrics_.objects.fetch_add(delta, std::memory_order_relaxed);
        observer_->on_change(change);
    }

    // --- the end of a response -----------------------------------------------------------------

    void on_end(error_code ec, std::string why) {
        if (stopped_) return;
        timer_->cancel();
        if (ec) reader_.release();
        if (head_.status != 0 && head_.status != 200) return on_refused();
        if (head_.status == 200 && !accepted()) return on_wrong_content();
        if (event_status_) return on_server_error(*event_status_);
        if (ec && ec.category() == category() && !reader_.problem().empty())
            why = reader_.problem();
        if (ec == errc::malformed_response && watching_) {
            fail({ec, std::move(why)});
            return perform(machine_.on_malformed());
        }
        watching_ ? on_watch_end(ec, std::move(why)) : on_list_end(ec, std::move(why));
    }

    void on_refused() {
        const ServerStatus status = read_status(head_, body_);
        if (status.code == 401 && api_.refresh_credentials(sent_credentials_)) {
            return perform(machine_.next(WatchMachine::NewCredentials{}));
        }
        on_server_error(status);
    }

    void on_server_error(const ServerStatus& status) {
        if (status.code == 410) {
            metrics_.expired.fetch_add(1, std::memory_order_relaxed);
            log(LogLevel::debug, "the resource version has expired; listing again");
            return perform(machine_.next(WatchMachine::Expired{}));
        }
        Failure failure = describe(status, head_, query_.kind);
        if (status.code == 401 && !credentials_problem_.empty()) {
            failure.message += "; " + credentials_problem_;
        }
        fail(std::move(failure));
        if (status.version_too_large)
            return perform(machine_.next(WatchMachine::VersionTooLarge{}));
        if ((status.code == 400 || status.code == 422) && sent_position_) {
            return perform(machine_.next(WatchMachine::Rejected{}));
        }
        auto retry_after = head_.retry_after;
        if (!retry_after && status.retry_after_seconds != 0) {
            retry_after = std::chrono::seconds(std::min(status.retry_after_seconds, 3600U));
        }
        perform(machine_.next(WatchMachine::Failed{retry_after}));
    }

    void on_wrong_content() {
        fail({errc::unexpected_content_type,
              "the server answered " + printable(head_.content_type) +
                  " instead of application/json; is this the URL of a Kubernetes API server?"});
        perform(machine_.next(WatchMachine::Failed{}));
    }

    void on_list_end(error_code ec, std::string why) {
        if (!ec) {
            ec = reader_.finish();
            why = reader_.problem();
        }
        if (ec) {
            fail({ec, std::move(why)});
            return perform(machine_.next(WatchMachine::Failed{}));
        }
        if (is_older(reader_.resource_version(), machine_.resource_version())) {
            log(LogLevel::warning, "the list is older than what was seen before (" +
                                       printable(reader_.resource_version()) + " after " +
                                       printable(machine_.resource_version()) +
                                       "); was the cluster restored, or is it another one?");
        }
        const WatchMachine::PageListed page{reader_.resource_version(), reader_.continue_token()};
        if (page.continue_token.empty()) finish_list();
        perform(machine_.next(page));
    }

    void finish_list() {
        for (const ObjectChange& removal : store_.finish_list()) report(removal);
        if (stopped_) return;
        metrics_.lists.fetch_add(1, std::memory_order_relaxed);
        if (!failed_watching_) recover();
        if (!stopped_ && !status_.synced) report_synced();
        if (!stopped_) observer_->on_batch_end();
    }

    void report_synced() {
        status_.synced = true;
        metrics_.synced_watchers.fetch_add(1, std::memory_order_relaxed);
        log(LogLevel::info, "listed " + std::to_string(store_.size()) + " objects");
        observer_->on_status();
        if (!stopped_) observer_->on_synced();
    }

    void on_watch_end(error_code ec, std::string why) {
        if (!ec) ec = reader_.finish();
        if (ec == errc::idle_timeout) bookmark_interval_.reset();  // it may have been misjudged
        const bool answered = head_.status == 200;
        const bool progressed = events_ > 0 || (answered && now() - watch_began_ >= proven);
        if (ec && (!answered || !progressed)) {
            fail({ec, std::move(why)});
        } else if (ec) {
            // Connections break every now and then; it is a failure if the next one fails, too.
            failure_counter(metrics_, ec).fetch_add(1, std::memory_order_relaxed);
        }
        if (!answered) return perform(machine_.next(WatchMachine::Failed{}));
        perform(machine_.next(WatchMachine::WatchEnded{{}, progressed, !ec}));
    }

    // --- status ---------------------------------------------------------------------------------

    void fail(Failure failure) {
        failure_counter(metrics_, failure.ec).fetch_add(1, std::memory_order_relaxed);
        ++status_.failures;
        failed_watching_ = watching_;
        const bool changed = status_.error != failure.ec;
        status_.error = failure.ec;
        status_.message = url() + ": " + failure.message;
        if (changed) {
            status_.since = now();
            log(LogLevel::warning, failure.message);
        }
        observer_->on_status();
    }
    void recover() {
        status_.failures = 0;
        if (!status_.error || stopped_) return;
        status_.error = {};
        status_.message.clear();
        status_.since = now();
        log(LogLevel::warning, "works again");
        observer_->on_status();
    }
    std::string url() const { return api_.url_of(collection()); }
    void log(LogLevel level, const std::string& text) const {
        const Logger& logger = api_.environment.logger;
        if (logger.enabled(level)) logger.log(level, url() + ": " + text);
    }

    std::shared_ptr<ApiClient> client_;
    ApiClient::Impl& api_;
    WatchQuery query_;
    WatchOptions options_;
    WatchObserver* observer_;
    std::shared_ptr<ObjectMaker> maker_;
    ObjectStore store_;
    ListWatchReader reader_;
    WatchMachine machine_;
    Random random_;
    std::unique_ptr<HttpConnection> connection_;
    std::unique_ptr<Timer> timer_;
    Metrics::PerKind& metrics_;
    WatchStatus status_;

    // Of the request under way.
    bool watching_ = false;
    bool sent_position_ = false;  // a version or a continue token
    std::size_t sent_credentials_ = 0;
    std::string credentials_problem_;  // why older ones were sent
    ResponseHead head_;
    std::string body_;  // of an error
    std::optional<ServerStatus> event_status_;
    std::uint64_t events_ = 0;
    TimePoint watch_began_{};
    Duration silence_{};  // allowed in a watch without bookmarks
    std::optional<TimePoint> last_bookmark_;

    std::optional<Duration> bookmark_interval_;  // longest seen
    std::uint64_t bad_objects_ = 0;
    bool failed_watching_ = false;  // the error of the status is that of a watch
    bool started_ = false;
    bool stopped_ = false;
};

URLWatcher::URLWatcher(std::shared_ptr<ApiClient> client, WatchQuery query,
                       const WatchOptions& options, WatchObserver& observer)
    : URLWatcher(std::move(client), std::move(query), options, observer,
                 std::make_shared<ObjectMaker>()) {}
URLWatcher::URLWatcher(std::shared_ptr<ApiClient> client, WatchQuery query,
                       const WatchOptions& options, WatchObserver& observer,
                       std::shared_ptr<ObjectMaker> maker)
    : state_(std::make_shared<State>(std::move(client), checked(std::move(query)), options,
                                     observer, std::move(maker))) {}
URLWatcher::~URLWatcher() { state_->stop(); }

void URLWatcher::start() { state_->start(); }
bool URLWatcher::synced() const noexcept { return state_->synced(); }
WatchStatus URLWatcher::status() const { return state_->status(); }
const Object* URLWatcher::find(std::string_view ns, std::string_view name) const {
    return state_->store().find(ns, name);
}
std::size_t URLWatcher::size() const noexcept { return state_->store().size(); }
void URLWatcher::forget(std::string_view ns, std::string_view name) { state_->forget(ns, name); }
void URLWatcher::for_each(const std::function<void(const ObjectPtr&)>& visit) const {
    for (const ObjectPtr& object : state_->store().objects()) visit(object);
}

}  // namespace k8s_sd::inline v0
