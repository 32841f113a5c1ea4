#pragma once

#include "k8s_sd/detail/config/yaml/yaml_value.hpp"

#include <filesystem>
#include <map>
#include <string>

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

}  // namespace k8s_sd::inline v0::detail
