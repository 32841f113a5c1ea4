#pragma once

#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <variant>

namespace k8s_sd::inline v0::detail {

class CacheWatch;

/// Decides when a namespace of an ObjectCache has one watch of its whole collection instead of one
/// for each object. No I/O: the caller performs an Action, which changes the State, and asks again
/// at the same point of time, until the answer is Action::none.
///
/// More watches of single objects than the threshold make it join the collection; when half of
/// that is left it leaves, so that it does not go back and forth. A collection that is refused, or
/// cannot be listed although single watches work, is not asked for again for ten minutes. Where
/// the permission is withdrawn while the collection serves, one object after the other tries a
/// watch of its own, and the first that gets one makes the others leave as well.
class CollectionPolicy {
 public:
    /// Belongs to the objects that it serves, or is to serve; expired when there are none left.
    using Watch = std::weak_ptr<CacheWatch>;

    /// Each object has a watch of its own.
    struct None {};
    /// The collection is listed for the first time. Each object keeps its watch until then.
    struct Joining {
        Watch watch{};
        Watch serving{};    ///< an earlier one of the collection, that objects have until then
        bool slow = false;  ///< was on the way at an earlier check
    };
    struct Serving {
        Watch watch{};
    };
    /// Its objects get watches of their own. Each keeps the collection until its own is listed.
    struct Leaving {
        Watch watch{};
        TimePoint refused_until = TimePoint::min();
    };
    /// The collection is not asked for.
    struct Refused {
        TimePoint until{};
        Watch serving{};                 ///< was listed before, and is all that its objects have
        std::set<std::string> denied{};  ///< names of those that may have no watch of their own
        bool single_allowed = false;     ///< one of them has got a watch of its own
    };
    using State = std::variant<None, Joining, Serving, Leaving, Refused>;

    /// Why the policy is asked.
    enum class Occasion : std::uint8_t {
        change,   ///< objects or watches have come or gone
        check,    ///< time has passed
        refusal,  ///< the server has refused the collection; of two, the one that joins
    };
    struct Facts {
        Occasion occasion = Occasion::change;
        TimePoint now{};
        bool gone = false;         ///< the watch of the state has expired
        std::size_t single = 0;    ///< objects with a watch of their own, and no collection to join
        std::size_t watched = 0;   ///< objects with any watch
        std::size_t unserved = 0;  ///< objects that need a watch, and have none
        bool single_works = false;  ///< a watch of one object is listed, without an error
        /// There is an object to try a single watch with, and no other one tries it.
        bool can_probe = false;
    };
    enum class Action : std::uint8_t {
        none,
        join,    ///< list the collection for all objects (to Joining)
        leave,   ///< give all objects watches of their own (to Leaving)
        refuse,  ///< ask for the collection no more until refused_until() (to Refused)
        probe,   ///< try a watch of its own with one object (no change)
        retry,   ///< forget that the collection was refused (to Serving)
        end,  ///< the watch has expired (Joining to Serving, Serving to None, Leaving to Refused)
    };

    /// \param threshold  0: there is never a collection
    explicit CollectionPolicy(std::size_t threshold) : threshold_(threshold) {}

    bool enabled() const noexcept { return threshold_ > 0; }
    Action next(const State& state, const Facts& facts) const {
        return std::visit([&](const auto& now) { return decide(now, facts); }, state);
    }
    /// How many objects that need a watch get one of their own, where `single` have one. While the
    /// collection is on the way, what exceeds the threshold waits for it.
    std::size_t room(const State& state, std::size_t single, TimePoint now) const {
        if (!enabled() || is_refused(state, now)) return std::numeric_limits<std::size_t>::max();
        return threshold_ - std::min(threshold_, single);
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
        // A collection that cannot be listed (too large, too slow, refused on the way) must not
        // keep its objects waiting where single watches work.
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
    // Each refusal puts off the next attempt.
    static bool is_news(TimePoint until, const Facts& facts) {
        return facts.occasion == Occasion::refusal && until < refused_until(facts.now);
    }

    std::size_t threshold_;
};

}  // namespace k8s_sd::inline v0::detail
