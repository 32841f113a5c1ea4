#pragma once

#include "k8s_sd/environment.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace k8s_sd::monitoring {

/// A load balancer. While it stalls, it forgets connections after half a minute: it swallows the
/// bytes of the server, and does not inform the client.
class StallingConnector final : public Connector {
 public:
    StallingConnector(std::shared_ptr<Connector> inner, std::shared_ptr<Clock> clock,
                      std::shared_ptr<const bool> stalls)
        : inner_(std::move(inner)), clock_(std::move(clock)), stalls_(std::move(stalls)) {}

    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor executor,
                                            const ConnectTarget& target) override {
        return std::make_unique<Stream>(executor, inner_->make_stream(executor, target),
                                        State{clock_, stalls_, clock_->now(), {}});
    }

 private:
    struct State {
        bool is_forgotten() const {
            return *stalls && clock->now() - begin > std::chrono::seconds(30);
        }

        std::shared_ptr<Clock> clock;
        std::shared_ptr<const bool> stalls;
        TimePoint begin;
        ByteStream::IoHandler waiting;  ///< for bytes that were swallowed
    };

    class Stream final : public ByteStream {
     public:
        Stream(asio::any_io_executor executor, std::unique_ptr<ByteStream> inner, State state)
            : executor_(std::move(executor)),
              inner_(std::move(inner)),
              state_(std::make_shared<State>(std::move(state))) {}
        ~Stream() override { close(); }

        void async_connect(ConnectHandler handler) override {
            inner_->async_connect(std::move(handler));
        }
        void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
            inner_->async_read_some(
                buffer, [state = state_, handler = std::move(handler)](error_code ec, auto bytes) {
                    if (ec || !state->is_forgotten()) return handler(ec, bytes);
                    state->waiting = handler;
                });
        }
        void async_write(asio::const_buffer buffer, IoHandler handler) override {
            inner_->async_write(buffer, std::move(handler));
        }
        void close() noexcept override {
            inner_->close();
            if (!state_->waiting) return;
            asio::post(executor_, [handler = std::exchange(state_->waiting, nullptr)] {
                handler(asio::error::operation_aborted, 0);
            });
        }
        std::string waits_for() const override { return inner_->waits_for(); }

     private:
        const asio::any_io_executor executor_;
        const std::unique_ptr<ByteStream> inner_;
        const std::shared_ptr<State> state_;
    };

    const std::shared_ptr<Connector> inner_;
    const std::shared_ptr<Clock> clock_;
    const std::shared_ptr<const bool> stalls_;
};

}  // namespace k8s_sd::monitoring
