#pragma once

#include "k8s_sd/target_configs.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
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

}  // namespace k8s_sd::inline v0::detail
