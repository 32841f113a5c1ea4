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

/// Reads a recording up to its first invalid byte. \throws std::runtime_error for a file without a
/// recording, or with more than 2 GiB of text
K8S_SD_EXPORT Recording parse_recording(std::string_view file);
/// The same with a file. \throws std::runtime_error also if it cannot be read
K8S_SD_EXPORT Recording read_recording(const std::string& path);

/// Options of a RecordingConnector.
struct RecordingOptions {
    /// Maximum size of a file together with its file of names, in bytes; at least 2 KiB. A file is
    /// also full at 2 GiB of decompressed text.
    std::uint64_t max_bytes = std::uint64_t{256} << 20;
    /// Number of full files to keep. A full FILE is renamed to FILE.1, FILE.1 to FILE.2, and
    /// recording continues in a new FILE. The client lists each collection again, so each file can
    /// be replayed alone. Zero: recording ends with the first full file.
    unsigned former_files = 0;
    /// Minimum time between the starts of two files: each new file costs the server new lists. If a
    /// file is full sooner, recording pauses. The second file always begins at once.
    Duration min_time_between_files = std::chrono::minutes(10);
    /// Replaces names, label values and addresses, and leaves out environment variables and command
    /// lines. Responses are requested in JSON. `FILE.names` has the originals.
    bool anonymise = false;
    /// Called at most once, if recording ends early, with the reason. On any thread; must not
    /// throw.
    std::function<void(const std::string& why)> on_end{};
    /// Called when a file is full and the next one begins, with a line for the log. On any thread;
    /// must not throw.
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
    /// Streams may outlive the connector; they record nothing more.
    ~RecordingConnector() override;

    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor, const ConnectTarget&) override;

 private:
    class Stream;

    const std::shared_ptr<Connector> inner_;
    const std::shared_ptr<RecordingWriter> writer_;
};

/// Plays a recording in place of all servers. A request gets the first unused response recorded for
/// an equal request, each part at its recorded time. A request without a recorded response is never
/// answered. A failed connection fails again. In the second and later files of a recording the
/// first list of a collection is answered at once, because the recorded client had listed before.
/// Set it as Environment::connector, with a ManualClock as Environment::clock and a seed.
/// Thread-safe.
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
