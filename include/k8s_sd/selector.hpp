#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/kind.hpp"

#include <algorithm>
#include <charconv>
#include <compare>
#include <cstddef>
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

/// Hashes from `first` up to `last`, without `last` itself.
struct HashRange {
    std::uint64_t first = 0;  ///< inclusive lower bound
    std::uint64_t last = 0;   ///< exclusive upper bound; 0 means 2^64
    auto operator<=>(const HashRange&) const = default;
};

/// A share of the objects of a kind, selected by ranges of a hash of their uid (FNV-1a, 64 bits).
/// An object never changes its share. Replicas of a program, each with its own share, together have
/// all objects, each of them once. Immutable, compared by value.
class K8S_SD_EXPORT ObjectShare {
 public:
    /// Maximum number of ranges of a share, to keep requests short.
    static constexpr std::size_t max_ranges = 64;

    /// All objects.
    ObjectShare() = default;
    /// Ranges that touch or overlap are merged.
    /// \throws ConfigError without a range, for an empty or reversed range, and for more than
    ///         max_ranges ranges after merging
    explicit ObjectShare(std::vector<HashRange> ranges);
    /// One of `count` shares of equal size; together they have all objects.
    /// \param index  from 0 to count - 1 \throws ConfigError for any other index
    static ObjectShare part(std::uint64_t index, std::uint64_t count);

    /// Whether the share has all objects.
    bool is_all() const noexcept { return ranges_.empty(); }
    /// Whether the object with this metadata.uid is in the share.
    bool contains(std::string_view uid) const noexcept;
    /// The fraction of all hashes in the share, more than 0 and at most 1: about the fraction of
    /// the objects.
    double fraction() const noexcept;
    /// The ranges in order, with a gap between any two. Empty: all objects.
    const std::vector<HashRange>& ranges() const noexcept { return ranges_; }
    /// The parameter shardSelector of the API server (KEP-5866), in the server's own spelling;
    /// empty for all objects.
    std::string selector() const;

    auto operator<=>(const ObjectShare&) const = default;

 private:
    std::vector<HashRange> ranges_;
};

/// The collection to watch; together with the server it determines the URL.
struct WatchQuery {
    Kind kind = Kind::pod;       ///< kind of the objects
    std::string ns;              ///< empty: all namespaces
    std::string label_selector;  ///< empty: no filter
    std::string field_selector;  ///< empty: no filter
    ObjectShare share{};         ///< objects outside the share are dropped if the server sends them
    auto operator<=>(const WatchQuery&) const = default;
};

}  // namespace k8s_sd::inline v0
