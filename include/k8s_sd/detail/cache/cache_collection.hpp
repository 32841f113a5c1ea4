#pragma once

#include "k8s_sd/detail/cache/served_entries.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <variant>

namespace k8s_sd::inline v0::detail {

class CacheWatch;

/// Decides when a namespace of an ObjectCache has one watch of its whole collection instead of one
/// for each object. No I/O: the caller performs the returned Action, which changes the State, and
/// calls again with the same time, until the result is Action::none.
///
/// The policy joins the collection if single-object watches exceed the threshold, and leaves it at
/// half the threshold: this hysteresis avoids flapping. If the collection is refused, or cannot be
/// listed although single watches work, it is not requested again for ten minutes. If the
/// permission is withdrawn while the collection serves, one object after the other tries a single
/// watch, and the first success makes the other objects leave as well.
class CollectionPolicy {
 public:
    /// Owned by the objects it serves or will serve; expired once there are none left.
    using Watch = std::weak_ptr<CacheWatch>;

    /// Each object has a watch of its own.
    struct None {};
    /// The collection is listed for the first time. Each object keeps its watch meanwhile.
    struct Joining {
        Watch watch{};
        Watch serving{};    ///< an earlier collection watch, kept by its objects until then
        bool slow = false;  ///< was already joining at an earlier check
    };
    struct Serving {
        Watch watch{};
    };
    /// Its objects get watches of their own, and keep the collection until those are synced.
    struct Leaving {
        Watch watch{};
        TimePoint refused_until = TimePoint::min();
    };
    /// The collection is not requested.
    struct Refused {
        TimePoint until{};
        Watch serving{};  ///< the watch of its objects, synced before the refusal
        /// Names of objects with a forbidden single watch.
        std::set<std::string, std::less<>> denied{};
        bool single_allowed = false;  ///< one of them has synced a single watch
    };
    using State = std::variant<None, Joining, Serving, Leaving, Refused>;

    /// The reason for a call of the policy.
    enum class Occasion : std::uint8_t {
        change,   ///< objects or watches have come or gone
        check,    ///< time has passed
        refusal,  ///< the server has refused the collection; of two, the joining one
    };
    struct Facts {
        Occasion occasion = Occasion::change;
        TimePoint now{};
        bool gone = false;         ///< the watch of the state has expired
        std::size_t single = 0;    ///< objects with a watch of their own, and no collection to join
        std::size_t watched = 0;   ///< objects with any watch
        std::size_t unserved = 0;  ///< objects waiting for a watch
        bool single_works = false;  ///< a watch of one object is synced, without an error
        /// There is an object to probe with, and no probe is running.
        bool can_probe = false;
    };
    enum class Action : std::uint8_t {
        none,
        join,    ///< list the collection for all objects (to Joining)
        leave,   ///< give all objects watches of their own (to Leaving)
        refuse,  ///< do not request the collection again until refused_until() (to Refused)
        probe,   ///< try a single watch with one object (no change)
        retry,   ///< clear the refusal of the collection (to Serving)
        end,  ///< the watch has expired (Joining to Serving, Serving to None, Leaving to Refused)
    };

    /// \param threshold  0: collections are never watched
    explicit CollectionPolicy(std::size_t threshold) : threshold_(threshold) {}

    bool enabled() const noexcept { return threshold_ > 0; }
    Action next(const State& state, const Facts& facts) const {
        return std::visit([&](const auto& now) { return decide(now, facts); }, state);
    }
    /// How many objects without a watch may get one of their own, if `single` already have one.
    /// While the collection is being joined, objects beyond the threshold wait for it.
    std::size_t room(const State& state, std::size_t single, TimePoint now) const {
        if (!has_bounded_room(state, now)) return std::numeric_limits<std::size_t>::max();
        return threshold_ - std::min(threshold_, single);
    }
    bool has_bounded_room(const State& state, TimePoint now) const {
        return enabled() && !is_refused(state, now);
    }
    static bool is_refused(const State& state, TimePoint now) {
        if (const auto* leaving = std::get_if<Leaving>(&state)) return now < leaving->refused_until;
        const auto* refused = std::get_if<Refused>(&state);
        return refused != nullptr && now < refused->until;
    }
    /// A missing permission is seldom granted soon.
    static TimePoint refused_until(TimePoint now) { return now + std::chrono::minutes(10); }

