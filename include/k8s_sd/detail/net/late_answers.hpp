#pragma once

#include "k8s_sd/detail/net/flights.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <functional>
#include <memory>

namespace k8s_sd::inline v0::detail {

/// Answers of programs and hosts, which may come from any thread, after their context, or never. A
/// context knows by this service who still waits. Thread-safe.
class LateAnswers final : public asio::execution_context::service {
 public:
    /// A question that was asked; questions with the same key are the same.
    struct Question {
        bool is(const Question& other) const noexcept { return key == other.key; }
        std::shared_ptr<const void> key;
    };
    using Shared = Flights<Question, std::shared_ptr<const void>>;
    using Ticket = Shared::Ticket;

    static asio::execution_context::id id;

    explicit LateAnswers(asio::execution_context& context);

    /// \param ask      called now, unless too many of the same question have no answer yet; it is
    ///                 given what takes the answer
    /// \param handler  posted to `executor` with the answer
    template <class Answer>
    static Ticket async_ask(const asio::any_io_executor& executor, std::shared_ptr<const void> key,
                            const std::function<void(std::function<void(Answer)>)>& ask,
                            std::function<void(const Answer&)> handler) {
        const auto shared = of(executor);
        auto seat = shared->join({std::move(key)}, executor,
                                 [handler = std::move(handler)](const auto& answer) {
                                     handler(*static_cast<const Answer*>(answer.get()));
                                 });
        if (!seat.first) return seat.ticket;
        auto land = [weak = std::weak_ptr(shared), number = seat.flight](Answer answer) {
            if (const auto self = weak.lock())
                self->land(number, std::make_shared<const Answer>(std::move(answer)));
        };
        try {
            ask(std::move(land));
        } catch (...) {
            seat.ticket.cancel();
            shared->land(seat.flight, nullptr);
            throw;
        }
        return seat.ticket;
    }

 private:
    static std::shared_ptr<Shared> of(const asio::any_io_executor&);
    void shutdown() override { shared_->clear(); }

    std::shared_ptr<Shared> shared_;
};

}  // namespace k8s_sd::inline v0::detail
