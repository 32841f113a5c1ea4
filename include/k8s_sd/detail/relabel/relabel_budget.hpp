#pragma once

#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// A rule exceeds a limit; the text does not name the rule.
class RelabelLimitReached : public std::length_error {
 public:
    using std::length_error::length_error;
};

/// Counts the resources for one label set. Not thread-safe. Functions throw RelabelLimitReached, if
/// possible before the allocation.
class RelabelBudget {
 public:
    /// \param limits  must outlive this object
    explicit RelabelBudget(const RelabelLimits& limits) : limits_(limits) {}

    /// Call before a text is created with, or grows to, this size.
    void grow(std::size_t bytes) const {
        if (bytes > limits_.text_bytes) [[unlikely]]
            fail_text();
    }
    /// Counts a new text.
    void make(std::size_t bytes) {
        made_ += bytes;
        if (made_ > limits_.made_bytes) [[unlikely]]
            fail_made();
    }
    /// Sets a label of the counted set.
    void set(MutableLabels& labels, std::string_view name, std::string_view value) {
        make(sizeof(MutableLabels::Label) + name.size() + value.size());
        labels.set(name, value);
    }
    /// Call before matching texts against a pattern.
    /// \param count  number of texts
    void charge_match(const Pattern& pattern, std::size_t bytes, std::size_t count = 1) {
        steps_ += std::uint64_t{pattern.instructions()} * (bytes + count * bytes_per_match);
        if (steps_ > limits_.regex_steps) [[unlikely]]
            fail_steps();
    }

 private:
    /// Fixed cost per text.
    static constexpr std::size_t bytes_per_match = 16;

    [[noreturn]] void fail_steps() const {
        throw RelabelLimitReached("the regular expressions need more than " +
                                  std::to_string(limits_.regex_steps) +
                                  " steps for this label set, which is the limit");
    }
    [[noreturn]] void fail_text() const {
        throw RelabelLimitReached("a text would be longer than " +
                                  std::to_string(limits_.text_bytes) +
                                  " bytes, which is the limit of what a rule may make");
    }
    [[noreturn]] void fail_made() const {
        throw RelabelLimitReached("the rules make more than " + std::to_string(limits_.made_bytes) +
                                  " bytes of this label set, which is the limit");
    }

    const RelabelLimits& limits_;
    std::size_t made_ = 0;
    std::uint64_t steps_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
