#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The common part of many label sets: the names, and some of the values.
class LabelTemplate {
 public:
    struct TemplateEntry {
        std::string_view name;
        std::string_view value;  ///< null data: each label set has its own
        /// The value equals an earlier own value; the number counts from 1.
        std::uint32_t repeats = 0;
        bool shared() const noexcept { return value.data() != nullptr; }
        bool own() const noexcept { return !shared() && repeats == 0; }
    };

    /// \param entries  sorted by name; copied with their text
    LabelTemplate(std::size_t hash, std::span<const TemplateEntry> entries)
        : hash_(hash), entries_(entries.begin(), entries.end()) {
        std::size_t size = 0;
        for (const TemplateEntry& entry : entries) size += entry.name.size() + entry.value.size();
        text_ = std::make_unique<char[]>(size);
        char* next = text_.get();
        const auto move_in = [&](std::string_view& view) {
            if (!view.empty()) std::memcpy(next, view.data(), view.size());
            view = {next, view.size()};
            next += view.size();
        };
        for (TemplateEntry& entry : entries_) {
            move_in(entry.name);
            if (entry.shared()) move_in(entry.value);
        }
    }

    std::span<const TemplateEntry> entries() const noexcept { return entries_; }
    /// Of the entries.
    std::size_t hash() const noexcept { return hash_; }

 private:
    const std::size_t hash_;
    std::vector<TemplateEntry> entries_;
    std::unique_ptr<char[]> text_;
};

}  // namespace k8s_sd::inline v0::detail
