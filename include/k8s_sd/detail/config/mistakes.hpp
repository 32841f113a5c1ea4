#pragma once

#include "k8s_sd/detail/config/yaml_value.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Collects what is wrong with a configuration, so that all of it can be told in one go.
class Mistakes {
 public:
    /// Calls `read` and keeps the ConfigError that it throws.
    /// \returns whether it threw none
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
    /// Those beyond the first few only count: the same one can be there very often.
    void add(ConfigError error) {
        ++count_;
        if (list_.size() < most_told) list_.push_back(std::move(error));
    }
    /// As YamlValue::allow_only(), for every key that is not allowed.
    /// \throws ConfigError if it is no mapping
    void allow_only(const YamlValue& mapping, std::span<const std::string_view> keys) {
        for (const auto& [key, value] : mapping.entries()) {
            if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
            if (list_.size() == most_told) {
                ++count_;
                continue;
            }
            attempt([&, &name = key, &at = value] { at.fail_unknown_key(name, keys, keys); });
        }
    }

    bool none() const { return count_ == 0; }
    std::size_t count() const { return count_; }
    /// Not more than the first hundred.
    const std::vector<ConfigError>& list() const { return list_; }
    /// The error is the first mistake; its text has the others behind it, each on a line.
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
    static constexpr std::size_t most_told = 100;

    std::vector<ConfigError> list_;
    std::size_t count_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
