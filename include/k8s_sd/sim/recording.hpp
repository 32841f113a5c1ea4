#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

class RecordingWriter;

/// A part of a recording: something that happened on a connection.
struct RecordedPart {
    /// The first letter of its line in the file.
    enum class Kind : char {
        connect = 'c',  ///< the connection is ready; text: empty, or the error
        request = 'q',  ///< text: request line and harmless headers
        bytes = 'b',    ///< text: bytes of the response, head included
        end = 'e',      ///< the server ended the connection; text: empty, or the error
        close = 'x',    ///< the client closed the connection
    };
    Kind kind{};               ///< what happened
    std::uint64_t stream = 0;  ///< number of the connection, from 1
    Duration time{};           ///< since the beginning of the recording
    std::string text{};        ///< see Kind
};

/// The end of a recording, as its reader found it.
enum class RecordingEnd {
    complete,  ///< the program has ended the recording
    cut,       ///< the program or the copy ended early; all parts before are valid
    full,      ///< the limit of the size was reached; there may be a next file
};

/// A recording in memory.
struct Recording {
    std::vector<RecordedPart> parts{};     ///< in order of time
    RecordingEnd end = RecordingEnd::cut;  ///< how the recording ended

    /// The time of the last part.
    Duration duration() const noexcept { return parts.empty() ? Duration{} : parts.back().time; }
};

/// Reads a recording up to its first invalid byte. \throws std::runtime_error if it is none, or has
/// more than 2 GiB of text
K8S_SD_EXPORT Recording parse_recording(std::string_view file);
/// The same with a file. \throws std::runtime_error also if it cannot be read
K8S_SD_EXPORT Recording read_recording(const std::string& path);

/// Options of a RecordingConnector.
struct RecordingOptions {
    /// Of a file, with its names; 2 KiB at least. It is full at 2 GiB of decompressed text, too.
    std::uint64_t max_bytes = std::uint64_t{256} << 20;
    /// So many former files are kept: FILE becomes FILE.1, FILE.1 becomes FILE.2. Zero: recording
    /// ends with the file. Otherwise a full file is followed by the next one. Each collection is
    /// listed again for it, so that each file can be replayed alone.
    unsigned former_files = 0;
    /// From one file to the next at least, for the sake of the server. If a file is full sooner,
    /// nothing is recorded in between. The first two files are an exception.
    Duration min_time_between_files = std::chrono::minutes(10);
    /// Replace names, label values and addresses, and leave out environment variables and command
    /// lines. Responses are requested in JSON. The originals are in `FILE.names`.
    bool anonymise = false;
    /// Called once, when recording ends early, with the reason. Any thread; must not throw.
    std::function<void(const std::string& why)> on_end{};
    /// Called when a file is full and recording goes on, with a line for the log. Any thread; must
    /// not throw.
    std::function<void(const std::string& line)> on_full{};
};

/// Connects with another connector, and records what API servers send. Set it as
/// Environment::connector; docs/guide/bug-reports.md has the format. Thread-safe.
///
/// The file contains requests and responses of GET requests for Kubernetes' APIs, and no others: no
/// token requests, no headers of requests with credentials, no Secrets, no cookies. Otherwise
/// responses are as the server sent them, unless RecordingOptions::anonymise is set. Only the owner
/// of the file may read it. Writing blocks the calling thread.
class K8S_SD_EXPORT RecordingConnector final : public Connector {
 public:
    /// \param inner  makes the connections \param clock  that of the environment
    /// \throws std::runtime_error if the file cannot be written, or max_bytes is too small
    RecordingConnector(std::shared_ptr<Connector> inner, std::shared_ptr<Clock> clock,
                       const std::string& file, RecordingOptions = {});
    /// Streams may outlive it; they record no more.
    ~RecordingConnector() override;

    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor, const ConnectTarget&) override;

 private:
    class Stream;

    const std::shared_ptr<Connector> inner_;
    const std::shared_ptr<RecordingWriter> writer_;
};

/// Plays a recording in place of all servers. A request gets the response recorded for the first
/// such request that has not been used yet, each part at its recorded time; a request without one
/// is never answered. A connection that failed fails again. The client of a later file had listed
/// before, so there the first list of a collection is its first recorded one, at once. Set it as
/// Environment::connector, with a ManualClock as Environment::clock and a seed. Thread-safe.
class K8S_SD_EXPORT ReplayConnector final : public Connector {
 public:
    /// The recording begins at the present time of the clock.
    ReplayConnector(Recording, std::shared_ptr<Clock> clock);
    ~ReplayConnector() override;

    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor, const ConnectTarget&) override;
    /// The number of requests so far that the recording does not contain.
    std::size_t unknown_requests() const noexcept;

 private:
    class Player;
    class Stream;

    const std::shared_ptr<Player> player_;
};

}  // namespace k8s_sd::inline v0::sim
