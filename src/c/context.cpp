#include "context.hpp"

#include "failure.hpp"
#include "k8s_sd/detail/base/blocked_signals.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/logger.hpp"
#include "k8s_sd/metrics.hpp"
#include "metrics_text.hpp"

#include <unistd.h>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <utility>

namespace k8s_sd_c {

namespace {

constexpr std::uint64_t known_flags = K8S_SD_NO_THREAD | K8S_SD_EVENTS_AS_JSON | K8S_SD_FIND_SERVER;

/// \throws Failure for an unknown level
k8s_sd::LogLevel read_level(int level) {
    switch (level) {
        case K8S_SD_LOG_DEFAULT:
        case K8S_SD_LOG_WARNING: return k8s_sd::LogLevel::warning;
        case K8S_SD_LOG_OFF: return k8s_sd::LogLevel::off;
        case K8S_SD_LOG_ERROR: return k8s_sd::LogLevel::error;
        case K8S_SD_LOG_INFO: return k8s_sd::LogLevel::info;
        case K8S_SD_LOG_DEBUG: return k8s_sd::LogLevel::debug;
        default: throw Failure(K8S_SD_INVALID_ARGUMENT, "log_level: is no k8s_sd_log_level");
    }
}

k8s_sd_log_level level_for_host(k8s_sd::LogLevel level) {
    switch (level) {
        case k8s_sd::LogLevel::off: return K8S_SD_LOG_OFF;
        case k8s_sd::LogLevel::error: return K8S_SD_LOG_ERROR;
        case k8s_sd::LogLevel::warning: return K8S_SD_LOG_WARNING;
        case k8s_sd::LogLevel::info: return K8S_SD_LOG_INFO;
        case k8s_sd::LogLevel::debug: return K8S_SD_LOG_DEBUG;
    }
    return K8S_SD_LOG_WARNING;
}

k8s_sd::Logger make_logger(const k8s_sd_options& options) {
    k8s_sd::Logger logger;
    logger.level = read_level(options.log_level);
    if (options.log) {
        logger.write = [log = options.log, user = options.log_user](k8s_sd::LogLevel level,
                                                                    std::string_view line) {
            log(user, level_for_host(level), std::string(line).c_str());
        };
    }
    return logger;
}

void check(const k8s_sd_options& options) {
    if ((options.flags & ~known_flags) != 0 || options.reserved != 0) {
        throw Failure(K8S_SD_INVALID_ARGUMENT, "flags: has an unknown flag");
    }
}

}  // namespace

Context::Context(const k8s_sd_options& options)
    : process_(::getpid()),
      has_thread_((options.flags & K8S_SD_NO_THREAD) == 0),
      host_{io_, queue_, (options.flags & K8S_SD_EVENTS_AS_JSON) != 0,
            (options.flags & K8S_SD_FIND_SERVER) != 0},
      work_(io_.get_executor()),
      status_timer_(io_),
      open_(*this) {
    k8s_sd_c::check(options);
    k8s_sd::Environment environment;
    environment.logger = make_logger(options);
    install(io_, std::move(environment));
    if (has_thread_) start_thread();
}

Context::~Context() { close(); }

bool Context::is_own_process() const noexcept { return process_ == ::getpid(); }

void Context::check() const {
    if (!is_own_process()) {
        throw Failure(K8S_SD_FORKED, "the context belongs to the parent of this process; open "
                                     "another one");
    }
    if (queue_.closed()) throw Failure(K8S_SD_CLOSED, "the context is closed");
}

void Context::start_thread() {
    const k8s_sd::detail::BlockedSignals blocked;
    const std::lock_guard ending(ending_);  // exit() may close the context already
    thread_ = std::thread([this] { run(); });
}

void Context::run() noexcept {
    const std::lock_guard running(running_);
    runner_ = std::this_thread::get_id();
    // Only a lack of memory causes an exception.
    for (bool ended = false; !ended;) {
        try {
            if (broken_) begin_again(std::chrono::seconds(1));
            io_.run();
            ended = true;
        } catch (const std::exception&) {
            broken_ = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until there is memory
        }
    }
    runner_ = std::thread::id();
}

void Context::begin_again(std::chrono::milliseconds pause) {
    for (const auto& [id, watch] : watches()) {
        watch->forget();
        queue_.clear(id);
    }
    if (pause.count() > 0) {
        io_.run_for(pause);
    } else {
        io_.restart();
        io_.poll();
    }
    io_.restart();
    const std::lock_guard lock(mutex_);  // add() and cancel() change the watches
    if (closed_) return;
    for (const auto& [id, watch] : watches_) watch->begin_again();
    if (checks_status_) asio::post(io_, [this] { check_status(); });
    broken_ = false;
}

void Context::check_status() {
    for (const auto& [id, watch] : watches()) watch->check_status();
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    status_timer_.expires_after(std::chrono::seconds(1));
    status_timer_.async_wait([this](boost::system::error_code ec) {
        if (!ec) check_status();
    });
}

k8s_sd_id Context::add(void* user, const MakeWatch& make) {
    WatchIdentity identity{0, user};
    {
        const std::lock_guard lock(mutex_);
        identity.id = ++last_id_;
    }
    const auto watch = make(host_, identity);
    queue_.admit(identity.id);
    const std::lock_guard lock(mutex_);
    if (closed_) throw Failure(K8S_SD_CLOSED, "the context is closed");
    watch->start();
    watches_.emplace(identity.id, watch);
    if (watch->checks_status() && !checks_status_) {
        asio::post(io_, [this] { check_status(); });
        checks_status_ = true;
    }
    return identity.id;
}

std::shared_ptr<Watch> Context::find(k8s_sd_id id) const {
    const std::lock_guard lock(mutex_);
    const auto it = watches_.find(id);
    if (it == watches_.end()) {
        throw Failure(K8S_SD_NOT_FOUND, "id: the context has no watch " + std::to_string(id));
    }
    return it->second;
}

void Context::reload(k8s_sd_id id, const k8s_sd_config& config) { find(id)->reload(config); }

void Context::cancel(k8s_sd_id id) {
    const auto watch = find(id);
    watch->cancel();
    queue_.drop(id);
    const std::lock_guard lock(mutex_);
    watches_.erase(id);
}

void Context::stop() noexcept {
    Watches watches;
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        watches.swap(watches_);
        work_.reset();
    }
    for (const auto& [id, watch] : watches) watch->cancel();
    queue_.close();
}

