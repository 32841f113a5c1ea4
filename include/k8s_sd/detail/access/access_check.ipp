#include "k8s_sd/access.hpp"
#include "k8s_sd/detail/access/permission_checks.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/api_documents.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/client/short_request.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/sharing/watch_plan.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/transport/lookups.hpp"
#include "k8s_sd/detail/watch/pacing.hpp"
#include "k8s_sd/detail/watch/short_verdict.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The current step of a check, and its pending operations.
class CheckStep {
 public:
    void begin(std::string name, TimePoint now) {
        line_ = {};
        line_.step = std::move(name);
        began_ = now;
    }
    TimePoint began() const noexcept { return began_; }
    AccessCheckLine& line() noexcept { return line_; }

    void set_timer(std::unique_ptr<Timer> timer) { timer_ = std::move(timer); }
    Timer& timer() { return *timer_; }
    void set_lookup(Lookups::WaiterHandle lookup) { lookup_ = std::move(lookup); }
    ByteStream* set_stream(std::unique_ptr<ByteStream> stream) {
        stream_ = std::move(stream);
        return stream_.get();
    }

    /// Abandons the operations; handlers with an earlier number are ignored from now on.
    void drop() {
        if (timer_) timer_->cancel();
        lookup_.cancel();
        if (stream_) stream_->close();
        stream_.reset();
        ++number_;
    }
    std::uint64_t number() const noexcept { return number_; }

 private:
    AccessCheckLine line_;
    TimePoint began_{};
    std::unique_ptr<Timer> timer_;  ///< null: the configuration is not resolved yet
    Lookups::WaiterHandle lookup_;
    std::unique_ptr<ByteStream> stream_;
    std::uint64_t number_ = 0;
};

/// One check. Its state is strand-confined, except for `cancelled_` and `operation_`.
class AccessCheck final : public std::enable_shared_from_this<AccessCheck> {
 public:
    using Running = Operation<bool>;
    using Result = AccessCheckLine::Result;

    AccessCheck(asio::any_io_executor host, const DiscoveryConfig& config, Duration step_timeout,
                AccessCheckHandler on_line)
        : host_(std::move(host)),
          strand_(make_own_strand(host_)),
          environment_(ContextEnvironment::of(host_).with_new_seed()),
          config_(config),
          step_timeout_(step_timeout),
          on_line_(std::move(on_line)),
          life_(strand_, asio::steady_timer::time_point::max()) {}

    void run(Running::Handler handler) {
        operation_ = std::make_unique<Running>(std::move(handler), host_, weak_from_this());
        life_.async_wait([self = shared_from_this()](error_code) {});
        post([this] { check_configuration(); });
    }
    void cancel() {
        cancelled_ = true;
        asio::post(strand_,
                   [self = shared_from_this()] { self->finish(asio::error::operation_aborted); });
    }

 private:
    using Next = void (AccessCheck::*)();

    template <class Call>
    void post(Call call) {
        asio::post(strand_, [self = shared_from_this(), call] {
            if (!self->cancelled_) call();
        });
    }

    // --- reports ---------------------------------------------------------------------------------

    void begin(std::string step) { step_.begin(std::move(step), now()); }
    /// Reports the step, and continues after the host's handler has returned.
    void report(Result result, std::string text, Next next, error_code ec = {}) {
        drop_step();
        AccessCheckLine& line = step_.line();
        line.result = result;
        line.text = client_ ? client_->redact(std::move(text)) : std::move(text);
        line.ec = ec;
        line.took = now() - step_.began();
        all_fine_ = all_fine_ && result != Result::failed;
        asio::post(host_, [self = shared_from_this(), next, line = std::move(line)] {
            FirstException problem;  // continues even if the handler throws
            problem.catch_from([&] {
                if (!self->cancelled_) self->on_line_(line);
            });
            problem.catch_from([&] { self->post([&check = *self, next] { (check.*next)(); }); });
            problem.rethrow();
        });
    }
    void ok(std::string text, Next next) { report(Result::ok, std::move(text), next); }
    void fail(error_code ec, std::string text, Next next) {
        report(Result::failed, std::move(text), next, ec);
    }
    void end() { finish({}); }
    void finish(error_code ec) {
        drop_step();
        get_.reset();
        client_.reset();
        life_.cancel();
        if (auto operation = std::move(operation_))
            Running::complete(std::move(operation), ec, !ec && all_fine_);
    }

