#include "k8s_sd/detail/discovery/packed_groups.hpp"
#include "k8s_sd/detail/discovery/snapshot_store.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

namespace {

/// The directories that a context has open: each is locked once.
class SnapshotStores final : public asio::execution_context::service {
 public:
    static asio::execution_context::id id;
    explicit SnapshotStores(asio::execution_context& context)
        : asio::execution_context::service(context) {}

    std::shared_ptr<const SnapshotStore> get(const std::string& path) {
        const std::lock_guard lock(mutex_);
        std::weak_ptr<const SnapshotStore>& known = stores_[path];
        auto store = known.lock();
        if (!store) known = store = std::make_shared<const SnapshotStore>(path);
        return store;
    }

 private:
    void shutdown() override {}

    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<const SnapshotStore>> stores_;
};
asio::execution_context::id SnapshotStores::id;

std::string file_name(const SnapshotIdentity& identity) {
    return hex(identity.config, 16) + ".targets";
}

/// With what the file of the authority says now; one that cannot be read says nothing.
Digest whole(const SnapshotIdentity& identity) {
    std::string text = hex(identity.config);
    std::string problem;  // is for the client to tell
    if (const auto ca = read_secret_file(identity.ca_file, problem)) text += view(*ca);
    return digest_of(text);
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

std::shared_ptr<const SnapshotStore> SnapshotStore::of(const asio::any_io_executor& executor,
                                                       const std::string& path) {
    auto& context = asio::query(executor, asio::execution::context);
    return asio::use_service<SnapshotStores>(context).get(path);
}

/// One that could not be opened is tried again: another program may have ended.
std::shared_ptr<const SnapshotDirectory> SnapshotStore::directory(std::string& problem) const {
    const std::lock_guard lock(mutex_);
    if (!directory_) directory_ = SnapshotDirectory::open(path_, problem);
    if (!directory_) problem = "the directory " + problem;
    return directory_;
}

LoadedGroups SnapshotStore::load(const SnapshotIdentity& identity, const WarmStart& options) const {
    LoadedGroups loaded;
    const auto open = directory(loaded.problem);
    if (!open) return loaded;
    const auto ignored = [&] {
        loaded.problem.insert(0, "the file ");
        return loaded;
    };
    std::string bytes;
    loaded.problem = open->read(file_name(identity), options.max_bytes, bytes, loaded.is_missing);
    if (!loaded.problem.empty()) return ignored();
    const auto now = std::chrono::system_clock::now();
    ReadSnapshot read = read_snapshot(std::move(bytes), whole(identity), options.max_age, now);
    loaded.problem = std::move(read.problem);
    if (!loaded.problem.empty()) return ignored();
    auto groups = unpack_groups(read.payload);
    if (!groups) {
        loaded.problem = "is damaged";
        return ignored();
    }
    loaded.groups = std::move(*groups);
    loaded.age = std::chrono::duration_cast<std::chrono::seconds>(
        std::max(now - read.created, std::chrono::system_clock::duration::zero()));
    return loaded;
}

std::string SnapshotStore::save(const SnapshotIdentity& identity,
                                const std::vector<TargetGroupPtr>& groups,
                                const WarmStart& options) const {
    const std::lock_guard lock(writing_);
    std::string problem;
    const auto open = directory(problem);
    if (!open) return problem;
    const std::string payload = pack_groups(
        groups, [&](std::string_view label) { return is_kept(label, options.annotations); });
    constexpr std::size_t frame = 256;  // more than is around it
    if (payload.size() + frame > options.max_bytes) {
        return "it takes more than the " + std::to_string(options.max_bytes) +
               " bytes of max_bytes";
    }
    return open->write(
        file_name(identity),
        snapshot_bytes({whole(identity), std::chrono::system_clock::now()}, payload));
}

}  // namespace k8s_sd::inline v0::detail
