#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// Whether it is a whole list of targets as http_sd_configs and file_sd_configs take it: a JSON
/// array of groups, which have nothing but targets and labels, which are strings.
bool is_list(std::string_view json);

/// The same list in bytes that do for files: vmagent puts variables of its environment where a file
/// says %{NAME}.
std::string for_files(std::string list);

}  // namespace bridge
