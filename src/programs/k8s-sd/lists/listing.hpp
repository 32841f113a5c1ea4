#pragma once

#include "lists/list_body.hpp"
#include "lists/list_selection.hpp"
#include "lists/listed_target.hpp"

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

namespace k8s_sd_program {

/// Limits of one list, and of all lists.
struct ListLimits {
    std::size_t contents = 8;  ///< choices of `__meta_*` labels in use, for each job
    /// If there is no room for another choice, it replaces one not requested for so long: two and
    /// a half intervals of a usual reader.
    std::chrono::steady_clock::duration choice_idle = std::chrono::seconds(150);
    /// The same for a choice requested only once: its reader has restarted with another one.
    std::chrono::steady_clock::duration choice_idle_once = std::chrono::seconds(90);
    std::size_t divisions = 8;  ///< divisions of the list in use
    /// Shards times targets of a division: each shard is weighed for each target, which takes up to
    /// a quarter of a second, and a target of every shard is stored that many times.
    std::size_t division_cost = 100'000'000;
    std::size_t views = 10'000;                     ///< selections in use
    std::size_t body_bytes = std::size_t{1} << 30;  ///< bytes of these selections
    /// Bytes of all lists, and of older ones still being sent, see HeldBytes.
    std::size_t held_bytes = std::size_t{4} << 30;
    /// A selection is in use until it was not requested for so long.
    std::chrono::steady_clock::duration forget_after = std::chrono::minutes(10);
};

/// A limit of ListLimits is reached; the text names it.
class LimitReached : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// The cost of lists since the start. Any thread.
struct ListMetrics {
    std::atomic<std::uint64_t> serialised{0};        ///< serialised targets
    std::atomic<std::uint64_t> left_out_labels{0};   ///< of these; see is_listed_name()
    std::atomic<std::uint64_t> bodies{0};            ///< joined bodies
    std::atomic<std::uint64_t> body_bytes{0};        ///< of these
    std::atomic<std::uint64_t> body_nanoseconds{0};  ///< time for joining them
    /// Bytes of bodies in memory. Shared: readers may hold bodies longer than these metrics live.
    const HeldBytes held = std::make_shared<std::atomic<std::size_t>>(0);
};

/// A list of targets, and the parts of it selected by readers. A body is joined on request, and
/// only if the targets of its parts have changed. Not thread-safe.
class Listing {
 public:
    using TimePoint = std::chrono::steady_clock::time_point;

    /// \param metrics  must outlive it
    Listing(const ListLimits& limits, ListMetrics& metrics) : limits_(limits), metrics_(metrics) {}

    /// Sets the targets of the key; empty: removes it.
    void replace(const std::string& key, std::vector<ListedTarget> targets);
    /// The selected targets: the same object as long as they are the same. Empty selections share
    /// one body, because readers can request any number of them.
    /// \throws LimitReached
    ListBodyPtr body(const ListSelection&, TimePoint now);
    /// The number of selected targets.
    /// \throws LimitReached
    std::size_t count(const ListSelection&, TimePoint now);
    /// The tag of that body, if it is known without joining it: empty if the targets have changed
    /// since the last request, nullopt if the selection is not in use.
    std::optional<std::string> known_tag(const ListSelection&) const;
    /// Whether some target is on the selection's node, if it has one. \pre body() was called for
    /// the selection
    bool has_node(const ListSelection&) const;
    /// Drops unused selections. \returns whether the list is in use
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
        std::uint64_t change = 0;  ///< the last change affecting the part
    };
    struct Divided {
        Divider divider;
        std::map<std::string, Part> parts{};  ///< without empty ones
        TimePoint asked{};
    };
    static std::vector<std::uint64_t> changes_of(const Divided&, const ListSelection&);
    struct View {
        std::vector<std::uint64_t> changes;  ///< of the parts at the time of joining the body
        ListBodyPtr body;
        TimePoint asked{};

        std::size_t bytes() const noexcept { return body ? body->bytes()->size() : 0; }
    };

    void add(const ListedTarget&);
    void remove(const ListedTarget&);
    void add_to(Divided&, const ListedTarget&) const;
    void forget_other_collectors(const ListDivision&);
    template <class Predicate>
    void forget(Predicate);
    void sweep(TimePoint now);
    void admit(const ListDivision&, TimePoint now);
    void check_cost(const ListDivision&) const;
    const Divided& divided(const ListDivision&, TimePoint now);
    View& view(const ListSelection&, TimePoint now);
    const ListBodyPtr& empty_body();
    void update(View&, const std::vector<const Part*>&, TimePoint now);
    void make_room(View&, std::size_t bytes, TimePoint now);
    void set_body(View&, ListBodyPtr);
    std::string join(const std::vector<const Part*>&, std::size_t bytes) const;

    const ListLimits limits_;
    ListMetrics& metrics_;
    std::map<std::string, std::vector<Held>, std::less<>> targets_;  ///< sorted, by key
    std::map<ListDivision, Divided> divisions_;
    std::map<ListSelection, View> views_;
    std::uint64_t change_ = 0;
    std::size_t body_bytes_ = 0;  ///< of all views
    ListBodyPtr empty_;           ///< null: not requested yet
    TimePoint next_sweep_ = TimePoint::min();
};

}  // namespace k8s_sd_program
