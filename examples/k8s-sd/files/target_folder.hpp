#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace bridge {

/// "serviceMonitor/shop/web" becomes "serviceMonitor%2Fshop%2Fweb.json": different names have
/// different files, and none is hidden.
std::string file_name_of(std::string_view name);

/// The name of the job; the inverse of file_name_of(). Empty: it is no such file.
std::string job_name_of(std::string_view file);

/// A folder with files for file_sd_configs. A reader sees a file whole, or as it was before.
/// What is not to be seen is in the folder .k8s-sd in it: on the same file system, so that a rename
/// replaces a file at once, and out of what Prometheus watches and globs match. There is also an
/// empty file for each file that was written, so that after a restart it is known which are ours.
/// Blocks; not thread-safe.
class TargetFolder {
 public:
    /// Makes the folder if it is missing; the one above it must be there.
    /// \throws support::Unusable if it is none, cannot be written to, or another process does
    explicit TargetFolder(std::filesystem::path);
    ~TargetFolder();
    TargetFolder(const TargetFolder&) = delete;
    TargetFolder& operator=(const TargetFolder&) = delete;

    /// \param file  its name
    /// \returns false if these are its bytes already \throws std::system_error
    bool write(const std::string& file, std::string_view bytes) const;
    /// Which file it is, and when it was changed last, by whomever; all 0: there is none.
    struct State {
        std::uint64_t number = 0;
        std::int64_t seconds = 0, nanoseconds = 0;
        bool operator==(const State&) const = default;
    };
    State state(const std::string& file) const;
    /// If it was written here, in this run or an earlier one. \throws std::system_error
    void remove(const std::string& file) const;
    /// The files that were written here, in this run or an earlier one.
    std::set<std::string> written() const;

 private:
    std::filesystem::path folder_;
    std::filesystem::path hidden_;
    int lock_ = -1;
};

}  // namespace bridge