void Context::close() noexcept {
    stop();
    if (runner_ == std::this_thread::get_id()) return;    // in a log callback
    asio::post(io_, [this] { status_timer_.cancel(); });  // wakes a poll() of another thread, too
    const std::lock_guard ending(ending_);
    if (thread_.joinable()) thread_.join();
    if (std::exchange(drained_, true) || has_thread_) return;
    // What was cancelled ends here.
    io_.restart();
    run();
}

bool Context::poll(int timeout_ms) {
    if (!has_thread_) return run_for_host(timeout_ms);
    std::optional<std::chrono::steady_clock::time_point> end;
    if (timeout_ms >= 0) {
        end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    }
    const bool ready = queue_.wait(end);
    check();
    return ready;
}

bool Context::run_for_host(int timeout_ms) {
    // Otherwise the attempt to lock would be one of the thread that has it already.
    const bool nested = runner_ == std::this_thread::get_id();
    const std::unique_lock running =
        nested ? std::unique_lock<std::mutex>() : std::unique_lock(running_, std::try_to_lock);
    if (!running.owns_lock()) {
        throw Failure(K8S_SD_BUSY, "another call of k8s_sd_poll() runs the context");
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    struct Runner {
        explicit Runner(std::atomic<std::thread::id>& runner) : id(runner) {
            id = std::this_thread::get_id();
        }
        ~Runner() { id = std::thread::id(); }
        std::atomic<std::thread::id>& id;
    } const runner(runner_);
    try {
        if (broken_) begin_again({});
        run_ready_for_host(timeout_ms, end);
    } catch (const std::bad_alloc&) {
        broken_ = true;
        throw;
    }
    check();
    return queue_.ready();
}

void Context::run_ready_for_host(int timeout_ms, TimePoint end) {
    for (;;) {
        check();
        io_.restart();
        io_.poll();
        if (queue_.ready() || timeout_ms == 0) break;
        const bool ran = timeout_ms < 0 ? io_.run_one() > 0 : io_.run_one_until(end) > 0;
        if (!ran && std::chrono::steady_clock::now() >= end) break;
    }
}

Context::Watches Context::watches() const {
    const std::lock_guard lock(mutex_);
    return watches_;
}

std::string Context::status_json() const {
    std::string text;
    JsonWriter out(text);
    std::vector<k8s_sd::WatchStatus> urls;
    out.begin('{').name("watches").begin('[');
    for (const auto& [id, watch] : watches()) {
        out.begin('{').member("watch", id);
        watch->write_status(out, urls);
        out.end('}');
    }
    out.end(']').end('}');
    return text;
}

std::string Context::metrics_text() {
    std::vector<std::string> parts{k8s_sd::to_prometheus_text(*k8s_sd::metrics_of(io_))};
    const auto now = std::chrono::steady_clock::now();
    for (const auto& [id, watch] : watches()) {
        std::string unused;
        JsonWriter out(unused);
        std::vector<k8s_sd::WatchStatus> urls;
        watch->write_status(out, urls);
        parts.push_back(k8s_sd::to_prometheus_text(urls, now, {{"watch", std::to_string(id)}}));
    }
    return join_metrics(parts);
}

}  // namespace k8s_sd_c
