#pragma once

#include "files/retry_delays.hpp"
#include "files/target_folder.hpp"
#include "jobs/file_metrics.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace k8s_sd_program {

/// A file of a folder, with the pace of its writes. Blocks; not thread-safe.
class FolderFile {
 public:
    using Complain = std::function<void(const std::string&)>;

    /// \param folder, metrics  outlive it
    /// \param name             of the job or list
    FolderFile(const TargetFolder& folder, std::string name, Complain complain,
               FileMetrics& metrics);

    /// Reports a failure, once.
    /// \returns the delay before the next write
    std::chrono::milliseconds write(std::string_view bytes);
    /// Whether the last write() succeeded.
    bool good() const noexcept { return good_; }
    /// The problem of the last write(), in words; empty on success.
    const std::string& problem() const noexcept { return problem_; }
    /// Whether the file is unchanged since then.
    bool intact() const { return folder_.state(file_) == state_; }

 private:
    const TargetFolder& folder_;
    const std::string name_;
    const std::string file_;
    const Complain complain_;
    FileMetrics& metrics_;
    RetryDelays backoff_;
    std::string problem_;
    bool good_ = false;
    TargetFolder::State state_{};  ///< after the last successful write()
};

}  // namespace k8s_sd_program