    /// Abandons the pending operations of the current step.
    void drop_step() {
        step_.drop();
        if (get_) get_->cancel();
    }
    void limit_step(const std::string& problem) {
        step_.timer().expires_at(step_.began() + step_timeout_, [weak = weak_from_this(), problem] {
            const auto self = weak.lock();
            if (!self || self->cancelled_) return;
            self->fail(errc::connect_timeout,
                       "no response within " + seconds_text(self->step_timeout_) + "; " + problem,
                       &AccessCheck::end);
        });
    }
    Duration left_of_step() const { return step_.began() + step_timeout_ - now(); }
    /// Wraps a method as a handler, ignored after the step has ended.
    template <class Method>
    auto guarded(Method method) {
        return [weak = weak_from_this(), step = step_.number(), method](const auto&... results) {
            const auto self = weak.lock();
            if (self && !self->cancelled_ && self->step_.number() == step)
                ((*self).*method)(results...);
        };
    }

    // --- connection to the server ----------------------------------------------------------------

    void check_configuration() {
        begin("configuration");
        try {
            const auto resolved = resolve(config_, environment_.in_cluster);
            scope_ = resolved.scope;
            client_ = std::make_unique<ApiClientImpl>(strand_, scope_.api_server, environment_);
        } catch (const std::exception& error) {
            return fail(errc::invalid_config, error.what(), &AccessCheck::end);
        }
        target_ = client_->target();
        step_.set_timer(environment_.clock->make_timer(strand_));
        get_ = std::make_shared<ShortRequest>(*client_);
        checks_ =
            PermissionChecks(required_rules(config_.role, config_.attach_metadata,
                                            scope_.namespaces, scope_.watch.cluster_wide_from));
        const std::size_t names = scope_.namespaces.size();
        ok("role " + std::string(to_string(config_.role)) + ", server " + client_->url() + ", " +
               (names == 0   ? "all namespaces"
                : names == 1 ? "the namespace " + scope_.namespaces.front()
                             : std::to_string(names) + " namespaces"),
           &AccessCheck::look_up);
    }

    bool has_proxy() const { return target_->proxy.has_value(); }

    void look_up() {
        begin("name lookup");
        const std::string& host = target_->host;
        if (has_proxy())
            return report(Result::skipped, "the proxy does it", &AccessCheck::get_credentials);
        error_code no_address;
        asio::ip::make_address(host, no_address);
        if (!no_address) return ok(host + " is an address", &AccessCheck::connect);
        limit_step("the name server may be unreachable");
        step_.set_lookup(Lookups::async_resolve(strand_, environment_.resolver, host,
                                                guarded(&AccessCheck::on_addresses)));
    }
    void on_addresses(error_code ec, const std::string& problem,
                      const std::vector<asio::ip::address>& addresses) {
        constexpr std::size_t max_shown = 4;
        if (!ec && addresses.empty()) ec = asio::error::host_not_found;
        const std::string& host = target_->host;
        if (ec) {
            return fail(ec,
                        "cannot resolve " + host + ": " +
                            (problem.empty() ? ec.message() : problem) +
                            "; check the host in the server's URL, and the name server",
                        &AccessCheck::end);
        }
        std::vector<std::string> texts;
        for (const auto& address : addresses) {
            if (texts.size() < max_shown) texts.push_back(address.to_string());
        }
        if (addresses.size() > max_shown) texts.emplace_back("...");
        ok(host + " is " + join(texts), &AccessCheck::connect);
    }

    void connect() {
        begin("TCP");
        const ConnectTarget& target = *target_;
        dial({target.host, target.port, {}}, &AccessCheck::on_connected);
    }
    void on_connected(error_code ec, const std::string& problem) {
        if (ec) {
            return fail(ec, problem + "; check the server's URL, and that a server listens there",
                        &AccessCheck::end);
        }
        ok("connected to port " + target_->port, &AccessCheck::get_credentials);
    }

