#pragma once

#include "lists/list_body.hpp"
#include "lists/listed_target.hpp"
#include "lists/selection.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace bridge {

/// How much one list may cost.
struct ListLimits {
    std::size_t divisions = 8;                      ///< ways to divide it that are in use
    std::size_t views = 10'000;                     ///< selections that are in use
    std::size_t body_bytes = std::size_t{1} << 30;  ///< of these selections
    /// A selection that nobody has asked for in so long is no longer in use.
    std::chrono::steady_clock::duration forget_after = std::chrono::minutes(10);
};

/// More is in use than ListLimits allow; the text says what.
class LimitReached : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// What lists cost since the start. Any thread.
struct ListMetrics {
    std::atomic<std::uint64_t> serialised{0};        ///< targets whose text was made
    std::atomic<std::uint64_t> left_out_labels{0};   ///< of these; see is_listed_name()
    std::atomic<std::uint64_t> bodies{0};            ///< that were joined
    std::atomic<std::uint64_t> body_bytes{0};        ///< of these
    std::atomic<std::uint64_t> body_nanoseconds{0};  ///< that this took
};

/// A list of targets, and the parts of it that readers select. A body is joined when it is asked
/// for, and only if the targets of its parts have changed. Not thread-safe.
class Listing {
 public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// \param metrics  must outlive it
    Listing(const ListLimits& limits, ListMetrics& metrics) : limits_(limits), metrics_(metrics) {}

    /// From now on the key stands for these targets; none: it is forgotten.
    void replace(const std::string& key, std::vector<ListedTarget> targets);
    /// The selected targets: the same object as long as they are the same.
    /// \throws LimitReached
    ListBodyPtr body(const Selection&, TimePoint now);
    /// Forgets the selections that are no longer in use. \returns whether one is left
    bool forget_unused(TimePoint now);

 private:
    using Held = std::unique_ptr<const ListedTarget>;

    struct ByText {
        bool operator()(const ListedTarget* a, const ListedTarget* b) const noexcept {
            const int order = a->text.compare(b->text);
            return order != 0 ? order < 0 : std::less<>()(a, b);
        }
    };
    struct Part {
        std::set<const ListedTarget*, ByText> targets;
        std::size_t bytes = 0;
        std::uint64_t change = 0;  ///< the last one that touched it
    };
    struct Divided {
        Divider divider;
        std::map<std::string, Part> parts;  ///< that are not empty
    };
    struct View {
        std::vector<std::uint64_t> changes;  ///< of the parts, when the body was joined
        ListBodyPtr body;
        TimePoint asked{};

        std::size_t bytes() const noexcept { return body ? body->bytes()->size() : 0; }
    };

    void add(const ListedTarget&);
    void remove(const ListedTarget&);
    void add_to(Divided&, const ListedTarget&) const;
    void admit(const Selection&, TimePoint now);
    void forget_other_collectors(const Division&);
    template <class Predicate>
    void forget_views(Predicate);
    const Divided& divided(const Division&);
    void make_room(const View&, std::size_t bytes, TimePoint now);
    std::string join(const std::vector<const Part*>&, std::size_t bytes) const;

    const ListLimits limits_;
    ListMetrics& metrics_;
    std::map<std::string, std::vector<Held>, std::less<>> targets_;  ///< sorted, by key
    std::map<Division, Divided> divisions_;
    std::map<Selection, View> views_;
    std::uint64_t change_ = 0;
    std::size_t body_bytes_ = 0;  ///< of all views
};

}  // namespace bridge
