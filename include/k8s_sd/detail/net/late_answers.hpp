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

/// Answers of programs and hosts, which may come from any thread, after their context, or never. A
/// context knows by this service who still waits. Thread-safe.
class K8S_SD_EXPORT LateAnswers final : public asio::execution_context::service {
 public:
    /// A question that was asked; questions with the same key are the same. Without a key it is
    /// nobody else's, and forgotten with its ticket.
    struct Question {
        bool is(const Question& other) const noexcept { return key && key == other.key; }
        std::shared_ptr<const void> key;
    };
    using Shared = Flights<Question, std::shared_ptr<const void>>;

    /// One who waits, on the strand of the handler. Owns the handler: once the ticket is cancelled
    /// or gone, it is not called any more, also if its call was posted before.
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
    /// The answer of an `ask` that has thrown, from the text of its exception.
    template <class Answer>
    using Failed = std::function<Answer(const std::string& problem)>;

    static asio::execution_context::id id;

    explicit LateAnswers(asio::execution_context& context);

    /// \param ask      called now, unless too many of the same question have no answer yet; it is
    ///                 given what takes the answer
    /// \param handler  posted to `executor`, which is a strand, with the answer
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
    /// The text of what the call throws; empty: nothing.
    static std::string problem_of(const std::function<void()>& call);
    void shutdown() override { shared_->clear(); }

    std::shared_ptr<Shared> shared_;
};

}  // namespace k8s_sd::inline v0::detail