    // Before TLS, because the credentials may contain a client certificate.
    void get_credentials() {
        begin("credentials");
        limit_step("the program, server or file that provides them may hang");
        client_->credentials.async_get(guarded(&AccessCheck::on_credentials));
    }
    void on_credentials(const RequestCredentials& credentials) {
        if (credentials.ec) return fail(credentials.ec, credentials.problem, &AccessCheck::end);
        target_ = client_->target_for(credentials);
        const std::vector<std::string> found = kinds_of(credentials);
        has_credentials_ = !found.empty();
        std::string text = found.empty() ? "none: requests are anonymous" : join(found, " and ");
        if (!target_->tls && !scope_.api_server.kubeconfig.files.empty())
            text += "; the server has a URL of http, so credentials of a kubeconfig are not sent";
        if (!credentials.problem.empty()) text += "; " + credentials.problem;
        ok(text + acts_as(), &AccessCheck::connect_securely);
    }
    std::vector<std::string> kinds_of(const RequestCredentials& credentials) const {
        std::vector<std::string> found;
        if (!credentials.value.empty()) found.emplace_back("an Authorization header");
        if (target_->tls && !(target_->tls->cert.empty() && target_->tls->cert_file.empty()))
            found.emplace_back("a client certificate");
        if (!scope_.api_server.headers.empty()) found.emplace_back("headers of the configuration");
        return found;
    }
    std::string acts_as() const {
        const std::string& user = scope_.api_server.impersonate.user;
        return user.empty() ? "" : "; acts as " + printable(user);
    }

    void connect_securely() {
        begin(has_proxy() ? "proxy and TLS" : "TLS");
        if (!target_->tls && !has_proxy()) {
            return report(Result::skipped, "the URL is http: the connection is not encrypted",
                          &AccessCheck::authenticate);
        }
        dial(*target_, &AccessCheck::on_secure);
    }
    void on_secure(error_code ec, const std::string& problem) {
        if (ec) return fail(ec, problem.empty() ? ec.message() : problem, &AccessCheck::end);
        if (!target_->tls) return ok("connected through the proxy", &AccessCheck::authenticate);
        const TlsConfig& tls = *target_->tls;
        const std::string& name = tls.server_name.empty() ? target_->host : tls.server_name;
        ok(tls.insecure_skip_verify ? "any server is trusted (insecure_skip_verify)"
                                    : "the certificate is for " + printable(name) + ", and trusted",
           &AccessCheck::authenticate);
    }

    template <class Method>
    void dial(const ConnectTarget& target, Method on_end) {
        limit_step("a firewall may drop packets to it");
        try {
            ByteStream* const stream =
                step_.set_stream(environment_.connector->make_stream(strand_, target));
            if (!stream) return fail(errc::connector_failed, "no stream", &AccessCheck::end);
            stream->async_connect(guarded(on_end));
        } catch (const std::exception& error) {
            fail(errc::connector_failed, in_words(error), &AccessCheck::end);
        }
    }

    // --- requests --------------------------------------------------------------------------------

    void authenticate() {
        begin("authentication");
        get_->start("/version", ShortRequest::short_body, step_timeout_,
                    guarded(&AccessCheck::on_version));
    }
    /// An API server answers invalid credentials with 401 on any path. The version itself is
    /// optional.
    void on_version(const ShortRequest::Answer& answer) {
        const Verdict verdict = verdict_on_head(answer, {}, Purpose::watch);
        const unsigned status = answer.head.status;
        if (verdict.failed && status != 403 && status != 404)
            return fail(verdict.failure.ec, verdict.failure.message, &AccessCheck::end);
        const std::string version = status == 200 ? read_server_version(answer.body) : "";
        ok(std::string(has_credentials_ ? "the server does not refuse the credentials"
                       : status == 403  ? "the server accepts anonymous requests"
                                        : "the server asks for no credentials") +
               (version.empty() ? "" : "; it is Kubernetes " + version),
           &AccessCheck::ask);
    }

