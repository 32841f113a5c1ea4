#pragma once

#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A label name with static storage: only string literals convert.
struct LiteralName {
    std::string_view text;
    template <std::size_t N>
    consteval LiteralName(const char (&literal)[N]) : text(literal, N - 1) {}
};

/// Replaces every code point outside [a-zA-Z0-9_] by one '_' (Prometheus' rule for label names).
inline void append_sanitized(std::string& out, std::string_view key) {
    for (const char c : key) {
        const bool utf8_continuation = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
        if (is_word(c)) {
            out += c;
        } else if (!utf8_continuation) {
            out += '_';
        }
    }
}

/// Names of a family of labels made from a map's keys, e.g. `__meta_kubernetes_pod_label_`, and
/// `__meta_kubernetes_pod_labelpresent_` for the sibling, to distinguish an empty value from an
/// absent one. No sibling if that prefix is empty.
struct FamilyName {
    LiteralName prefix;
    LiteralName present_prefix;
};

/// The names of a LabelBlock. Objects of one deployment, mostly of one kind, have the same names,
/// so their blocks share a shape.
class LabelShape final : public boost::intrusive_ref_counter<LabelShape> {
 public:
    /// `name` is empty if a later key has the same name: the value is not a label then. `present`,
    /// if not empty, is a second label with the value "true".
    struct ShapeEntry {
        std::string_view name;
        std::string_view present;
    };

    explicit LabelShape(std::span<const std::string_view> literals) {
        entries_.reserve(literals.size());
        for (const std::string_view name : literals) entries_.push_back({name, {}});
        count_ = entries_.size();
    }

    /// Names to be copied into the shape.
    struct OwnNames {
        std::span<const std::string_view> names;
    };
    explicit LabelShape(OwnNames own) {
        for (const std::string_view name : own.names) text_ += name;
        std::size_t offset = 0;
        for (const std::string_view name : own.names) {
            entries_.push_back({std::string_view(text_).substr(offset, name.size()), {}});
            offset += name.size();
        }
        count_ = entries_.size();
    }

    /// Entries of another shape; the new shape copies their texts.
    struct OwnEntries {
        std::span<const ShapeEntry> entries;
    };
    explicit LabelShape(OwnEntries own) {
        for (const ShapeEntry& entry : own.entries) (text_ += entry.name) += entry.present;
        std::size_t offset = 0;
        const auto next = [&](std::string_view text) {
            const std::string_view kept = std::string_view(text_).substr(offset, text.size());
            offset += text.size();
            return kept;
        };
        for (const ShapeEntry& entry : own.entries) {
            const std::string_view name = next(entry.name);
            entries_.push_back({name, next(entry.present)});
            if (!entry.name.empty()) count_ += entry.present.empty() ? 1U : 2U;
        }
    }

    /// \param keys  sorted; of several keys with the same name the greatest wins
    LabelShape(FamilyName family, std::span<const std::string_view> keys) {
        std::vector<std::pair<std::size_t, std::size_t>> offsets;  // of name and present
        for (const std::string_view key : keys) {
            const std::size_t name = append(family.prefix, key);
            offsets.emplace_back(name, append(family.present_prefix, key));
        }
        offsets.emplace_back(text_.size(), 0);
        const std::string_view all = text_;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto [name, present] = offsets[i];
            entries_.push_back({all.substr(name, present - name),
                                all.substr(present, offsets[i + 1].first - present)});
        }
        hide_collisions();
    }

    std::span<const ShapeEntry> entries() const noexcept { return entries_; }
    /// The bytes of names other than literals.
    std::size_t text_size() const noexcept { return text_.size(); }
    /// Number of labels, siblings included.
    std::size_t label_count() const noexcept { return count_; }

    friend bool operator==(const LabelShape& a, const LabelShape& b) noexcept {
        if (&a == &b) return true;
        if (a.entries_.size() != b.entries_.size()) return false;
        for (std::size_t i = 0; i < a.entries_.size(); ++i) {
            if (a.entries_[i].name != b.entries_[i].name ||
                a.entries_[i].present != b.entries_[i].present) {
                return false;
            }
        }
        return true;
    }

 private:
    std::size_t append(LiteralName prefix, std::string_view key) {
        const std::size_t offset = text_.size();
        if (prefix.text.empty()) return offset;
        text_ += prefix.text;
        append_sanitized(text_, key);
        return offset;
    }

    void hide_collisions() {
        boost::unordered_flat_set<std::string_view, SeededHash> later;
        for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
            if (!later.insert(entry->name).second) {
                *entry = {};
            } else {
                count_ += entry->present.empty() ? 1U : 2U;
            }
        }
    }

    std::string text_;  // storage of names other than literals
    std::vector<ShapeEntry> entries_;
    std::size_t count_ = 0;
};

using LabelShapePtr = boost::intrusive_ptr<const LabelShape>;

/// The address to scrape.
inline constexpr LiteralName address_name{"__address__"};

}  // namespace k8s_sd::inline v0::detail
