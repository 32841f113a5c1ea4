#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/discovery/snapshots/packed_groups.hpp"
#include "k8s_sd/detail/discovery/snapshots/snapshot_store.hpp"
#include "k8s_sd/version.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
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
    return {"targets 3", digest_of(text)};
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

namespace {

/// Reports an exception, such as a lack of memory, as a problem.
LoadedGroups load_safely(const SnapshotFiles& files, const SnapshotIdentity& identity,
                         const WarmStart& options) {
    try {
        return load_groups(files, identity, options);
    } catch (const std::exception& e) {
        return {.problem = std::string("the file takes more than there is: ") + e.what()};
    }
}

/// Likewise.
std::string save_safely(const SnapshotFiles& files, const SnapshotIdentity& identity,
                        const std::vector<TargetGroupPtr>& groups, const WarmStart& options) {
    try {
        return save_groups(files, identity, groups, options);
    } catch (const std::exception& e) {
        return std::string("it takes more than there is: ") + e.what();
    }
}

void add_part(std::string& text, std::string_view part) {
    text += std::to_string(part.size());
    (text += ':') += part;
}

}  // namespace

Digest digest_of_config(const ResolvedConfig& config, Role role, const WarmStart& options) {
    std::string text;
    const auto add = [&](std::string_view part) { add_part(text, part); };
    add(K8S_SD_VERSION);
    add(to_string(role));
    const Division& division = config.view.division;
    add(to_string(division.by));
    add(std::to_string(division.slots));
    // The share of a fleet member changes; groups stored for another share are filtered by their
    // share keys.
    if (division.by != DivideBy::objects) {
        add(to_string(config.scope.share_role));
        add(config.scope.share.selector());
    }
    for (const std::string& ns : config.scope.namespaces) add(ns);
    for (const Selector& selector : config.scope.selectors) {
        add(to_string(selector.role));
        add(selector.label);
        add(selector.field);
    }
    const AttachMetadata& attach = config.view.attach_metadata;
    for (const bool flag :
         {attach.node, attach.namespace_, attach.deployment, attach.job, attach.cronjob}) {
        add(flag ? "1" : "0");
    }
    add(to_string(config.view.dialect));
    add(to_string(config.view.prometheus_version));
    if (!config.view.cluster.name.empty()) {
        add(config.view.cluster.label);
        add(config.view.cluster.name);
    }
    for (const std::string& annotation : options.annotations) add(annotation);
    return digest_of(text);
}

SnapshotStore::SnapshotStore(asio::any_io_executor strand, std::shared_ptr<FileCalls> calls,
                             const WarmStart& options, const Digest& config)
    : strand_(std::move(strand)),
      calls_(std::move(calls)),
      options_(options),
      config_(config),
      files_(SnapshotFiles::of(strand_, options_.directory)) {}

void SnapshotStore::async_load(const ServerIdentity& server,
                               std::function<void(const std::shared_ptr<LoadedGroups>&)> handler) {
    using Answer = std::shared_ptr<LoadedGroups>;
    pending_ = async_elsewhere<Answer>(
        strand_, calls_,
        [files = files_, identity = identity_of(server), options = options_] {
            return std::make_shared<LoadedGroups>(load_safely(*files, identity, options));
        },
        [](const std::string& problem) {
            return std::make_shared<LoadedGroups>(LoadedGroups{.problem = problem});
        },
        std::move(handler));
}

void SnapshotStore::async_save(const ServerIdentity& server, std::vector<TargetGroupPtr> groups,
                               std::function<void(const std::string& problem)> handler) {
    const auto shared = std::make_shared<const std::vector<TargetGroupPtr>>(std::move(groups));
    pending_ = async_elsewhere<std::string>(
        strand_, calls_,
        [files = files_, identity = identity_of(server), options = options_, shared] {
            return save_safely(*files, identity, *shared, options);
        },
        [](const std::string& problem) { return problem; }, std::move(handler));
}

SnapshotIdentity SnapshotStore::identity_of(const ServerIdentity& server) const {
    std::string text = hex(config_);
    for (const std::string& part : {server.url, server.ca, server.ca_file}) add_part(text, part);
    return {digest_of(text), server.ca_file};
}

}  // namespace k8s_sd::inline v0::detail