 private:
    Action decide(const None&, const Facts& facts) const {
        return are_many(facts) ? Action::join : Action::none;
    }
    Action decide(const Joining& joining, const Facts& facts) const {
        if (facts.gone) return Action::end;
        if (facts.occasion == Occasion::refusal) return Action::refuse;
        if (facts.occasion != Occasion::check) return Action::none;
        // An unlistable collection (too large, too slow, refused meanwhile) must not keep its
        // objects waiting if single watches work.
        if (joining.slow && facts.single_works) return Action::refuse;
        return facts.can_probe ? Action::probe : Action::none;
    }
    Action decide(const Serving&, const Facts& facts) const {
        if (facts.gone) return Action::end;
        if (facts.occasion == Occasion::refusal) return Action::refuse;
        if (are_many(facts)) return Action::join;
        return are_few(facts) ? Action::leave : Action::none;
    }
    Action decide(const Leaving& leaving, const Facts& facts) const {
        if (facts.gone) return Action::end;
        return is_news(leaving.refused_until, facts) ? Action::refuse : Action::none;
    }
    Action decide(const Refused& refused, const Facts& facts) const {
        if (is_news(refused.until, facts)) return Action::refuse;
        if (facts.occasion == Occasion::refusal && facts.can_probe) return Action::probe;
        if (facts.now >= refused.until) return Action::retry;
        if (facts.gone) return Action::none;
        return refused.single_allowed || are_few(facts) ? Action::leave : Action::none;
    }

    bool are_many(const Facts& facts) const {
        return enabled() && facts.single + facts.unserved > threshold_;
    }
    bool are_few(const Facts& facts) const {
        return facts.watched + facts.unserved <= threshold_ / 2;
    }
    // Each refusal postpones the next attempt.
    static bool is_news(TimePoint until, const Facts& facts) {
        return facts.occasion == Occasion::refusal && until < refused_until(facts.now);
    }

    std::size_t threshold_;
};

/// The watch of a namespace's whole collection, if there is one; carries out the decisions of a
/// CollectionPolicy. Objects added while a collection is watched get watches of their own; once
/// these are too many, a new watch of the collection takes over all objects.
///
/// Used on the cache's strand.
class CacheCollection {
 public:
    /// Everything but the policy outlives the object. \param mutex  guards the state
    CacheCollection(CollectionPolicy, ServedEntries&, const Clock&, Metrics&, std::mutex& mutex);
    CacheCollection(const CacheCollection&) = delete;
    CacheCollection& operator=(const CacheCollection&) = delete;

    /// The objects or their watches have changed.
    void update();
    /// Called periodically.
    void check();
    /// How many more objects may get watches of their own now.
    std::size_t room() const;
    /// The collection watch serving objects now; may be null.
    std::shared_ptr<CacheWatch> serving() const;
    /// Any thread, under the mutex.
    bool is_refused() const;

    void on_synced(CacheWatch&);
    /// The server has refused a watch of the collection.
    void on_forbidden(CacheWatch&);
    /// An object of a forbidden collection has switched to a watch of its own.
    void on_single_allowed();
    /// The server has refused a watch of a single object.
    void on_single_denied(std::string_view name);

 private:
    using Policy = CollectionPolicy;

    void follow_policy(Policy::Occasion);
    void perform(Policy::Action, TimePoint now);
    Policy::Facts facts(Policy::Occasion, TimePoint now) const;
    CacheEntry* to_probe() const;
    void join();
    void leave();
    void refuse(TimePoint until);
    void probe();
    void retry();
    void end();
    void become(Policy::State);

    const CollectionPolicy policy_;
    ServedEntries& entries_;
    const Clock& clock_;
    Metrics& metrics_;
    std::mutex& mutex_;
    Policy::State state_;  // written under the mutex: is_refused() reads it
};

}  // namespace k8s_sd::inline v0::detail
