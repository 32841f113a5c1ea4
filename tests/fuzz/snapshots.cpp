// Untrusted snapshot files. The first byte gives the type of the rest: a file (f), a file without
// the checksum at its end (s), the groups of one (g) or the fleet view of one (v).
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_snapshots -max_total_time=60 tests/fuzz/corpus/snapshots

#include "k8s_sd/detail/discovery/snapshots/packed_groups.hpp"
#include "k8s_sd/detail/discovery/snapshots/snapshot_file.hpp"
#include "k8s_sd/detail/fleet/kept_view.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace k8s_sd;
using namespace std::chrono_literals;

const detail::SnapshotKey key{"targets 1", {}};
constexpr std::chrono::system_clock::time_point noon{1'800'000'000s};

void require(bool condition) {
    if (!condition) std::abort();
}

std::string packed(const std::vector<TargetGroupPtr>& groups) {
    return detail::pack_groups(groups, [](std::string_view) { return true; });
}

/// Uses a group in every way a host may.
void use(const TargetGroup& group) {
    require(!group.source().empty() && group.size() > 0);
    for (std::size_t i = 0; i < std::min<std::size_t>(group.size(), 100); ++i) {
        for (const auto& [name, value] : group.merged(i)) {
            require(group.merged(i).at(name) == value);
        }
        (void)group[i].get("__address__");
        (void)group.labels().get("__address__");
    }
    require(group == group);
}

void read_groups(std::string_view bytes) {
    const auto groups = detail::unpack_groups(bytes);
    if (!groups) return;
    for (const TargetGroupPtr& group : *groups) use(*group);
    // Groups that were read can be written, and stay equal.
    const auto again = detail::unpack_groups(packed(*groups));
    require(again && again->size() == groups->size());
    const auto same = [](const TargetGroupPtr& a, const TargetGroupPtr& b) { return *a == *b; };
    require(std::equal(groups->begin(), groups->end(), again->begin(), same));
}

void read_view(std::string_view bytes) {
    const FleetViewPtr view = detail::unpack_view(bytes);
    if (!view) return;
    const FleetViewPtr again = detail::unpack_view(detail::pack_view(*view));
    require(again && *again == *view && again->epoch() == view->epoch());
    for (const std::string& name : view->members()) require(view->contains(name));
    require(view->size() == 0 || view->owners(1).size() == 1);
}

void read_file(std::string_view bytes) {
    const detail::ReadSnapshot read = detail::read_snapshot(bytes, key, 1h, noon);
    require(read.problem.empty() || read.payload.empty());
    if (!read.problem.empty()) return;
    require(read.age >= 0s && read.age <= 1h);
    require(read.payload.size() < bytes.size());
    read_groups(read.payload);
}

std::string with_checksum(std::string_view bytes) {
    const detail::Digest digest = detail::digest_of(bytes);
    return std::string(bytes).append(digest.begin(), digest.end());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0]) {
        case 'f': read_file(bytes); break;
        case 's': read_file(with_checksum(bytes)); break;
        case 'g': read_groups(bytes); break;
        case 'v': read_view(bytes); break;
        default: break;
    }
    return 0;
}
