#pragma once

#include "k8s_sd/detail/config/server_url.hpp"
#include "k8s_sd/detail/discovery/source_feed.hpp"
#include "k8s_sd/detail/net/api_client_impl.hpp"
#include "k8s_sd/detail/net/late_answers.hpp"
#include "k8s_sd/detail/net/short_request.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/target_configs.hpp"
#include "k8s_sd/target_group_maker.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <string>

namespace k8s_sd::inline v0::detail {

/// Asks a URL for a list of targets again and again, and tells a source what it says. Lives on a
/// strand.
class HttpTargets final : public SourceDriver, public std::enable_shared_from_this<HttpTargets> {
 public:
    HttpTargets(asio::any_io_executor strand, const Environment&, HttpSdConfig,
                std::shared_ptr<SourceState>);

    void start() override;
    void stop() noexcept override;

 private:
    /// Why an answer cannot be used.
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
    const std::string place_;  ///< for messages: the URL without its query, which may hold secrets
    const std::shared_ptr<SourceState> source_;
    ApiClientImpl api_;
    std::minstd_rand random_;
    const std::shared_ptr<TargetGroupMaker> maker_;  ///< one reads at a time
    std::shared_ptr<ShortRequest> request_;
    std::unique_ptr<Timer> timer_;
    LateAnswers::Ticket ticket_;
    std::optional<std::size_t> hash_;  ///< of the body that the source knows
    unsigned failures_ = 0;            ///< since the last success
    Duration retry_after_{};           ///< as the last answer says it

    // Of the request that is under way.
    std::string path_;  ///< with the query
    TimePoint end_{};   ///< when it must be over
    unsigned redirects_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
