#pragma once

#include "k8s_sd/detail/async/late_answers.hpp"
#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/discovery/sources/source_state.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_configs.hpp"
#include "k8s_sd/target_group.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The content of a target file.
struct TargetFileContent {
    std::size_t hash = 0;     ///< of the bytes
    std::size_t targets = 0;  ///< in all groups
    std::size_t bytes = 0;    ///< of the texts in them
    /// Why the bytes are not a list; empty: they are. A list may be refused for other reasons.
    std::string mistake;
};

/// The state of a target file.
struct TargetFile {
    TargetFileContent content;
    /// nullopt: the bytes have not changed, or there is a problem.
    std::optional<std::vector<TargetGroupPtr>> groups;
    std::string problem;      ///< why it cannot be used, with its path; empty: none
    bool over_limit = false;  ///< the problem is a limit of ours
};

/// The result of scanning the files of one configuration.
struct FileScan {
    std::map<std::string, TargetFile> files;  ///< by path
    std::vector<std::string> omissions;       ///< why files may be missing in the result
    std::vector<std::string> missing;         ///< named in the configuration, but not found
    std::string problem;                      ///< why no scan took place; empty: it did
};

/// The last content of a file with a list, and later content without one.
struct KnownTargetFile {
    TargetFileContent list;  ///< hash 0: none
    TargetFileContent bad;   ///< the same
};
using KnownTargetFiles = std::map<std::string, KnownTargetFile>;

/// Finds and reads the files; blocks. The maker must not be used elsewhere meanwhile.
/// \param known  the contents of the last scan: unchanged files are not parsed again; if there are
///               too many files, known ones come first
FileScan scan_files(const FileSdConfig&, const KnownTargetFiles& known, TargetGroupMaker&);

/// Reads target files periodically, and publishes their targets to a source. At most one scan runs
/// at a time, even if it hangs. Used on a strand; files are read in other threads.
class FileTargets final : public SourceDriver, public std::enable_shared_from_this<FileTargets> {
 public:
    FileTargets(asio::any_io_executor strand, const Environment&, FileSdConfig,
                std::shared_ptr<SourceState>);

    void start() override;
    void stop() noexcept override;

 private:
    struct Known {
        KnownTargetFile file;
        std::vector<TargetGroupPtr> groups;  ///< from its list
    };
    using KnownFiles = std::map<std::string, Known>;
    using FileScanPtr = std::shared_ptr<const FileScan>;

    void scan();
    void ask();
    void scan_later();
    void on_hanging();
    void fail(const std::string& problem);
    void on_scan(const FileScan&);
    KnownFiles merge(const FileScan&) const;
    /// Path and hash of each list.
    static std::vector<std::pair<std::string_view, std::size_t>> lists_of(const KnownFiles&);
    void report(const std::string& problem, bool nothing_known);
    KnownTargetFiles known() const;

    const asio::any_io_executor strand_;
    const std::shared_ptr<Clock> clock_;
    Reminder end_post_{clock_};
    const std::shared_ptr<FileCalls> calls_;
    const std::shared_ptr<Metrics> metrics_;
    const FileSdConfig config_;
    const std::shared_ptr<SourceState> source_;
    const std::shared_ptr<TargetGroupMaker> maker_;
    std::unique_ptr<Timer> timer_;
    LateAnswers::PendingAnswer pending_answer_;
    KnownFiles files_;
    bool listed_ = false;
    bool is_news_ = false;  ///< files_ has other lists than the source
};

}  // namespace k8s_sd::inline v0::detail
