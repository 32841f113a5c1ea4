#pragma once

#include "files/backoff.hpp"
#include "files/target_folder.hpp"
#include "jobs/file_metrics.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace bridge {

/// A file of a folder, and when it may be written next. Blocks; not thread-safe.
class TargetFile {
 public:
    using Complain = std::function<void(const std::string&)>;

    /// \param folder, metrics  outlive it
    TargetFile(const TargetFolder& folder, std::string file, Complain complain,
               FileMetrics& metrics);

    /// Says what is wrong, once, if it cannot be done.
    /// \returns how long to wait before the file is written again
    std::chrono::milliseconds write(std::string_view bytes);
    /// Whether the last write() did it.
    bool good() const noexcept { return good_; }
    /// Why it did not, in words; else empty.
    const std::string& problem() const noexcept { return problem_; }
    /// Whether nobody else has changed or removed the file since.
    bool intact() const { return folder_.state(file_) == state_; }

 private:
    const TargetFolder& folder_;
    const std::string file_;
    const Complain complain_;
    FileMetrics& metrics_;
    Backoff backoff_;
    std::string problem_;
    bool good_ = false;
    TargetFolder::State state_{};  ///< after the last good write()
};

}  // namespace bridge
