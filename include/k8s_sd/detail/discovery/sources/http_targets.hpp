#pragma once

#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/short_request.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/discovery/sources/source_state.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/target_configs.hpp"
#include "k8s_sd/target_group.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace k8s_sd::inline v0::detail {

/// Polls a URL for a list of targets, and publishes them to a source. Used on a strand.
class HttpTargets final : public SourceDriver, public std::enable_shared_from_this<HttpTargets> {
 public:
    HttpTargets(asio::any_io_executor strand, const Environment&, HttpSdConfig,
                std::shared_ptr<SourceState>);

    void start() override;
    void stop() noexcept override;

 private:
    /// Why a response is unusable.
    struct Problem {
        error_code error;
        std::string text;
    };

    void ask();
    void ask_again();
    void on_answer(const ShortRequest::Answer&);
    bool follow(const ResponseHead&);
    void judge(const ShortRequest::Answer&);
    std::optional<Problem> problem_of(const ShortRequest::Answer&) const;
    Problem problem_of_status(const ShortRequest::Answer&) const;
    void read(const std::string& body);
    void on_read(const std::optional<Problem>&, std::size_t hash);
    void fail(const Problem&);
    void ask_later(Duration wait);
    Duration wait_after_failure() const;

    const HttpSdConfig config_;
    const UrlWithPath url_;
    const std::string place_;  ///< for messages: the URL without its query, a possible secret
    const std::shared_ptr<SourceState> source_;
    ApiClientImpl api_;
    Reminder end_post_{api_.environment.clock};
    std::minstd_rand random_;
    const std::shared_ptr<TargetGroupMaker> maker_;  ///< used by one thread at a time
    std::shared_ptr<ShortRequest> request_;
    std::unique_ptr<Timer> timer_;
    LateAnswers::PendingAnswer pending_answer_;
    std::optional<std::size_t> hash_;  ///< of the body last published
    unsigned failures_ = 0;            ///< since the last success
    Duration retry_after_{};           ///< from the last response

    // State of the current request.
    std::string path_;  ///< with the query
    TimePoint end_{};   ///< deadline
    unsigned redirects_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
