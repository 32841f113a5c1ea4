#pragma once

#include "k8s_sd/detail/net/snapshot_file.hpp"
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

/// A file that was read, or why there is none.
struct FileBytes {
    std::string problem{};  ///< in words; empty: none
    bool is_missing = false;
    std::string bytes{};
};

/// The snapshots of one directory, which is opened when it is needed. Its functions block; they may
/// be called on any thread, and after the end of every context.
class SnapshotFiles {
 public:
    explicit SnapshotFiles(std::string path) : path_(std::move(path)) {}

    FileBytes read(const std::string& name, std::size_t max_bytes) const;
    /// \param bytes  called when it is the turn of this file: one at a time takes memory
    /// \returns why it is not there; empty: it is
    std::string write(const std::string& name, std::size_t max_bytes,
                      const std::function<std::string()>& bytes) const;

    /// See SnapshotDirectory.
    void remove_old(std::string_view suffix, Duration age) const;

    /// Those of this directory that others of the context have: it is locked once.
    static std::shared_ptr<const SnapshotFiles> of(const asio::any_io_executor&,
                                                   const std::string& path);

 private:
    std::shared_ptr<const SnapshotDirectory> directory(std::string& problem) const;

    const std::string path_;
    mutable std::mutex mutex_;
    mutable std::mutex writing_;  ///< one file at a time; locked before the other
    mutable std::shared_ptr<const SnapshotDirectory> directory_;  // null: not opened yet
};

}  // namespace k8s_sd::inline v0::detail
