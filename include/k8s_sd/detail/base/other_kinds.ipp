#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/kind.hpp"

#include <algorithm>
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

/// Kind, group, version, plural, whether it has namespaces.
using ResourceKey = std::tuple<std::string, std::string, std::string, std::string, bool>;
using KnownKinds = std::map<ResourceKey, std::size_t>;

/// Of a kind and group, which a host names. A server names the rest: it may do so differently each
/// time, and must not fill the table.
constexpr std::size_t max_forms = 64;

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

std::size_t forms_of(const ResourceKey& key, const KnownKinds& known) {
    const auto is_form = [&](const auto& other) {
        return std::get<0>(other.first) == std::get<0>(key) &&
               std::get<1>(other.first) == std::get<1>(key);
    };
    return static_cast<std::size_t>(std::count_if(known.begin(), known.end(), is_form));
}

}  // namespace

Kind other_kind(const Resource& resource) {
    static std::mutex mutex;
    static const detail::Immortal<KnownKinds> numbers;
    auto& known = *numbers;
    const ResourceKey key{std::string(resource.kind), std::string(resource.group),
                          std::string(resource.version), std::string(resource.plural),
                          resource.namespaced};
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return kind_at(found->second);
    const std::size_t number = known.size();
    if (number >= other_kinds.size() || forms_of(key, known) >= max_forms)
        throw std::length_error("other_kind(): the program watches too many different resources");
    auto named = std::make_unique<NamedKind>(key);
    known.emplace(key, number);
    other_kinds[number].store(&named.release()->entry, std::memory_order_release);
    return kind_at(number);
}

const detail::OtherKind& detail::find_other_kind(Kind kind) noexcept {
    static constexpr OtherKind unnamed{{"object", "", "", "objects", true}, "other"};
    const auto index = static_cast<std::size_t>(kind) - kind_count - 1;
    if (index >= other_kinds.size()) return unnamed;
    const OtherKind* found = other_kinds[index].load(std::memory_order_acquire);
    return found ? *found : unnamed;
}

}  // namespace k8s_sd::inline v0
