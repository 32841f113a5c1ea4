#pragma once

#include <string_view>

namespace k8s_sd_program {

/// A file of the folder `page`, embedded at build time.
/// \param name  "index.html", "app.js" or "app.css"
std::string_view page_file(std::string_view name) noexcept;

}  // namespace k8s_sd_program
