#include "k8s_sd/detail/monitors/quota.hpp"
#include "k8s_sd/detail/monitors/watched_references.hpp"
#include "k8s_sd/detail/text/printable.hpp"

#include <algorithm>

namespace k8s_sd::inline v0::detail {

std::string to_string(const ReferencedObject& object) {
    const bool is_secret = object.kind == MonitorReference::Kind::secret;
    return (is_secret ? "Secret " : "ConfigMap ") + printable(object.ns) + "/" +
           printable(object.name);
}

const WatchedReferences::Reference* WatchedReferences::find(const ReferencedObject& object) const {
    const auto found = references_.find(object);
    return found == references_.end() ? nullptr : &found->second;
}

/// The last one found is the first to be examined, for ten thousand monitors may name the same
/// Secrets.
bool WatchedReferences::lacks_any(MonitorReferences& of_monitor) const {
    const auto is_unknown = [&](const ReferencedObject& object) {
        const Reference* const reference = find(object);
        return reference && reference->is_watched && reference->state == State::unknown;
    };
    const auto& direct = of_monitor.direct;
    auto unknown = std::find_if(direct.lower_bound(of_monitor.waits_for), direct.end(), is_unknown);
    if (unknown == direct.end()) unknown = std::find_if(direct.begin(), direct.end(), is_unknown);
    if (unknown != direct.end()) of_monitor.waits_for = *unknown;
    return unknown != direct.end();
}

std::size_t WatchedReferences::watched_count() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(references_.begin(), references_.end(),
                      [](const auto& reference) { return reference.second.is_watched; }));
}

const WatchedReferences::Reference* WatchedReferences::set_value(const ReferencedObject& object,
                                                                 DataObjectPtr value) {
    const auto found = references_.find(object);
    if (found == references_.end()) return nullptr;
    Reference& reference = found->second;
    reference.state = value ? State::present : State::absent;
    reference.value = std::move(value);
    reference.problem.clear();
    marked_.insert(reference.class_users.begin(), reference.class_users.end());
    return &reference;
}

void WatchedReferences::set_failure(const ReferencedObject& object, const std::string& problem) {
    const auto found = references_.find(object);
    // A value stays in use, however old it is.
    if (found == references_.end() || found->second.state == State::present) return;
    Reference& reference = found->second;
    if (reference.state == State::failed && reference.problem == problem) return;
    reference.state = State::failed;
    reference.problem = problem;
    marked_.insert(reference.users.begin(), reference.users.end());
}

void WatchedReferences::replace(const MonitorKey& key, MonitorReferences& of_monitor,
                                std::set<ReferencedObject> direct,
                                std::set<ReferencedObject> of_classes) {
    const auto replace_some = [&](std::set<ReferencedObject>& old, std::set<ReferencedObject> now,
                                  MonitorKeys Reference::*users) {
        if (old == now) return;
        for (const ReferencedObject& object : now) {
            if (!old.contains(object)) (references_[object].*users).insert(key);
        }
        for (const ReferencedObject& object : old) {
            if (now.contains(object)) continue;
            Reference& reference = references_[object];
            (reference.*users).erase(key);
            if (users == &Reference::users) set_loaded(key, reference, false);
        }
        old = std::move(now);
        has_changed_ = true;
    };
    replace_some(of_monitor.direct, std::move(direct), &Reference::users);
    replace_some(of_monitor.of_classes, std::move(of_classes), &Reference::class_users);
}

void WatchedReferences::set_loading(const MonitorKey& key, const MonitorReferences& of_monitor,
                                    bool loads) {
    for (const ReferencedObject& object : of_monitor.direct) {
        set_loaded(key, references_[object], loads);
    }
}

/// Monitors with a scrape class depend on whether a valid monitor loads a Secret.
void WatchedReferences::set_loaded(const MonitorKey& key, Reference& reference, bool loads) {
    const bool was_loaded = !reference.loaders.empty();
    if (loads) {
        reference.loaders.insert(key);
    } else {
        reference.loaders.erase(key);
    }
    if (was_loaded == reference.loaders.empty()) {
        marked_.insert(reference.class_users.begin(), reference.class_users.end());
    }
}

void WatchedReferences::watch(const ReferencedObject& object, Reference& reference, bool on) {
    if (reference.is_watched == on) return;
    reference.is_watched = on;
    reference.state = State::unknown;
    reference.value.reset();
    (on ? changes_.begin : changes_.end).push_back(object);
}

std::size_t WatchedReferences::begin_admission() {
    has_changed_ = false;
    std::size_t count = 0;
    for (auto it = references_.begin(); it != references_.end();) {
        const auto reference = it++;
        if (!reference->second.users.empty()) {
            ++count;
            continue;
        }
        watch(reference->first, reference->second, false);
        if (reference->second.class_users.empty()) references_.erase(reference);
    }
    return count;
}

void WatchedReferences::watch_all() {
    for (auto& [object, reference] : references_) {
        if (!reference.users.empty()) watch(object, reference, true);
    }
}

void WatchedReferences::watch_only(const std::set<ReferencedObject>& admitted) {
    is_limited_ = false;
    for (auto& [object, reference] : references_) {
        const bool is_admitted = admitted.contains(object);
        watch(object, reference, is_admitted);
        is_limited_ = is_limited_ || (!is_admitted && !reference.users.empty());
    }
}

std::vector<bool> admit_references(const std::vector<ReferenceRequest>& requests, std::size_t max) {
    std::vector<bool> granted(requests.size());
    std::set<ReferencedObject> admitted;
    std::map<std::string_view, std::size_t> used;
    const auto count_new = [&](const ReferenceRequest& request) {
        return static_cast<std::size_t>(
            std::count_if(request.references->begin(), request.references->end(),
                          [&](const ReferencedObject& o) { return !admitted.contains(o); }));
    };
    const auto decide = [&](std::size_t i) {
        const ReferenceRequest& request = requests[i];
        const std::size_t more = count_new(request);
        granted[i] = admitted.size() + more <= max;
        if (!granted[i]) return;
        admitted.insert(request.references->begin(), request.references->end());
        used[request.ns] += more;
    };
    std::vector<std::size_t> of_monitors;
    std::vector<std::string_view> namespaces;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (requests[i].ns.empty()) {
            decide(i);
        } else {
            of_monitors.push_back(i);
            namespaces.push_back(requests[i].ns);
        }
    }
    grant_fairly(
        namespaces,
        [&](std::size_t i) {
            return static_cast<double>(used[namespaces[i]] + count_new(requests[of_monitors[i]]));
        },
        [&](std::size_t i) { decide(of_monitors[i]); });
    return granted;
}

}  // namespace k8s_sd::inline v0::detail
