#pragma once

#include "k8s_sd/error.hpp"

#include <string>
#include <string_view>

namespace bridge {

/// How to mend what fails, in words; never empty where there is an error.
/// \param message  of the library; its last part says it where the error has a usual remedy
std::string remedy_for(const k8s_sd::error_code& error, std::string_view message);

}  // namespace bridge
