#include "k8s_sd/detail/discovery/group_snapshot.hpp"
#include "k8s_sd/detail/discovery/packed_groups.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr const char* file_suffix = ".targets";

std::string file_name(const SnapshotIdentity& identity) {
    return hex(identity.config, 16) + file_suffix;
}

/// With what the file of the authority says now; one that cannot be read says nothing.
SnapshotKey group_key(const SnapshotIdentity& identity) {
    std::string text = hex(identity.config);
    std::string problem;  // is for the client to tell
    if (const auto ca = read_secret_file(identity.ca_file, problem)) text += view(*ca);
    return {"targets 2", digest_of(text)};
}

/// `__meta_kubernetes_pod_annotation_NAME` and `…_annotationpresent_NAME` of names that are none of
/// these are left out.
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
    ReadSnapshot read =
        files.read(file_name(identity), group_key(identity), options.max_age, options.max_bytes);
    // Configurations come and go; what nobody can use any more goes, too.
    files.remove_old(file_suffix, options.max_age);
    LoadedGroups loaded{
        .age = read.age, .problem = std::move(read.problem), .is_missing = read.is_missing};
    if (!loaded.problem.empty()) return loaded;
    if (auto groups = unpack_groups(read.payload)) {
        loaded.groups = std::move(*groups);
    } else {
        loaded.problem = "the file is damaged";
    }
    return loaded;
}

std::string save_groups(const SnapshotFiles& files, const SnapshotIdentity& identity,
                        const std::vector<TargetGroupPtr>& groups, const WarmStart& options) {
    return files.write(file_name(identity), group_key(identity), options.max_bytes, [&] {
        return pack_groups(
            groups, [&](std::string_view label) { return is_kept(label, options.annotations); });
    });
}

}  // namespace k8s_sd::inline v0::detail
