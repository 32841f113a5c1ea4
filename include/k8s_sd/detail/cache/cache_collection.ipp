#include "k8s_sd/detail/cache/cache_collection.hpp"

#include <utility>
#include <variant>

namespace k8s_sd::inline v0::detail {

CacheCollection::CacheCollection(CollectionPolicy policy, ServedEntries& entries,
                                 const Clock& clock, Metrics& metrics, std::mutex& mutex)
    : policy_(policy), entries_(entries), clock_(clock), metrics_(metrics), mutex_(mutex) {}

// --- events --------------------------------------------------------------------------------------

void CacheCollection::update() {
    if (policy_.enabled()) follow_policy(Policy::Occasion::change);
}

// One step only: the next update() handles its consequences.
void CacheCollection::check() {
    if (!std::holds_alternative<Policy::Joining>(state_)) return;
    const TimePoint now = clock_.now();
    perform(policy_.next(state_, facts(Policy::Occasion::check, now)), now);
    if (auto* joining = std::get_if<Policy::Joining>(&state_)) joining->slow = true;
}

void CacheCollection::on_synced(CacheWatch& watch) {
    const auto* joining = std::get_if<Policy::Joining>(&state_);
    if (joining == nullptr || joining->watch.lock().get() != &watch) return;
    become(Policy::Serving{watch.weak_from_this()});
    ++metrics_.cache_collection_switches;
}

void CacheCollection::on_forbidden(CacheWatch& watch) {
    const bool joining = std::holds_alternative<Policy::Joining>(state_);
    // A joining watch needs the same permission, and its own response decides.
    if (joining && watch.synced()) return;
    // An older collection watch may be the only one left.
    if (!joining && !serving()) become(Policy::Serving{watch.weak_from_this()});
    follow_policy(Policy::Occasion::refusal);
}

void CacheCollection::on_single_allowed() {
    if (auto* refused = std::get_if<Policy::Refused>(&state_)) refused->single_allowed = true;
}

void CacheCollection::on_single_denied(std::string_view name) {
    if (const auto* leaving = std::get_if<Policy::Leaving>(&state_)) {
        become(Policy::Refused{.until = leaving->refused_until,
                               .serving = leaving->watch,
                               .denied = {std::string(name)}});
    } else if (auto* refused = std::get_if<Policy::Refused>(&state_)) {
        refused->denied.emplace(name);
    }
}

// --- facts for the policy ------------------------------------------------------------------------

std::shared_ptr<CacheWatch> CacheCollection::serving() const {
    const auto watch = [](const auto& state) -> Policy::Watch {
        if constexpr (requires { state.serving; })
            return state.serving;
        else if constexpr (requires { state.watch; })
            return state.watch;
        else
            return {};
    };
    return std::visit(watch, state_).lock();
}

bool CacheCollection::is_refused() const { return Policy::is_refused(state_, clock_.now()); }

std::size_t CacheCollection::room() const {
    const TimePoint now = clock_.now();
    // Counting visits all entries, for each new one.
    const bool is_bounded = policy_.has_bounded_room(state_, now);
    return policy_.room(state_, is_bounded ? entries_.counts().single : 0, now);
}

CollectionPolicy::Facts CacheCollection::facts(Policy::Occasion occasion, TimePoint now) const {
    Policy::Facts facts;
    facts.occasion = occasion;
    facts.now = now;
    const auto* joining = std::get_if<Policy::Joining>(&state_);
    facts.gone = joining ? joining->watch.expired()
                         : !serving() && !std::holds_alternative<Policy::None>(state_);
    if (facts.gone) return facts;
    const ServedEntries::Counts counts = entries_.counts();
    facts.single = counts.single;
    facts.watched = counts.watched;
    facts.unserved = counts.unserved;
    if (occasion == Policy::Occasion::change) return facts;
    facts.single_works = entries_.single_works();
    facts.can_probe = to_probe() != nullptr;
    return facts;
}

// Picks an object to try a single watch with, a different one each time: a role can allow some
// objects by name and not others.
CacheEntry* CacheCollection::to_probe() const {
    const auto* joining = std::get_if<Policy::Joining>(&state_);
    const auto* refused = std::get_if<Policy::Refused>(&state_);
    CacheEntry* denied = nullptr;
    CacheEntry* chosen = nullptr;
    for (const auto& entry : entries_.all()) {
        if (joining) {
            if (entry->watch) return nullptr;
            if (entry->next) chosen = entry.get();
            continue;
        }
        const bool lost = entry->watch && entry->watch->of_collection() &&
                          entry->watch->error() == errc::forbidden;
        if (!lost) continue;
        if (entry->next) return nullptr;
        (refused && refused->denied.contains(std::string_view(entry->name)) ? denied : chosen) =
            entry.get();
    }
    return chosen ? chosen : denied;
}

// --- actions -------------------------------------------------------------------------------------

void CacheCollection::follow_policy(Policy::Occasion occasion) {
    const TimePoint now = clock_.now();
    for (;;) {
        const Policy::Action action = policy_.next(state_, facts(occasion, now));
        if (action == Policy::Action::none) return;
        perform(action, now);
    }
}

void CacheCollection::perform(Policy::Action action, TimePoint now) {
    switch (action) {
        case Policy::Action::none: return;
        case Policy::Action::join: return join();
        case Policy::Action::leave: return leave();
        case Policy::Action::refuse: return refuse(Policy::refused_until(now));
        case Policy::Action::probe: return probe();
        case Policy::Action::retry: return retry();
        case Policy::Action::end: return end();
    }
}

void CacheCollection::join() {
    const auto collection = entries_.make_collection();
    become(Policy::Joining{collection, serving()});
    entries_.begin_collection(collection);
}

void CacheCollection::leave() {
    const auto collection = serving();
    const auto* refused = std::get_if<Policy::Refused>(&state_);
    become(Policy::Leaving{collection, refused ? refused->until : TimePoint::min()});
    ++metrics_.cache_collection_switches;
    entries_.leave_collections(*collection);
}

void CacheCollection::refuse(TimePoint until) {
    if (const auto* joining = std::get_if<Policy::Joining>(&state_)) {
        // Keep the watch alive: otherwise the last object to drop it destroys it meanwhile.
        const auto collection = joining->watch.lock();
        become(Policy::Refused{.until = until, .serving = joining->serving});
        entries_.drop_next(*collection);
    } else if (const auto* leaving = std::get_if<Policy::Leaving>(&state_)) {
        become(Policy::Leaving{leaving->watch, until});
    } else if (const auto* refused = std::get_if<Policy::Refused>(&state_)) {
        auto renewed = *refused;
        renewed.until = until;
        become(std::move(renewed));
    } else {
        become(Policy::Refused{.until = until, .serving = serving()});
    }
}

void CacheCollection::probe() {
    CacheEntry& entry = *to_probe();
    auto* const refused = std::get_if<Policy::Refused>(&state_);
    // All objects were denied; start over with the first.
    if (refused && refused->denied.contains(std::string_view(entry.name))) refused->denied.clear();
    entries_.watch_singly(entry);
}

void CacheCollection::retry() { become(Policy::Serving{serving()}); }

void CacheCollection::end() {
    if (const auto* joining = std::get_if<Policy::Joining>(&state_)) {
        become(Policy::Serving{joining->serving});
    } else if (const auto* leaving = std::get_if<Policy::Leaving>(&state_)) {
        become(Policy::Refused{.until = leaving->refused_until});
    } else {
        become(Policy::None{});
    }
}

void CacheCollection::become(Policy::State state) {
    const std::lock_guard lock(mutex_);
    state_ = std::move(state);
}

}  // namespace k8s_sd::inline v0::detail
