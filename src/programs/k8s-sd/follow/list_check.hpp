#pragma once

#include <string>
#include <string_view>

namespace k8s_sd_program {

/// Whether the text is a complete target list for http_sd_configs and file_sd_configs: a JSON array
/// of groups with only targets and labels, all of them strings.
bool is_list(std::string_view json);

/// Escapes the list for files: vmagent expands %{NAME} in a file to a variable of its environment.
std::string for_files(std::string list);

}  // namespace k8s_sd_program
