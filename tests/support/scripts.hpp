#pragma once

#include "support/config_fixtures.hpp"

#include <sys/stat.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace k8s_sd::test {

/// Programs in a temporary directory.
class Scripts : public TemporaryDirectory {
 public:
    /// Writes a shell script; returns its path.
    std::string script(const std::string& text, const std::string& name = "plugin") const {
        const std::string file = write(name, "#!/bin/sh\n" + text + "\n");
        ::chmod(file.c_str(), 0700);
        return file;
    }
    std::string read(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

/// The open descriptors of this process.
inline std::set<std::string> open_descriptors() {
    std::set<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const auto target = std::filesystem::read_symlink(entry, gone);
        if (!gone && !target.string().starts_with("/proc/")) {
            result.insert(entry.path().filename().string() + " " + target.string());
        }
    }
    return result;
}

/// Whether a process with this number exists and is not a zombie.
inline bool is_running(const std::string& number) {
    std::ifstream file("/proc/" + number + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::size_t end = text.rfind(')');
    return end != std::string::npos && text.size() > end + 2 && text[end + 2] != 'Z';
}

}  // namespace k8s_sd::test
