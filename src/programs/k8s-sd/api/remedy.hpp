#pragma once

#include "k8s_sd/error.hpp"

#include <string>
#include <string_view>

namespace k8s_sd_program {

/// How to fix an error, in words; never empty for an error.
/// \param message  of the library; for errors with a usual remedy, its last part contains it
std::string remedy_for(const k8s_sd::error_code& error, std::string_view message);

}  // namespace k8s_sd_program
