#include "k8s_sd/detail/discovery/snapshots/snapshot_file.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <map>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// The open directories of a context.
class SnapshotDirectories final : public asio::execution_context::service {
 public:
    static asio::execution_context::id id;
    explicit SnapshotDirectories(asio::execution_context& context)
        : asio::execution_context::service(context) {}

    std::shared_ptr<const SnapshotFiles> get(const std::string& path) {
        const std::lock_guard lock(mutex_);
        std::weak_ptr<const SnapshotFiles>& known = files_[path];
        auto files = known.lock();
        if (!files) known = files = std::make_shared<const SnapshotFiles>(path);
        return files;
    }

 private:
    void shutdown() override {}

    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<const SnapshotFiles>> files_;
};
asio::execution_context::id SnapshotDirectories::id;

}  // namespace

std::shared_ptr<const SnapshotFiles> SnapshotFiles::of(const asio::any_io_executor& executor,
                                                       const std::string& path) {
    auto& context = asio::query(executor, asio::execution::context);
    return asio::use_service<SnapshotDirectories>(context).get(path);
}

/// Retries after a failure: another program may have released the directory.
std::shared_ptr<const SnapshotDirectory> SnapshotFiles::directory(std::string& problem) const {
    const std::lock_guard lock(mutex_);
    if (!directory_) directory_ = SnapshotDirectory::open(path_, problem);
    if (!directory_) problem = "the directory " + problem;
    return directory_;
}

FileBytes SnapshotFiles::read(const std::string& name, std::size_t max_bytes) const {
    FileBytes result;
    const auto open = directory(result.problem);
    if (!open) return result;
    result.problem = open->read(name, max_bytes, result.bytes, result.is_missing);
    if (!result.problem.empty()) result.problem.insert(0, "the file ");
    return result;
}

void SnapshotFiles::remove_old(std::string_view suffix, Duration age) const {
    std::string ignored;
    if (const auto open = directory(ignored)) open->remove_old(suffix, age);
}

std::string SnapshotFiles::write(const std::string& name, std::size_t max_bytes,
                                 const std::function<std::string()>& bytes) const {
    const std::lock_guard lock(writing_);
    std::string problem;
    const auto open = directory(problem);
    if (!open) return problem;
    const std::string content = bytes();
    if (content.size() > max_bytes) {
        return "it takes more than " + std::to_string(max_bytes) + " bytes";
    }
    return open->write(name, content);
}

}  // namespace k8s_sd::inline v0::detail
