#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/error.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t max_config_file_bytes = std::size_t{4} << 20;

}  // namespace

bool is_file(const std::string& path) noexcept {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
}

std::string read_config_file(const std::string& path, const std::string& where) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        throw ConfigError(where, "cannot read " + printable(path) + ": it is a directory");
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        // The C++ library does not say why; errno is what open() left.
        throw ConfigError(where, "cannot read " + printable(path) + ": " + std::strerror(errno));
    }
    std::string content;
    char chunk[8192];
    while (file.read(chunk, sizeof chunk) || file.gcount() > 0) {
        content.append(chunk, static_cast<std::size_t>(file.gcount()));
        if (content.size() > max_config_file_bytes) {
            throw ConfigError(where, printable(path) + " is larger than 4 MiB");
        }
    }
    if (file.bad()) throw ConfigError(where, "cannot read " + printable(path));
    return content;
}

}  // namespace k8s_sd::inline v0::detail
