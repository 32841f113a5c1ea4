#pragma once

#include "k8s_sd/detail/discovery/snapshots/snapshot_file.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// The content of a file, or the error.
struct FileBytes {
    std::string problem{};  ///< a phrase; empty: none
    bool is_missing = false;
    std::string bytes{};
};

/// The snapshots of one directory, opened on demand. Functions block; any thread, also after the
/// destruction of all contexts.
class SnapshotFiles {
 public:
    explicit SnapshotFiles(std::string path) : path_(std::move(path)) {}

    FileBytes read(const std::string& name, std::size_t max_bytes) const;
    /// \param bytes  called once this file is next, so one file at a time takes memory
    /// \returns the error; empty: none
    std::string write(const std::string& name, std::size_t max_bytes,
                      const std::function<std::string()>& bytes) const;

    /// See SnapshotDirectory.
    void remove_old(std::string_view suffix, Duration age) const;

    /// The snapshots of this directory, shared within the context because the directory is locked
    /// once.
    static std::shared_ptr<const SnapshotFiles> of(const asio::any_io_executor&,
                                                   const std::string& path);

 private:
    std::shared_ptr<const SnapshotDirectory> directory(std::string& problem) const;

    const std::string path_;
    mutable std::mutex mutex_;
    mutable std::mutex writing_;  ///< serializes writes; locked before the other mutex
    mutable std::shared_ptr<const SnapshotDirectory> directory_;  // null: not opened yet
};

}  // namespace k8s_sd::inline v0::detail
