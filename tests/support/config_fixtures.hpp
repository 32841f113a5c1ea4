#pragma once

#include "k8s_sd/error.hpp"

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

namespace k8s_sd::test {

/// A temporary directory, removed with its content.
class TemporaryDirectory {
 public:
    TemporaryDirectory() {
        std::string name = (std::filesystem::temp_directory_path() / "k8s_sd-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    std::string path() const { return path_.string(); }
    std::string path(const std::string& name) const { return (path_ / name).string(); }
    /// Writes a file, creating its directories, and returns its path.
    std::string write(const std::string& name, const std::string& content) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << content;
        return path(name);
    }

 private:
    std::filesystem::path path_;
};

/// Sets (or with nullopt removes) an environment variable and restores it.
class ScopedVariable {
 public:
    ScopedVariable(const char* name, const std::optional<std::string>& value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        set(value);
    }
    ~ScopedVariable() { set(old_); }
    ScopedVariable(const ScopedVariable&) = delete;
    ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
    void set(const std::optional<std::string>& value) {
        if (value) {
            setenv(name_, value->c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }

    const char* name_;
    std::optional<std::string> old_;
};

/// The text of the ConfigError thrown by `action`, "" without one.
template <class Action>
std::string config_error(Action&& action) {
    try {
        action();
    } catch (const ConfigError& e) {
        return e.what();
    }
    return {};
}

}  // namespace k8s_sd::test
