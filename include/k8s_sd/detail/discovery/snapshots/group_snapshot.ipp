#include "k8s_sd/detail/base/secret_file.hpp"
#include "k8s_sd/detail/discovery/snapshots/group_snapshot.hpp"
#include "k8s_sd/detail/discovery/snapshots/packed_groups.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr const char* file_suffix = ".targets";

std::string file_name(const SnapshotIdentity& identity) {
    return hex(identity.config, 16) + file_suffix;
}

/// Includes the present content of the CA file; an unreadable file counts as empty.
SnapshotKey group_key(const SnapshotIdentity& identity) {
    std::string text = hex(identity.config);
    std::string problem;  // reported by the client
    if (const auto ca = read_secret_file(identity.ca_file, problem)) text += view(*ca);
    return {"targets 2", digest_of(text)};
}

/// Drops `__meta_kubernetes_pod_annotation_NAME` and `…_annotationpresent_NAME` unless
/// `annotations` contains the name.
bool is_kept(std::string_view label, const std::vector<std::string>& annotations) {
    constexpr std::string_view marks[] = {"_annotation_", "_annotationpresent_"};
    if (!label.starts_with("__meta_kubernetes_")) return true;
    for (const std::string_view mark : marks) {
        const std::size_t place = label.find(mark);
        if (place == label.npos) continue;
        const std::string_view name = label.substr(place + mark.size());
        return std::any_of(annotations.begin(), annotations.end(),
                           [&](const std::string& prefix) { return name.starts_with(prefix); });
    }
    return true;
}

}  // namespace

LoadedGroups load_groups(const SnapshotFiles& files, const SnapshotIdentity& identity,
                         const WarmStart& options) {
    FileBytes file = files.read(file_name(identity), options.max_bytes);
    // Delete expired snapshots, including those of removed configurations.
    files.remove_old(file_suffix, options.max_age);
    if (!file.problem.empty()) {
        return {.problem = std::move(file.problem), .is_missing = file.is_missing};
    }
    const auto now = std::chrono::system_clock::now();
    const ReadSnapshot read =
        read_snapshot(std::exchange(file.bytes, {}), group_key(identity), options.max_age, now);
    if (!read.problem.empty()) return {.problem = "the file " + read.problem};
    auto groups = unpack_groups(read.payload);
    if (!groups) return {.problem = "the file is damaged"};
    return {.groups = std::move(*groups), .age = read.age};
}

std::string save_groups(const SnapshotFiles& files, const SnapshotIdentity& identity,
                        const std::vector<TargetGroupPtr>& groups, const WarmStart& options) {
    const auto keep = [&](std::string_view label) { return is_kept(label, options.annotations); };
    return files.write(file_name(identity), options.max_bytes, [&] {
        return snapshot_bytes(group_key(identity), std::chrono::system_clock::now(),
                              pack_groups(groups, keep));
    });
}

}  // namespace k8s_sd::inline v0::detail
