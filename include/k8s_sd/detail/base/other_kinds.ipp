#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/kind.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>

namespace k8s_sd::inline v0 {

namespace {

// Object keeps its kind in 14 bits.
constexpr std::size_t max_other_kinds = 16'000;

/// Read without a lock: a valid Kind was returned by other_kind(), after it stored the entry.
std::array<std::atomic<const detail::OtherKind*>, max_other_kinds> other_kinds;

using ResourceKey = std::tuple<std::string, std::string, std::string, std::string, bool>;

/// Never freed, not even at the end of the program: a thread may still be running.
struct NamedKind {
    explicit NamedKind(const ResourceKey& texts) : key(texts) {
        const auto& [kind, group, version, plural, namespaced] = key;
        name = plural.empty() ? kind : plural;
        if (!group.empty()) (name += '.') += group;
        entry = {{kind, group, version, plural, namespaced}, name};
    }
    const ResourceKey key;
    std::string name;
    detail::OtherKind entry;
};

Kind kind_at(std::size_t index) noexcept { return static_cast<Kind>(kind_count + 1 + index); }

}  // namespace

Kind other_kind(const Resource& resource) {
    static std::mutex mutex;
    static const detail::Immortal<std::map<ResourceKey, std::size_t>> numbers;
    auto& known = *numbers;
    const std::lock_guard lock(mutex);
    const auto [it, is_new] = known.try_emplace(
        {std::string(resource.kind), std::string(resource.group), std::string(resource.version),
         std::string(resource.plural), resource.namespaced},
        known.size());
    if (!is_new) return kind_at(it->second);
    if (it->second >= other_kinds.size()) {
        known.erase(it);
        throw std::length_error("other_kind(): the program watches too many different resources");
    }
    other_kinds[it->second].store(&(new NamedKind(it->first))->entry, std::memory_order_release);
    return kind_at(it->second);
}

const detail::OtherKind& detail::find_other_kind(Kind kind) noexcept {
    static constexpr OtherKind unnamed{{"object", "", "", "objects", true}, "other"};
    const auto index = static_cast<std::size_t>(kind) - kind_count - 1;
    if (index >= other_kinds.size()) return unnamed;
    const OtherKind* found = other_kinds[index].load(std::memory_order_acquire);
    return found ? *found : unnamed;
}

}  // namespace k8s_sd::inline v0
