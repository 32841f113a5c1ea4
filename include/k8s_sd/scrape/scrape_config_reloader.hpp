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

/// The content of a file, or the reason it is unusable.
struct ScrapeConfigUpdate {
    /// nullopt: see `error`; a host keeps its previous configuration.
    std::optional<ScrapeConfigFile> config{};
    std::optional<ScrapeConfigError> error{};  ///< set if `config` is not
    /// Number of calls of ScrapeConfigReloader::check() before this read. Each later call causes
    /// another update.
    std::uint64_t checks = 0;
    /// Names of jobs no longer in the file, sorted. With `config` they are removed, confirmed by a
    /// second read of the same bytes. With `error` the host keeps them until a later update.
    std::vector<std::string> removed{};
};

/// Follows a configuration file: reads it at once and checks for new content every
/// `check_interval`. It compares contents, so it detects changes of mounted ConfigMaps and replaced
/// files.
///
/// \par Confirmation
/// A half-written file may happen to be valid, with fewer jobs or with parts of them. So an update
/// with removed jobs, or with changes to the discovery or relabelling of known ones, is delivered
/// only after a second read with the same bytes: after `check_interval`, or one second after
/// check(). Updates with added jobs only are delivered at once. Unconfirmed removals are delivered
/// as an error with their names. A file without a list of jobs (ScrapeConfigFile::lists_jobs) is an
/// error once there were jobs; `scrape_configs: []` removes them.
///
/// \par Callback
/// `void(const ScrapeConfigUpdate&)`, called on the executor given at construction, as if by post,
/// never concurrently with itself: once after start(), then whenever the content has changed or
/// has become unreadable. The content is that of the file and of its `scrape_config_files`.
///
/// \par Parsing
/// Reading and parsing take a few hundredths of a second for a megabyte. They never run on the
/// executor of the callback unless it is also passed as `parser`. Without a parser executor they
/// run where the environment reads files: by default on a thread of the library, which exists only
/// while there is something to read. At most one read is in progress; after 10 s its delay is
/// reported as an error, and its result is delivered when it ends. ScrapeConfigOptions::variables
/// is called there too: it must be thread-safe.
///
/// \par Object lifetimes
/// The object is a handle; destroying it cancels, and is allowed at any time, also in the
/// callback. It must be destroyed before its execution context. After cancel() has returned, at
/// most one call already begun is still running, and one read of the files, not waited for. This
/// read may still call ScrapeConfigOptions::variables, so the function must not refer to destroyed
/// objects: capture by value.
///
/// \par Thread safety
/// expect_jobs(), start(), check() and cancel() may be called from any thread.
class K8S_SD_EXPORT ScrapeConfigReloader {
 public:
    /// See Callback above. Must not be empty.
    using Callback = std::function<void(const ScrapeConfigUpdate&)>;

    /// \param check_interval  0: only check() reads
    /// \param parser  executor for reading and parsing, for example a thread pool of the host, with
    ///                threads it may block; empty: see above
    /// \throws ConfigError for an empty executor or callback
    ScrapeConfigReloader(const asio::any_io_executor&, std::string path, ScrapeConfigOptions,
                         Duration check_interval, Callback,
                         const asio::any_io_executor& parser = {});
    ScrapeConfigReloader(ScrapeConfigReloader&&) noexcept = default;
    ScrapeConfigReloader& operator=(ScrapeConfigReloader&&) noexcept;
    ~ScrapeConfigReloader();

    /// Sets the names of jobs known to the host before the start, for example from before a
    /// restart. If there are any, the first update needs confirmation too. Call it before start().
    void expect_jobs(std::set<std::string> names);
    /// Reads the file for the first time; further calls do nothing.
    void start();
    /// Reads the files now, for example on SIGHUP, and delivers the content even if unchanged:
    /// other files named in it may have changed. Does nothing before start().
    /// \returns the number of the call, from 1; see ScrapeConfigUpdate::checks
    std::uint64_t check();
    /// Stops the reloader; idempotent, prompt.
    void cancel() noexcept;

 private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
