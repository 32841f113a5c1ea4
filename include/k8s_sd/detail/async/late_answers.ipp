#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/query.hpp>
#include <exception>

namespace k8s_sd::inline v0::detail {

namespace {

/// Limits pending calls to a host without answers.
constexpr unsigned max_unanswered = 8;

}  // namespace

asio::execution_context::id LateAnswers::id;

LateAnswers::LateAnswers(asio::execution_context& context)
    : asio::execution_context::service(context),
      shared_(std::make_shared<Shared>(max_unanswered)) {}

std::string LateAnswers::problem_of(const std::function<void()>& call) {
    std::string problem;
    try {
        call();
        return {};
    } catch (const std::exception& error) {
        problem = printable(in_words(error));
    } catch (...) {
    }
    return problem.empty() ? "unknown exception" : problem;
}

std::shared_ptr<LateAnswers::Shared> LateAnswers::of(const asio::any_io_executor& executor) {
    auto& context = asio::query(executor, asio::execution::context);
    return asio::use_service<LateAnswers>(context).shared_;
}

}  // namespace k8s_sd::inline v0::detail
