#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace k8s_sd_program {

/// "serviceMonitor/shop/web" becomes "serviceMonitor%2Fshop%2Fweb.json": different names map to
/// different files, none of them hidden. A name too long for a file ends in its hash.
std::string file_name_of(std::string_view name);

/// The name of the job; the inverse of file_name_of(). Empty: the file belongs to no job, or has a
/// hash in its name; see TargetFolder::job_of().
std::string job_name_of(std::string_view file);

/// A folder with files for file_sd_configs. Files are replaced atomically. Drafts are in its
/// subfolder .k8s-sd: on the same file system, so that a rename is atomic, and outside Prometheus'
/// watches and globs. The subfolder also contains a mark for each file written, to identify the
/// program's own files after a restart: a file of the same name, empty or with the name of the job.
/// Blocks; not thread-safe.
class TargetFolder {
 public:
    /// Creates the folder if it does not exist; its parent must exist.
    /// \throws cli::Unusable if it is not a folder, not writable, or used by another process
    explicit TargetFolder(std::filesystem::path);
    ~TargetFolder();
    TargetFolder(const TargetFolder&) = delete;
    TargetFolder& operator=(const TargetFolder&) = delete;

    /// \param file  its name
    /// \param job   kept for job_of() if the file does not have the whole name
    /// \returns false if the content is unchanged \throws std::system_error
    bool write(const std::string& file, std::string_view bytes, std::string_view job = {}) const;
    /// The identity of a file and its last change, by any program; all 0: there is no file.
    struct State {
        std::uint64_t number = 0;
        std::int64_t seconds = 0, nanoseconds = 0;
        bool operator==(const State&) const = default;
    };
    State state(const std::string& file) const;
    /// Removes a file written here, in this run or an earlier one. \throws std::system_error
    void remove(const std::string& file) const;
    /// The files written here, in this run or an earlier one.
    std::set<std::string> written() const;
    /// The name of the job of a file written here, in this run or an earlier one; empty: unknown.
    std::string job_of(const std::string& file) const;

 private:
    void mark(const std::string& file, std::string_view job) const;

    std::filesystem::path folder_;
    std::filesystem::path hidden_;
    int lock_ = -1;
};

}  // namespace k8s_sd_program
