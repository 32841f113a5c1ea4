#pragma once

#include <string_view>

namespace bridge {

/// A file of the folder `page`, embedded at build time.
/// \param name  "index.html", "app.js" or "app.css"
std::string_view page_file(std::string_view name) noexcept;

}  // namespace bridge