    WatchQuery query() const {
        const auto& [rule, kind] = checks_.current().access;
        return query_of(scope_, kind, rule.ns);
    }
    void ask() {
        if (!checks_.advance()) return end();
        begin((checks_.current().watch ? "watch " : "list ") +
              to_string(checks_.current().access.first));
        send();
    }
    void send() {
        constexpr std::chrono::seconds short_watch{5};
        // Room for a list of one object, and enough for a server without support for `limit`.
        constexpr std::size_t max_answer_bytes = std::size_t{8} << 20;
        const auto request =
            checks_.current().watch
                ? watch_request(query(), {"0"}, short_watch, checks_.current().api_version)
                : probe_request(query(), scope_.watch, checks_.current().api_version);
        get_->start(request.target,
                    checks_.current().watch ? ShortRequest::no_body : max_answer_bytes,
                    left_of_step(), guarded(&AccessCheck::on_answer));
    }
    void on_answer(const ShortRequest::Answer& answer) {
        const auto& [rule, kind] = checks_.current().access;
        const KindSchema& schema = schema_of(kind);
        const bool newest = checks_.current().api_version.empty();
        if (answer.head.status != 404 || schema.older_versions.empty() || !newest)
            return judge_answer(answer);
        limit_step("the server does not list the versions of the API");
        client_->served_versions.async_get(
            kind, schema.older_versions, ApiAbsence::max_query_pause(schema.custom),
            [again = guarded(&AccessCheck::on_versions), answer](ServedVersions::Answer served) {
                again(answer, served);
            });
    }
    void on_versions(const ShortRequest::Answer& answer, ServedVersions::Answer served) {
        step_.timer().cancel();
        if (served.version.empty()) return judge_answer(answer);
        const Kind kind = checks_.current().access.second;
        checks_.set_version(kind, served.version);
        send();
    }

    void judge_answer(const ShortRequest::Answer& answer) {
        const PermissionChecks::Check& asked = checks_.current();
        const Verdict verdict = asked.watch ? verdict_on_head(answer, query(), Purpose::watch)
                                            : verdict_on_list(answer, query());
        const AccessRule& rule = asked.access.first;
        if (!verdict.failed) {
            checks_.on_allowed();
            return ok("allowed" + (asked.api_version.empty()
                                       ? std::string()
                                       : "; the server has " + std::string(asked.api_version)),
                      &AccessCheck::ask);
        }
        const unsigned status = answer.head.status;
        const bool refused = status >= 400 && status < 500 && status != 401 && status != 429;
        checks_.on_failed(rule.optional && refused);
        if (rule.optional && refused) {
            return report(
                Result::skipped,
                (status == 403 ? "not allowed" : "refused with HTTP " + std::to_string(status)) +
                    std::string(", and not needed: the namespaces are watched one by one"),
                &AccessCheck::ask);
        }
        // Without any response, further checks are pointless.
        const bool answered = status != 0;
        fail(verdict.failure.ec, verdict.failure.message,
             answered ? &AccessCheck::ask : &AccessCheck::end);
    }

    TimePoint now() const { return environment_.clock->now(); }

    const asio::any_io_executor host_;
    const asio::any_io_executor strand_;
    const Environment environment_;
    const DiscoveryConfig config_;
    const Duration step_timeout_;
    const AccessCheckHandler on_line_;
    /// Never expires. The context owns its handler, and the handler owns the check, so the
    /// destruction of the context destroys the check, too.
    asio::steady_timer life_;
    std::unique_ptr<Running> operation_;
    std::atomic<bool> cancelled_ = false;

    WatchScope scope_;
    std::unique_ptr<ApiClientImpl> client_;  ///< null: the configuration is not resolved yet
    HttpConnection::Target target_;          ///< with the client certificate, once issued
    bool has_credentials_ = false;
    std::shared_ptr<ShortRequest> get_;
    PermissionChecks checks_;
    CheckStep step_;
    bool all_fine_ = true;
};

CheckInitiation::CheckInitiation(asio::any_io_executor executor, const DiscoveryConfig& config,
                                 Duration step_timeout, AccessCheckHandler on_line)
    : executor_(std::move(executor)) {
    check_host_executor(executor_, "async_check_access");
    check_callback(on_line, "async_check_access");
    check_ = std::make_shared<AccessCheck>(executor_, config, step_timeout, std::move(on_line));
}

void CheckInitiation::run(Handler handler) const { check_->run(std::move(handler)); }

}  // namespace k8s_sd::inline v0::detail
