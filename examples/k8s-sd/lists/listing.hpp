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
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace bridge {

/// How much one list may cost, and all of them.
struct ListLimits {
    std::size_t contents = 8;  ///< choices of `__meta_*` labels that are in use, of a job
    /// Where there is no room for another choice, one makes room that nobody has asked for in so
    /// long: two and a half intervals of a usual reader.
    std::chrono::steady_clock::duration choice_idle = std::chrono::seconds(150);
    /// The same for one that was asked for once only: the reader has restarted with another one.
    std::chrono::steady_clock::duration choice_idle_once = std::chrono::seconds(90);
    std::size_t divisions = 8;                      ///< ways to divide it that are in use
    std::size_t views = 10'000;                     ///< selections that are in use
    std::size_t body_bytes = std::size_t{1} << 30;  ///< of these selections
    /// Of all lists, and of older ones that readers are still being sent, see HeldBytes.
    std::size_t held_bytes = std::size_t{4} << 30;
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
    /// Those that are held now. Readers may have them for longer than the program counts.
    const HeldBytes held = std::make_shared<std::atomic<std::size_t>>(0);
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
    /// The selected targets: the same object as long as they are the same. Selections without a
    /// target, of which anybody can think up any number, share one.
    /// \throws LimitReached
    ListBodyPtr body(const Selection&, TimePoint now);
    /// How many targets are selected.
    /// \throws LimitReached
    std::size_t count(const Selection&, TimePoint now);
    /// The tag of that body, if it can be told without making it: empty where the targets have
    /// changed since somebody asked, nullopt where the selection is not in use.
    std::optional<std::string> known_tag(const Selection&) const;
    /// Whether a target is on the node of the selection, where it names one: of a selection that
    /// body() was called for.
    bool has_node(const Selection&) const;
    /// Forgets the selections that are no longer in use. \returns whether the list is in use
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
        std::map<std::string, Part> parts{};  ///< that are not empty
        TimePoint asked{};
    };
    static std::vector<std::uint64_t> changes_of(const Divided&, const Selection&);
    struct View {
        std::vector<std::uint64_t> changes;  ///< of the parts, when the body was joined
        ListBodyPtr body;
        TimePoint asked{};

        std::size_t bytes() const noexcept { return body ? body->bytes()->size() : 0; }
    };

    void add(const ListedTarget&);
    void remove(const ListedTarget&);
    void add_to(Divided&, const ListedTarget&) const;
    void forget_other_collectors(const Division&);
    template <class Predicate>
    void forget(Predicate);
    void sweep(TimePoint now);
    void admit(const Division&, TimePoint now);
    const Divided& divided(const Division&, TimePoint now);
    View& view(const Selection&, TimePoint now);
    const ListBodyPtr& empty_body();
    void update(View&, const std::vector<const Part*>&, TimePoint now);
    void make_room(View&, std::size_t bytes, TimePoint now);
    void set_body(View&, ListBodyPtr);
    std::string join(const std::vector<const Part*>&, std::size_t bytes) const;

    const ListLimits limits_;
    ListMetrics& metrics_;
    std::map<std::string, std::vector<Held>, std::less<>> targets_;  ///< sorted, by key
    std::map<Division, Divided> divisions_;
    std::map<Selection, View> views_;
    std::uint64_t change_ = 0;
    std::size_t body_bytes_ = 0;  ///< of all views
    ListBodyPtr empty_;           ///< null: nobody has asked for one
    TimePoint next_sweep_ = TimePoint::min();
};

}  // namespace bridge
