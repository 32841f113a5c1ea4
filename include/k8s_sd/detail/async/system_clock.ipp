#include "k8s_sd/environment.hpp"

#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

class SystemTimer final : public Timer {
 public:
    explicit SystemTimer(const asio::any_io_executor& executor) : timer_(executor) {}
    ~SystemTimer() override { ++*generation_; }

    void expires_at(TimePoint when, std::function<void()> handler) override {
        const std::uint64_t mine = ++*generation_;
        timer_.expires_at(when);
        timer_.async_wait(
            [current = generation_, mine, handler = std::move(handler)](const error_code& error) {
                if (!error && *current == mine) handler();
            });
    }

    void cancel() noexcept override {
        ++*generation_;
        timer_.cancel();
    }

 private:
    asio::steady_timer timer_;
    // An expired wait may already be queued as a success when it is cancelled. The shared wait
    // number, valid beyond the timer's lifetime, detects this.
    std::shared_ptr<std::uint64_t> generation_ = std::make_shared<std::uint64_t>(0);
};

class SystemClock final : public Clock {
 public:
    TimePoint now() const noexcept override { return std::chrono::steady_clock::now(); }
    std::unique_ptr<Timer> make_timer(asio::any_io_executor executor) override {
        return std::make_unique<SystemTimer>(std::move(executor));
    }
};

}  // namespace

std::shared_ptr<Clock> system_clock() { return std::make_shared<SystemClock>(); }

}  // namespace k8s_sd::inline v0
