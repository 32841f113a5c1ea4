#pragma once

#include "k8s_sd/time.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// SHA-256.
using Digest = std::array<unsigned char, 32>;
Digest digest_of(std::string_view bytes);
std::string hex(const Digest&, std::size_t bytes = 32);

/// Identifies the content of a snapshot.
struct SnapshotKey {
    std::string_view kind{};  ///< of the payload, with its format version: "targets 2"
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
    std::string read(const std::string& name, std::size_t most, std::string& bytes,
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

}  // namespace k8s_sd::inline v0::detail
