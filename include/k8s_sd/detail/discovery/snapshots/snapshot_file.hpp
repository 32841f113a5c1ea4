#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// SHA-256.
using Digest = std::array<unsigned char, 32>;
K8S_SD_EXPORT Digest digest_of(std::string_view bytes);
std::string hex(const Digest&, std::size_t bytes = 32);

/// Identifies the content of a snapshot.
struct SnapshotKey {
    std::string_view kind{};  ///< of the payload, with its format version: "targets 3"
    Digest identity{};        ///< of the cluster and the configuration
};

/// Serializes a snapshot: header, payload and checksums.
std::string snapshot_bytes(const SnapshotKey&, std::chrono::system_clock::time_point created,
                           std::string_view payload);

/// The payload of a file, or why the file is ignored.
struct ReadSnapshot {
    std::string problem{};  ///< a phrase with the file as subject: "is damaged"; empty: none
    std::string payload{};
    std::chrono::seconds age{};
};
/// \param bytes  untrusted content of a file
ReadSnapshot read_snapshot(std::string_view bytes, const SnapshotKey&, Duration max_age,
                           std::chrono::system_clock::time_point now);

/// A directory used only by this process. Functions block; any thread.
class SnapshotDirectory {
 public:
    /// Creates the directory if it is missing, and locks it for the lifetime of the object.
    /// \returns null on failure, with the reason in `problem`
    static std::shared_ptr<SnapshotDirectory> open(const std::string& path, std::string& problem);
    ~SnapshotDirectory();
    SnapshotDirectory(const SnapshotDirectory&) = delete;
    SnapshotDirectory& operator=(const SnapshotDirectory&) = delete;

    /// Reads a file owned by this user and inaccessible to others.
    /// \returns the error; empty: none
    std::string read(const std::string& name, std::size_t max_size, std::string& bytes,
                     bool& is_missing) const;
    /// Replaces a file atomically.
    /// \returns the error; empty: none
    std::string write(const std::string& name, std::string_view bytes) const;
    /// Removes files with this suffix and last modified before this age.
    void remove_old(std::string_view suffix, Duration age) const;

 private:
    SnapshotDirectory(std::string path, int descriptor)
        : path_(std::move(path)), descriptor_(descriptor) {}
    template <class Predicate>
    void remove_if(const Predicate& is_unwanted) const;

    const std::string path_;
    const int descriptor_;  ///< of the locked directory
};

namespace asio = boost::asio;

/// The content of a file, or the error.
struct FileBytes {
    std::string problem{};  ///< a phrase; empty: none
    bool is_missing = false;
    std::string bytes{};
};

/// The snapshots of one directory, opened on demand. Functions block; any thread, also after the
/// destruction of all contexts.
class K8S_SD_EXPORT SnapshotFiles {
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
