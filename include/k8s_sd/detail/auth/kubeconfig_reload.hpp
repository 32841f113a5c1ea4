#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/async/file_reader.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Periodically checks the kubeconfig of a server for changes. Missing, unreadable or invalid files
/// never replace valid settings. Confined to one strand.
class KubeconfigReload {
 public:
    /// Never called from inside a call of this class.
    using ChangeHandler =
        std::function<void(const ApiServerConfig& before, const ApiServerConfig& now)>;
    /// Called from the requesting call or later, but not after destruction; may destroy this
    /// object.
    using CheckHandler = std::function<void()>;

    /// \param logger  logs changes, a file's first error, and its recovery
    KubeconfigReload(ApiServerConfig present, const asio::any_io_executor& strand,
                     std::shared_ptr<Clock>, std::shared_ptr<FileCalls>, Logger, ChangeHandler);
    KubeconfigReload(const KubeconfigReload&) = delete;
    KubeconfigReload& operator=(const KubeconfigReload&) = delete;

    /// Checks the files if the last check is 60 s old. Concurrent callers share a check.
    void async_check(CheckHandler);
    /// Checks immediately: the server has refused the credentials.
    void async_check_now(CheckHandler);
    /// Checks every 60 s from now on, until rest().
    void keep_checking();
    void rest() noexcept;
    /// The server was unreachable: the next check follows 5 s, not 60 s, after the last.
    void doubt() noexcept;

 private:
    void set_timer();
    void read_next();
    std::string take_content(const std::string& path, const FileContent&);
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
    TimePoint checked_at_;
    TimePoint due_;
    bool checking_ = false;                ///< see keep_checking()
    std::vector<CheckHandler> waiting_;    ///< not empty: a check is pending
    std::vector<CleansedBytes> contents_;  ///< read by the current check
    std::optional<std::size_t> parsed_;    ///< hash of the last parsed contents
    std::string parse_problem_;            ///< their error
    std::string reported_;                 ///< the last logged problem
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace k8s_sd::inline v0::detail
