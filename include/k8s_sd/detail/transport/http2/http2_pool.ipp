#include "k8s_sd/detail/transport/http2/http2_pool.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Afterwards HTTP/2 is offered again: the server may have been upgraded.
constexpr Duration http1_memory = std::chrono::minutes(10);
/// Of a connection until its server reports its limit (RFC 9113 6.5.2).
constexpr std::size_t presumed_streams = 100;

constexpr auto is_withdrawn = [](const auto& waiter) { return waiter.expired(); };

}  // namespace

struct Http2Pool::Attempt {
    Target target;
    std::shared_ptr<Http2Pause> pause;  ///< may be null
    Waiters waiters;
    std::size_t streams = presumed_streams;  ///< of the new connection
    std::size_t room = 0;                    ///< for further watches
};

/// Null handler: called. A withdrawn watch returns its room.
struct Http2Pool::Waiter {
    explicit Waiter(Handler h) : handler(std::move(h)) {}
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    ~Waiter() {
        if (const auto attempt = takes_room_of.lock()) ++attempt->room;
    }

    Handler handler;
    std::weak_ptr<Attempt> takes_room_of;
};

Http2Pool::Http2Pool(asio::any_io_executor executor, std::shared_ptr<Clock> clock,
                     std::size_t max_watches, std::shared_ptr<Metrics::Gauge> open)
    : executor_(std::move(executor)),
      clock_(std::move(clock)),
      max_watches_(max_watches),
      gauge_(std::move(open)) {}

Http2Pool::~Http2Pool() {
    for (const auto& [target, connections] : connections_) {
        for (const Shared& connection : connections) connection->close();
    }
}

Http2Pool::Shared Http2Pool::find(const Target& target, StreamUse use) {
    clean();
    const auto known = connections_.find(target);
    if (known == connections_.end()) return nullptr;
    const auto found =
        std::find_if(known->second.begin(), known->second.end(),
                     [use](const Shared& connection) { return connection->has_room(use); });
    return found == known->second.end() ? nullptr : *found;
}

bool Http2Pool::is_http1(const Target& target) const {
    const auto known = http1_until_.find(target);
    return known != http1_until_.end() && clock_->now() < known->second;
}

void Http2Pool::require_http1(const Target& target) {
    http1_until_[target] = clock_->now() + http1_memory;
}

Http2Pool::Wait Http2Pool::async_wait(const Target& target, StreamUse use, Handler handler) {
    const auto found = std::find_if(attempts_.begin(), attempts_.end(), [&](const auto& attempt) {
        return attempt->target == target && (use == StreamUse::brief || attempt->room > 0);
    });
    if (found == attempts_.end()) return nullptr;
    auto waiter = std::make_shared<Waiter>(std::move(handler));
    if (use == StreamUse::watch) {
        --(*found)->room;
        waiter->takes_room_of = *found;
    }
    (*found)->waiters.push_back(waiter);
    return waiter;
}

Http2Pool::Wait Http2Pool::async_connection(const Target& target, Handler handler) {
    auto waiter = std::make_shared<Waiter>(std::move(handler));
    Waiters& waiters = undecided_[target];
    // During an outage no connection ends the wait of those that gave up.
    if (waiters.size() == waiters.capacity()) std::erase_if(waiters, is_withdrawn);
    waiters.push_back(waiter);
    return waiter;
}

void Http2Pool::post(const Waiters& waiters, const Result& result) {
    for (const auto& waiting : waiters) {
        asio::post(executor_, [waiting, result] {
            const auto waiter = waiting.lock();
            if (!waiter) return;
            const Handler handler = std::exchange(waiter->handler, nullptr);
            handler(result);
        });
    }
}

Http2Pool::Lead Http2Pool::lead(Target target, std::shared_ptr<Http2Pause> pause) {
    const auto attempt = std::make_shared<Attempt>();
    attempt->target = std::move(target);
    attempt->pause = std::move(pause);
    attempt->streams = known_limit(attempt->target);
    const std::size_t watches = Http2Connection::watch_limit(attempt->streams, max_watches_);
    attempt->room = watches > 0 ? watches - 1 : 0;  // one is for the request that connects
    attempts_.push_back(attempt);
    return {shared_from_this(), attempt};
}

/// The stream limit to expect of another connection.
std::size_t Http2Pool::known_limit(const Target& target) const {
    std::size_t limit = presumed_streams;
    const auto known = connections_.find(target);
    if (known == connections_.end()) return limit;
    for (const Shared& connection : known->second) {
        if (!connection->takes_streams()) continue;
        limit = std::min(limit, std::max<std::size_t>(connection->stream_limit(), 1));
    }
    return limit;
}

/// Drops closed connections, and targets that no request uses any more.
void Http2Pool::clean() {
    for (auto& [target, connections] : connections_) {
        std::erase_if(connections, [](const Shared& connection) { return connection->closed(); });
    }
    std::erase_if(connections_, [](const auto& entry) { return entry.second.empty(); });
    std::erase_if(undecided_, [](const auto& entry) {
        return std::all_of(entry.second.begin(), entry.second.end(), is_withdrawn);
    });
    const TimePoint now = clock_->now();
    std::erase_if(http1_until_, [now](const auto& entry) { return entry.second <= now; });
}

void Http2Pool::drop(const Attempt& attempt) noexcept {
    attempts_.remove_if([&](const auto& other) { return other.get() == &attempt; });
}

// --- the obligation to connect -------------------------------------------------------------------

void Http2Pool::Lead::on_http2(std::unique_ptr<ByteStream> stream) {
    auto connection = std::make_shared<Http2Connection>(
        pool_->executor_, pool_->clock_, std::move(stream),
        Http2Connection::Limits{pool_->max_watches_, attempt_->streams}, pool_->gauge_);
    pool_->connections_[attempt_->target].push_back(connection);
    connection->start([pause = attempt_->pause, clock = pool_->clock_] {
        if (pause) pause->demand(clock->now());
    });
    if (const auto others = pool_->undecided_.extract(attempt_->target)) {
        pool_->post(others.mapped(), {});
    }
    finish({});
}

void Http2Pool::Lead::on_http1() {
    pool_->require_http1(attempt_->target);
    finish({});
}

void Http2Pool::Lead::on_failure(error_code ec, const std::string& why) {
    finish({Result::Kind::failed, ec, why});
}

void Http2Pool::Lead::finish(const Result& result) {
    const auto pool = std::exchange(pool_, nullptr);
    const auto attempt = std::exchange(attempt_, nullptr);
    pool->drop(*attempt);
    pool->post(attempt->waiters, result);
}

void Http2Pool::Lead::reset() noexcept {
    if (attempt_) finish({});
}

Http2Pool::Lead& Http2Pool::Lead::operator=(Lead&& other) noexcept {
    const Lead before = std::move(*this);
    pool_ = std::move(other.pool_);
    attempt_ = std::move(other.attempt_);
    return *this;
}

}  // namespace k8s_sd::inline v0::detail
