#pragma once

#include "k8s_sd/detail/async/single_flight.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"

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
    /// dropped with its PendingAnswer.
    struct PendingOperation {
        bool is(const PendingOperation& other) const noexcept { return key && key == other.key; }
        std::shared_ptr<const void> key;
    };
    using Shared = SingleFlight<PendingOperation, std::shared_ptr<const void>>;

    /// A waiter on the handler's strand, and owner of the handler. After cancellation or
    /// destruction the handler is not called, even if already posted.
    class PendingAnswer {
     public:
        PendingAnswer() = default;
        PendingAnswer(Shared::WaiterHandle waiter, std::shared_ptr<void> handler)
            : waiter_(std::move(waiter)), handler_(std::move(handler)) {}
        void cancel() noexcept {
            waiter_.cancel();
            handler_.reset();
        }

     private:
        Shared::WaiterHandle waiter_;
        std::shared_ptr<void> handler_;
    };

    template <class Answer>
    using Ask = std::function<void(std::function<void(Answer)> complete)>;
    /// Converts an exception of `ask` into an answer.
    template <class Answer>
    using Failed = std::function<Answer(const std::string& problem)>;

    static asio::execution_context::id id;

    explicit LateAnswers(asio::execution_context& context);

    /// \param ask      called now unless too many equal operations are pending; receives a callback
    ///                 for the answer
    /// \param handler  posted with the answer to `executor`, a strand
    template <class Answer>
    static PendingAnswer async_ask(const asio::any_io_executor& executor,
                                   std::shared_ptr<const void> key, const Ask<Answer>& ask,
                                   const Failed<Answer>& failed,
                                   std::function<void(const Answer&)> handler) {
        using Handler = std::function<void(const Answer&)>;
        const auto shared = of(executor);
        const auto kept = std::make_shared<Handler>(std::move(handler));
        const auto joined =
            shared->join({std::move(key)}, executor,
                         [weak = std::weak_ptr(kept)](const std::shared_ptr<const void>& answer) {
                             if (const auto self = weak.lock())
                                 (*self)(*static_cast<const Answer*>(answer.get()));
                         });
        if (joined.first) {
            const auto complete = [weak = std::weak_ptr(shared),
                                   number = joined.number](Answer answer) {
                if (const auto self = weak.lock())
                    self->complete(number, std::make_shared<const Answer>(std::move(answer)));
            };
            try {
                const std::string problem = problem_of([&] { ask(complete); });
                if (!problem.empty()) complete(failed(problem));
            } catch (...) {  // without memory
                shared->give_up(joined.number);
                Shared::WaiterHandle(joined.waiter).cancel();
                throw;
            }
        }
        return {joined.waiter, kept};
    }

 private:
    static std::shared_ptr<Shared> of(const asio::any_io_executor&);
    /// Calls the function and returns the text of its exception; empty: none.
    static std::string problem_of(const std::function<void()>& call);
    void shutdown() override { shared_->clear(); }

    std::shared_ptr<Shared> shared_;
};

/// Runs long work in a thread of `calls`, off the strand.
/// \param work     does not throw
/// \param refused  makes the answer if no thread is available, from the reason
/// \param handler  posted to the strand with the answer, unless the result is destroyed before
template <class Answer>
LateAnswers::PendingAnswer async_elsewhere(const asio::any_io_executor& strand,
                                           const std::shared_ptr<FileCalls>& calls,
                                           std::function<Answer()> work,
                                           const std::function<Answer(const std::string&)>& refused,
                                           std::function<void(const Answer&)> handler) {
    const LateAnswers::Ask<Answer> ask = [&](const std::function<void(Answer)>& complete) {
        const bool begun = calls->run([work = std::move(work), complete] { complete(work()); });
        if (!begun) complete(refused("too many files are being read or written"));
    };
    return LateAnswers::async_ask<Answer>(strand, nullptr, ask, refused, std::move(handler));
}

}  // namespace k8s_sd::inline v0::detail
