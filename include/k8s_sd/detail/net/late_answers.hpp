#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/net/flights.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Completions from programs and hosts. They may arrive on any thread, after the destruction of the
/// context, or never; this service tracks the waiters of a context. Thread-safe.
class K8S_SD_EXPORT LateAnswers final : public asio::execution_context::service {
 public:
    /// A pending operation; equal keys mean the same operation. Without a key it is unshared, and
    /// dropped with its ticket.
    struct Question {
        bool is(const Question& other) const noexcept { return key && key == other.key; }
        std::shared_ptr<const void> key;
    };
    using Shared = Flights<Question, std::shared_ptr<const void>>;

    /// A waiter on the handler's strand, and owner of the handler. After cancellation or
    /// destruction the handler is not called, even if already posted.
    class Ticket {
     public:
        Ticket() = default;
        Ticket(Shared::Ticket seat, std::shared_ptr<void> handler)
            : seat_(std::move(seat)), handler_(std::move(handler)) {}
        void cancel() noexcept {
            seat_.cancel();
            handler_.reset();
        }

     private:
        Shared::Ticket seat_;
        std::shared_ptr<void> handler_;
    };

    template <class Answer>
    using Ask = std::function<void(std::function<void(Answer)> land)>;
    /// Converts an exception of `ask` into an answer.
    template <class Answer>
    using Failed = std::function<Answer(const std::string& problem)>;

    static asio::execution_context::id id;

    explicit LateAnswers(asio::execution_context& context);

    /// \param ask      called now unless too many equal operations are pending; receives a callback
    ///                 for the answer
    /// \param handler  posted with the answer to `executor`, a strand
    template <class Answer>
    static Ticket async_ask(const asio::any_io_executor& executor, std::shared_ptr<const void> key,
                            const Ask<Answer>& ask, const Failed<Answer>& failed,
                            std::function<void(const Answer&)> handler) {
        using Handler = std::function<void(const Answer&)>;
        const auto shared = of(executor);
        const auto kept = std::make_shared<Handler>(std::move(handler));
        const auto seat =
            shared->join({std::move(key)}, executor,
                         [weak = std::weak_ptr(kept)](const std::shared_ptr<const void>& answer) {
                             if (const auto self = weak.lock())
                                 (*self)(*static_cast<const Answer*>(answer.get()));
                         });
        if (seat.first) {
            const auto land = [weak = std::weak_ptr(shared), number = seat.flight](Answer answer) {
                if (const auto self = weak.lock())
                    self->land(number, std::make_shared<const Answer>(std::move(answer)));
            };
            const std::string problem = problem_of([&] { ask(land); });
            if (!problem.empty()) land(failed(problem));
        }
        return {seat.ticket, kept};
    }

 private:
    static std::shared_ptr<Shared> of(const asio::any_io_executor&);
    /// Calls the function and returns the text of its exception; empty: none.
    static std::string problem_of(const std::function<void()>& call);
    void shutdown() override { shared_->clear(); }

    std::shared_ptr<Shared> shared_;
};

}  // namespace k8s_sd::inline v0::detail
