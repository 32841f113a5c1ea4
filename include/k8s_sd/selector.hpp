#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// A label selector in the text form of the API: "app=web,tier in (a,b),!canary". The grammar and
/// the checks of keys and values are those of the Kubernetes API server (labels.Parse), including
/// the integer comparisons `a>1` and `a<9`. An empty text selects everything.
/// Immutable after parse(); const members may be called from any thread.
class K8S_SD_EXPORT LabelSelector {
 public:
    /// How a requirement compares the value.
    enum class Operator : std::uint8_t { in, not_in, exists, does_not_exist, greater, less };
    /// One condition; all conditions must hold.
    struct Requirement {
        std::string key;                  ///< name of the label
        Operator op = Operator::exists;   ///< the comparison
        std::vector<std::string> values;  ///< sorted, unique; "a=b" is "a in (b)"
        bool operator==(const Requirement&) const = default;
    };

    /// \throws ConfigError with the problem "... at character N: ..." (N counts bytes from 1)
    static LabelSelector parse(std::string_view text);

    /// Whether it selects everything.
    bool empty() const noexcept { return requirements_.empty(); }
    /// The requirements in the order of the text.
    const std::vector<Requirement>& requirements() const noexcept { return requirements_; }

    /// \param get  get(std::string_view key) -> std::optional<std::string_view>, nullopt if the
    ///             object lacks the label. `!=` and `notin` match such objects.
    template <class Get>
    bool matches(Get&& get) const {
        return std::all_of(requirements_.begin(), requirements_.end(),
                           [&](const Requirement& r) { return satisfies(r, get(r.key)); });
    }

    bool operator==(const LabelSelector&) const = default;

 private:
    static bool satisfies(const Requirement& r, std::optional<std::string_view> label) {
        switch (r.op) {
            case Operator::exists: return label.has_value();
            case Operator::does_not_exist: return !label;
            case Operator::in: return label && contains(r.values, *label);
            case Operator::not_in: return !label || !contains(r.values, *label);
            case Operator::greater:
            case Operator::less: return label && compares(r, *label);
        }
        return false;
    }
    static bool contains(const std::vector<std::string>& values, std::string_view label) {
        return std::binary_search(values.begin(), values.end(), label);
    }
    static std::optional<std::int64_t> integer(std::string_view text) {
        std::int64_t number = 0;
        const char* end = text.data() + text.size();
        const auto [last, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc{} || last != end) return std::nullopt;
        return number;
    }
    static bool compares(const Requirement& r, std::string_view label) {
        const auto left = integer(label);
        const auto right = integer(r.values.front());
        if (!left || !right) return false;
        return r.op == Operator::greater ? *left > *right : *left < *right;
    }

    std::vector<Requirement> requirements_;
};

/// A field selector: "spec.nodeName=node-1,status.phase!=Running". In a value, backslash escapes
/// `\`, `,` and `=`. The valid paths depend on the kind; the server checks them.
/// Immutable after parse(); const members may be called from any thread.
class K8S_SD_EXPORT FieldSelector {
 public:
    /// One condition; all conditions must hold.
    struct Requirement {
        std::string path;   ///< such as "spec.nodeName"
        std::string value;  ///< without escapes
        bool equal = true;  ///< false: the path must not have the value
        bool operator==(const Requirement&) const = default;
    };

    /// \throws ConfigError with the problem "... at character N: ..." (N counts bytes from 1)
    static FieldSelector parse(std::string_view text);

    /// Whether it selects everything.
    bool empty() const noexcept { return requirements_.empty(); }
    /// The requirements in the order of the text.
    const std::vector<Requirement>& requirements() const noexcept { return requirements_; }

    /// \param get  get(std::string_view path) -> std::optional<std::string_view>. A missing field
    ///             has the value "", as in the API server.
    template <class Get>
    bool matches(Get&& get) const {
        return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& r) {
            const std::optional<std::string_view> value = get(r.path);
            return (value.value_or(std::string_view()) == r.value) == r.equal;
        });
    }

    bool operator==(const FieldSelector&) const = default;

 private:
    std::vector<Requirement> requirements_;
};

}  // namespace k8s_sd::inline v0
