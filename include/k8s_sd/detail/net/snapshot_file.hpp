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

/// What a snapshot is, and of what.
struct SnapshotKey {
    std::string_view kind{};  ///< of the payload, with the version of its form: "targets 2"
    Digest identity{};        ///< of the cluster and the configuration
};

/// The whole file: head, payload and what tells whether they are as they were written.
std::string snapshot_bytes(const SnapshotKey&, std::chrono::system_clock::time_point created,
                           std::string_view payload);

/// What a file says, or why it is ignored.
struct ReadSnapshot {
    std::string problem{};  ///< in words, of the file: "is damaged"; empty: none
    std::string payload{};
    std::chrono::seconds age{};
};
/// \param bytes  of a file of which nothing is known
ReadSnapshot read_snapshot(std::string_view bytes, const SnapshotKey&, Duration max_age,
                           std::chrono::system_clock::time_point now);

/// A directory of this process alone. Its functions block; they may be called on any thread.
class SnapshotDirectory {
 public:
    /// Makes the directory if it is missing, and locks it as long as the object lives.
    /// \returns null, and why in `problem`
    static std::shared_ptr<SnapshotDirectory> open(const std::string& path, std::string& problem);
    ~SnapshotDirectory();
    SnapshotDirectory(const SnapshotDirectory&) = delete;
    SnapshotDirectory& operator=(const SnapshotDirectory&) = delete;

    /// The content of a file of ours that nobody else may read. \returns why there is none
    std::string read(const std::string& name, std::size_t most, std::string& bytes,
                     bool& is_missing) const;
    /// Puts a file in the place of the one before, all of it or nothing. \returns why not; empty:
    /// it is there
    std::string write(const std::string& name, std::string_view bytes) const;
    /// Removes files whose names end so and that nobody has written for so long.
    void remove_old(std::string_view suffix, Duration age) const;

 private:
    SnapshotDirectory(std::string path, int descriptor)
        : path_(std::move(path)), descriptor_(descriptor) {}
    template <class Predicate>
    void remove_if(const Predicate& is_unwanted) const;

    const std::string path_;
    const int descriptor_;  ///< of the directory, which is locked
};

}  // namespace k8s_sd::inline v0::detail
