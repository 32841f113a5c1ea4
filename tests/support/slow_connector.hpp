#pragma once

#include "k8s_sd/environment.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::test {

/// A connector whose attempts to connect take time, fail or hang, and are counted while they last.
class SlowConnector final : public Connector {
 public:
    struct Attempt {
        std::optional<Duration> takes{};  ///< nullopt: it hangs
        error_code ec{};
    };
    /// Decides the course of each attempt. Called from the strands of the streams.
    using Plan = std::function<Attempt(const ConnectTarget&)>;
    /// The attempts in progress, and the highest number of them at a time.
    struct Counts {
        std::atomic<int> running = 0, most = 0, total = 0;
    };

    /// \param inner  null: `plan` lets no attempt succeed
    SlowConnector(std::shared_ptr<Connector> inner, std::shared_ptr<Clock> clock, Plan plan)
        : inner_(std::move(inner)), clock_(std::move(clock)), plan_(std::move(plan)) {}

    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor executor,
                                            const ConnectTarget& target) override {
        auto inner = inner_ ? inner_->make_stream(executor, target) : nullptr;
        return std::make_unique<Stream>(
            executor, clock_->make_timer(executor), std::move(inner),
            [this, target] { return plan_(target); }, *this);
    }
    std::shared_ptr<const Counts> counts() const noexcept { return counts_; }

 private:
    class Counted {
     public:
        explicit Counted(std::shared_ptr<Counts> counts) : counts_(std::move(counts)) {
            ++counts_->total;
            const int now = ++counts_->running;
            for (int seen = counts_->most;
                 now > seen && !counts_->most.compare_exchange_weak(seen, now);) {
            }
        }
        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;
        ~Counted() { --counts_->running; }

     private:
        std::shared_ptr<Counts> counts_;
    };

    class Stream final : public ByteStream {
     public:
        Stream(asio::any_io_executor executor, std::unique_ptr<Timer> timer,
               std::unique_ptr<ByteStream> inner, std::function<Attempt()> plan,
               const SlowConnector& owner)
            : executor_(std::move(executor)),
              timer_(std::move(timer)),
              inner_(std::move(inner)),
              plan_(std::move(plan)),
              clock_(owner.clock_),
              counts_(owner.counts_) {}
        ~Stream() override { close(); }

        void async_connect(ConnectHandler handler) override {
            handler_ = std::move(handler);
            counted_ = std::make_shared<Counted>(counts_);
            const Attempt attempt = plan_();
            if (!attempt.takes) return;
            timer_->expires_at(clock_->now() + *attempt.takes,
                               [this, ec = attempt.ec] { finish(ec); });
        }
        void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
            inner_->async_read_some(buffer, std::move(handler));
        }
        void async_write(asio::const_buffer buffer, IoHandler handler) override {
            inner_->async_write(buffer, std::move(handler));
        }
        void close() noexcept override {
            timer_->cancel();
            counted_.reset();
            if (inner_) inner_->close();
            if (!handler_) return;
            asio::post(executor_, [handler = std::exchange(handler_, nullptr)] {
                handler(asio::error::operation_aborted, {});
            });
        }
        std::string waits_for() const override { return "the slow connector"; }

     private:
        void finish(error_code ec) {
            counted_.reset();
            const ConnectHandler handler = std::exchange(handler_, nullptr);
            if (ec || !inner_) return handler(ec, ec.message());
            inner_->async_connect(handler);
        }

        const asio::any_io_executor executor_;
        const std::unique_ptr<Timer> timer_;
        const std::unique_ptr<ByteStream> inner_;
        const std::function<Attempt()> plan_;
        const std::shared_ptr<Clock> clock_;
        const std::shared_ptr<Counts> counts_;
        std::shared_ptr<Counted> counted_;  ///< null: not connecting
        ConnectHandler handler_;
    };

    const std::shared_ptr<Connector> inner_;
    const std::shared_ptr<Clock> clock_;
    const Plan plan_;
    const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

/// The course of the attempts of a simulation: a base class before it.
struct SlowConnects {
    /// For Simulation, see there.
    std::function<std::shared_ptr<Connector>(const Environment&)> around() {
        return [this](const Environment& environment) {
            const auto connector = std::make_shared<SlowConnector>(
                environment.connector, environment.clock, [this](const ConnectTarget& target) {
                    return target.host == dead ? SlowConnector::Attempt{}
                                               : SlowConnector::Attempt{takes};
                });
            counts_ = connector->counts();
            return connector;
        };
    }
    const SlowConnector::Counts& attempts() const { return *counts_; }

    std::optional<Duration> takes = std::chrono::milliseconds(100);  ///< nullopt: attempts hang
    std::string dead{};                                              ///< a host whose attempts hang

 private:
    std::shared_ptr<const SlowConnector::Counts> counts_;
};

}  // namespace k8s_sd::test
