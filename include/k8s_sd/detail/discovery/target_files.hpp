#pragma once

#include "k8s_sd/target_configs.hpp"
#include "k8s_sd/target_group_maker.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// What the bytes of a file of targets say.
struct TargetFileContent {
    std::size_t hash = 0;     ///< of the bytes
    std::size_t targets = 0;  ///< in all groups
    std::size_t bytes = 0;    ///< of the texts in them
    /// Why they are no list; empty: they are one. A list may be refused for other reasons.
    std::string mistake;
};

/// What a file of targets was like.
struct TargetFile {
    TargetFileContent content;
    /// None: the bytes are those of the last time, or there is a problem.
    std::optional<std::vector<TargetGroupPtr>> groups;
    std::string problem;      ///< why it cannot be used, with its path; empty: none
    bool over_limit = false;  ///< the problem is a limit of ours
};

/// The files of one configuration, as they are now.
struct FileLook {
    std::map<std::string, TargetFile> files;  ///< by path
    std::vector<std::string> untold;          ///< why there may be more
    std::vector<std::string> missing;         ///< named, and not there
    std::string problem;                      ///< not empty: nobody has looked, and why
};

/// What is known of a file: of its last list, and of bytes since then that are none.
struct KnownTargetFile {
    TargetFileContent list;  ///< hash 0: none
    TargetFileContent bad;   ///< the same
};
using KnownTargetFiles = std::map<std::string, KnownTargetFile>;

/// Looks for the files and reads them; blocks. Nobody else uses the maker meanwhile.
/// \param known  need not be parsed again as long as they are the same; where there are too many
///               files, those that are known come first
FileLook look_at_files(const FileSdConfig&, const KnownTargetFiles& known, TargetGroupMaker&);

}  // namespace k8s_sd::inline v0::detail
