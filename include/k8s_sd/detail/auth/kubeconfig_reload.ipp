#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/auth/kubeconfig_reload.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration kubeconfig_check_interval = std::chrono::seconds(60);
constexpr Duration kubeconfig_check_interval_in_doubt = std::chrono::seconds(5);

}  // namespace

KubeconfigReload::KubeconfigReload(ApiServerConfig present, const asio::any_io_executor& strand,
                                   std::shared_ptr<Clock> clock, std::shared_ptr<FileCalls> calls,
                                   Logger logger, ChangeHandler changed)
    : present_(std::move(present)),
      clock_(std::move(clock)),
      logger_(std::move(logger)),
      changed_(std::move(changed)),
      reader_(strand, clock_, std::move(calls)),
      timer_(clock_->make_timer(strand)),
      checked_at_(clock_->now()),
      due_(checked_at_ + kubeconfig_check_interval) {}

void KubeconfigReload::async_check(CheckHandler handler) {
    if (waiting_.empty() && clock_->now() < due_) return handler();
    async_check_now(std::move(handler));
}

void KubeconfigReload::async_check_now(CheckHandler handler) {
    waiting_.push_back(std::move(handler));
    if (waiting_.size() > 1) return;
    contents_.clear();
    read_next();
}

void KubeconfigReload::keep_checking() {
    if (!std::exchange(checking_, true)) set_timer();
}

void KubeconfigReload::rest() noexcept {
    checking_ = false;
    timer_->cancel();
}

void KubeconfigReload::set_timer() {
    if (checking_) timer_->expires_at(due_, [this] { async_check([] {}); });
}

void KubeconfigReload::doubt() noexcept {
    due_ = std::min(due_, checked_at_ + kubeconfig_check_interval_in_doubt);
}

void KubeconfigReload::read_next() {
    const std::string& path = present_.kubeconfig.files[contents_.size()];
    const auto on_content = [this, &path](const FileContent& content) {
        const std::string problem = take_content(path, content);
        if (!problem.empty()) return finish(problem);
        contents_.size() < present_.kubeconfig.files.size() ? read_next() : finish({});
    };
    try {
        reader_.async_read(path, on_content);
    } catch (const std::bad_alloc&) {
        finish(no_memory);
    }
}

/// \returns why it cannot be used
std::string KubeconfigReload::take_content(const std::string& path, const FileContent& content) {
    try {
        if (!content.problem.empty()) return path + ": " + content.problem;
        contents_.push_back(content.bytes);
        return {};
    } catch (const std::bad_alloc&) {
        return no_memory;
    }
}

void KubeconfigReload::finish(const std::string& read_problem) {
    const std::weak_ptr<bool> alive = alive_;
    checked_at_ = clock_->now();
    due_ = checked_at_ +
           (read_problem.empty() ? kubeconfig_check_interval : kubeconfig_check_interval_in_doubt);
    // Whatever happens, all requests get an answer: without one they would never end.
    FirstException problem;
    problem.catch_from([&] {
        set_timer();
        if (read_problem.empty()) evaluate();
    });
    if (alive.expired()) return problem.rethrow();  // by the change handler
    contents_.clear();
    problem.catch_from([&] { report(read_problem.empty() ? parse_problem_ : read_problem); });
    for (const CheckHandler& handler : std::exchange(waiting_, {})) {
        if (!alive.expired()) problem.catch_from(handler);
    }
    problem.rethrow();
}

void KubeconfigReload::evaluate() {
    const std::weak_ptr<bool> alive = alive_;
    KeyedHash hash(hash_key());
    for (const CleansedBytes& content : contents_) hash.add(view(content));
    if (std::exchange(parsed_, hash.finish()) == parsed_) return;
    try {
        ApiServerConfig next = parse();
        parse_problem_.clear();
        if (next != present_) take(std::move(next));
    } catch (const ConfigError& error) {
        parse_problem_ = error.what();
    } catch (...) {
        if (!alive.expired()) parsed_ = std::nullopt;  // the next check tries again
        throw;
    }
}

ApiServerConfig KubeconfigReload::parse() const {
    const KubeconfigOrigin& origin = present_.kubeconfig;
    std::vector<KubeconfigFile> files;
    for (const CleansedBytes& content : contents_) {
        files.push_back({origin.files[files.size()], view(content)});
    }
    ApiServerConfig own;
    own.headers = present_.headers;
    own.http_version = present_.http_version;
    own.impersonate = origin.impersonate;
    own.proxy = origin.proxy;
    return read_kubeconfig(files, origin.context, own);
}

void KubeconfigReload::take(ApiServerConfig next) {
    const std::weak_ptr<bool> alive = alive_;
    ApiServerConfig before = std::exchange(present_, std::move(next));
    try {
        const bool moved = before.url != present_.url;
        logger_.log(LogLevel::info, LogEvent::kubeconfig_changed,
                    name() + "it has changed" + (moved ? "; the server is " + present_.url : ""));
        // The handler may destroy this object.
        const ChangeHandler changed = changed_;
        const ApiServerConfig now = present_;
        changed(before, now);
    } catch (...) {
        if (!alive.expired()) present_ = std::move(before);  // the next check reports it again
        throw;
    }
}

/// Logs a problem once, until it changes.
void KubeconfigReload::report(const std::string& problem) {
    if (reported_ == problem) return;
    reported_ = problem;
    const LogEvent event =
        problem.empty() ? LogEvent::kubeconfig_recovered : LogEvent::kubeconfig_failed;
    logger_.log(LogLevel::warning, event,
                name() + (problem.empty() ? "usable again"
                                          : problem + "; the previous content stays in use"));
}

std::string KubeconfigReload::name() const {
    return "kubeconfig " + join(present_.kubeconfig.files) + ": ";
}

}  // namespace k8s_sd::inline v0::detail
