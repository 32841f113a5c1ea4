#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/net/file_reader.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Looks from time to time whether the kubeconfig that a server was read from says something else.
/// Files that are gone, unreadable or wrong never replace good settings. Lives on one strand.
class KubeconfigReload {
 public:
    /// Not called from within a call of this class.
    using ChangeHandler =
        std::function<void(const ApiServerConfig& before, const ApiServerConfig& now)>;
    /// Called from the call that asked or later, but not after the destruction; may destroy this.
    using LookHandler = std::function<void()>;

    /// \param logger  is told of changes, once when a file turns bad, and once when it is good
    ///                again
    KubeconfigReload(ApiServerConfig present, const asio::any_io_executor& strand,
                     std::shared_ptr<Clock>, std::shared_ptr<FileCalls>, Logger, ChangeHandler);
    KubeconfigReload(const KubeconfigReload&) = delete;
    KubeconfigReload& operator=(const KubeconfigReload&) = delete;

    /// Looks if the last look is 60 s old. All who ask while it looks are told together.
    void async_look(LookHandler);
    /// Looks now: the server has refused the credentials.
    void async_look_at_once(LookHandler);
    /// Looks every 60 s from now on, also if nobody asks; until rest().
    void keep_looking();
    void rest() noexcept;
    /// The server was not reached: the next look comes after 5 s, not after 60 s.
    void doubt() noexcept;

 private:
    void set_timer();
    void read_next();
    void finish(const std::string& read_problem);
    void evaluate();
    ApiServerConfig parse() const;
    void take(ApiServerConfig);
    void report(const std::string& problem);
    std::string name() const;

    ApiServerConfig present_;
    std::shared_ptr<Clock> clock_;
    Logger logger_;
    ChangeHandler changed_;
    FileReader reader_;
    std::unique_ptr<Timer> timer_;
    TimePoint looked_at_;
    TimePoint due_;
    bool looking_ = false;                 ///< see keep_looking()
    std::vector<LookHandler> waiting_;     ///< not empty: it looks
    std::vector<CleansedBytes> contents_;  ///< that were read in this look
    std::optional<std::size_t> parsed_;    ///< a hash of the contents that were parsed last
    std::string parse_problem_;            ///< what was wrong with them
    std::string reported_;                 ///< the problem that was logged
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace k8s_sd::inline v0::detail
