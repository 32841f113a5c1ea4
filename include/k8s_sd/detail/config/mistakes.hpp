#pragma once

#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Fills the fields of a configuration and records their places in a file, so that errors of
/// validate() can name file, line and key.
class FieldPlaces {
 public:
    /// \param directory  the base of relative paths
    explicit FieldPlaces(std::filesystem::path directory) : directory_(std::move(directory)) {}

    void remember(const std::string& field, const YamlValue& value) {
        if (!value.is_null()) places_.insert_or_assign(field, value.where());
    }
    /// Keeps `target` if the key is missing.
    void text(const YamlValue& value, const std::string& field, std::string& target) {
        if (value.is_null()) return;
        target = value.string();
        remember(field, value);
    }
    void path(const YamlValue& value, const std::string& field, std::string& target) {
        const std::string name = value.string();
        if (name.starts_with("http://") || name.starts_with("https://")) {
            value.fail("reading it from a URL is not supported; name a file");
        }
        if (!name.empty()) target = (directory_ / name).string();
        remember(field, value);
    }

    /// The place of a field or of the nearest enclosing field: "a.b[1].c", "a.b[1]", "a.b", "a".
    std::string locate(std::string field, const YamlValue& otherwise) const {
        while (!field.empty()) {
            const auto found = places_.find(field);
            if (found != places_.end()) return found->second;
            const std::size_t end = field.find_last_of(".[");
            field.resize(end == std::string::npos ? 0 : end);
        }
        return otherwise.where();
    }

 private:
    std::filesystem::path directory_;
    std::map<std::string, std::string> places_;
};

/// Collects the mistakes of a configuration, so that all of them are reported together.
class Mistakes {
 public:
    /// Calls `read` and records the ConfigError it throws.
    /// \returns true if it threw none
    template <class Read>
    bool attempt(Read&& read) {
        try {
            std::forward<Read>(read)();
            return true;
        } catch (const ConfigError& e) {
            add(e);
            return false;
        }
    }
    /// Beyond the first few it only counts, because one mistake can be repeated very often.
    void add(ConfigError error) {
        ++count_;
        if (list_.size() < max_reported) list_.push_back(std::move(error));
    }
    /// Like YamlValue::allow_only(), but records every unknown key.
    /// \throws ConfigError if it is no mapping
    void allow_only(const YamlValue& mapping, std::span<const std::string_view> keys) {
        for (const auto& [key, value] : mapping.entries()) {
            if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
            if (list_.size() == max_reported) {
                ++count_;
                continue;
            }
            attempt([&, &name = key, &at = value] { at.fail_unknown_key(name, keys, keys); });
        }
    }

    bool none() const { return count_ == 0; }
    std::size_t count() const { return count_; }
    /// At most the first hundred.
    const std::vector<ConfigError>& list() const { return list_; }
    /// Throws the first mistake; its text lists the others, one a line.
    void throw_any() const {
        if (list_.empty()) return;
        std::string text = list_.front().problem();
        for (std::size_t i = 1; i < list_.size(); ++i) (text += '\n') += list_[i].what();
        if (count_ > list_.size()) {
            text += "\nand " + std::to_string(count_ - list_.size()) + " more mistakes";
        }
        throw ConfigError(list_.front().where(), text);
    }

 private:
    static constexpr std::size_t max_reported = 100;

    std::vector<ConfigError> list_;
    std::size_t count_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
