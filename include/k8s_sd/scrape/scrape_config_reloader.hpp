#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// What a file says now, or why it cannot be used.
struct ScrapeConfigUpdate {
    /// nullopt: see `error`; a host keeps what it has.
    std::optional<ScrapeConfigFile> config{};
    std::optional<ScrapeConfigError> error{};  ///< set where `config` is not
    /// How many calls of ScrapeConfigReloader::check() came before the look that shows this. One
    /// that came later is answered by an update of its own.
    std::uint64_t checks = 0;
    /// The jobs of before that the file no longer has, sorted. With `config` they are removed: two
    /// looks have found the same bytes. With `error` the host keeps them until a later update.
    std::vector<std::string> removed{};
};

/// Follows a configuration file: reads it at once and looks for other content every
/// `check_interval`. Mounted ConfigMaps and replaced files are noticed, as content is compared.
///
/// \par Confirmation
/// A file that is read while it is half written may happen to be valid, with fewer jobs or with
/// parts of them. So an update that removes jobs, or changes how known ones find or relabel their
/// targets, is delivered when a second look has found the same bytes: after `check_interval`, or
/// after a second where check() asks for the look. Jobs that are only added are delivered at once.
/// Removals that wait are delivered as an error that names them. A file that lists no jobs at all
/// (ScrapeConfigFile::lists_jobs) is an error once there were jobs; `scrape_configs: []` removes
/// them.
///
/// \par Callback
/// `void(const ScrapeConfigUpdate&)`, called on the executor given at construction, as if by post,
/// never concurrently with itself: once after start(), then whenever the content has changed or
/// could no longer be read. The content is that of the file and of those that its
/// `scrape_config_files` name.
///
/// \par Where it parses
/// Reading and parsing take a few hundredths of a second for a megabyte of simple YAML, and some
/// 150 ms for one with anchors, tabs or texts of several lines. They never happen on the executor
/// of the callback unless it is given for that as well. Without another one they happen
/// where the environment reads files: by default on a thread of the library's, of which there is
/// one while there is something to read. There is one look at a time; that it takes more than 10 s
/// is told as an error, and what it shows is told when it ends. ScrapeConfigOptions::variables is
/// called there, too: it must be thread-safe.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in the
/// callback. It must be destroyed before its execution context. After cancel() has returned at
/// most a call that had begun is still running, and one look at the files; nobody waits for that.
/// It may still call ScrapeConfigOptions::variables, which must refer to nothing that is gone then:
/// capture by value.
///
/// \par Thread safety
/// expect_jobs(), start(), check() and cancel() may be called from any thread.
class K8S_SD_EXPORT ScrapeConfigReloader {
 public:
    /// See Callback above. It must not be empty.
    using Callback = std::function<void(const ScrapeConfigUpdate&)>;

    /// \param check_interval  0: only check() looks
    /// \param parser  where to read and parse, for example a thread pool of the host, whose threads
    ///                it may block; empty: see above
    /// \throws ConfigError for an executor or callback that is empty
    ScrapeConfigReloader(const asio::any_io_executor&, std::string path, ScrapeConfigOptions,
                         Duration check_interval, Callback,
                         const asio::any_io_executor& parser = {});
    ScrapeConfigReloader(ScrapeConfigReloader&&) noexcept = default;
    ScrapeConfigReloader& operator=(ScrapeConfigReloader&&) noexcept;
    ~ScrapeConfigReloader();

    /// Names the jobs that the host knows of before the start, for example from before a restart.
    /// If there are any, the first update needs a second look, too. Call it before start().
    void expect_jobs(std::set<std::string> names);
    /// Reads the file for the first time; further calls do nothing.
    void start();
    /// Looks now, for example because of a SIGHUP, and tells the content of the file even if it is
    /// the same: other files that it names may have changed. Does nothing before start().
    /// \returns the number of the call, from 1; see ScrapeConfigUpdate::checks
    std::uint64_t check();
    /// Stops; idempotent, prompt.
    void cancel() noexcept;

 private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
