#pragma once

#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

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
        if (!begun) complete(refused("too many files are being read"));
    };
    return LateAnswers::async_ask<Answer>(strand, nullptr, ask, refused, std::move(handler));
}

}  // namespace k8s_sd::inline v0::detail
