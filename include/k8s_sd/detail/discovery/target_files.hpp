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

/// What a file of targets was like.
struct TargetFile {
    std::size_t pattern = 0;  ///< which of FileSdConfig::files it is of
    std::size_t hash = 0;     ///< of its bytes
    /// None: the bytes are those of the last time, or there is a problem.
    std::optional<std::vector<TargetGroupPtr>> groups;
    std::string problem;  ///< why it cannot be used, with its path; empty: none
};

/// The files of one configuration, as they are now.
struct FileLook {
    std::map<std::string, TargetFile> files;      ///< by path
    std::map<std::size_t, std::string> patterns;  ///< those that could not be looked for, and why
    std::vector<std::string> missing;             ///< named, and not there
    std::string problem;                          ///< not empty: nobody has looked, and why
};

using FileHashes = std::map<std::string, std::size_t>;

/// Looks for the files and reads them; blocks. Nobody else uses the maker meanwhile.
/// \param known  of files that need not be parsed again as long as they are the same
FileLook look_at_files(const FileSdConfig&, const FileHashes& known, TargetGroupMaker&);

}  // namespace k8s_sd::inline v0::detail
