#pragma once

#include "k8s_sd/sim/recording.hpp"
#include "sim/recording/anonymiser.hpp"
#include "sim/recording/fast_gzip.hpp"
#include "sim/recording/recording_format.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The file of a recording, compressed, and those after it. Each part is flushed, so a recording of
/// a killed program is readable. Thread-safe.
///
/// A replay needs the list of each collection before its watch. So a watch that would be the first
/// request of its collection in a later file must be a list: see Request::expects_list.
class RecordingWriter {
 public:
    /// The exchange of a part, and its file.
    struct Place {
        std::uint64_t file = 0;    ///< number of the file
        std::uint64_t stream = 0;  ///< number of the connection
    };

    /// \param max_text  of a file, decompressed: no more can be replayed
    RecordingWriter(std::shared_ptr<Clock> clock, const std::string& path, RecordingOptions options,
                    std::uint64_t max_text = max_recorded_text);
    RecordingWriter(const RecordingWriter&) = delete;
    RecordingWriter& operator=(const RecordingWriter&) = delete;

    /// The replacements of the present file; null: names stay.
    std::shared_ptr<Anonymiser> names() const;
    bool is_anonymous() const noexcept { return options_.anonymise; }
    bool has_ended() const noexcept { return ended_; }
    /// The number of the present file.
    std::uint64_t file() const noexcept { return file_number_; }
    std::uint64_t next_stream();
    TimePoint now() const noexcept { return clock_->now(); }

    /// The beginning of an exchange.
    struct Request {
        Place place{};
        bool expects_list = false;  ///< not to be sent: the version has expired for this client
    };
    /// Begins an exchange with a server, or a new file with it if the present one is full.
    Request begin(std::uint64_t stream, const std::string& server, const CollectionRequest&);
    /// Whether a part for this place is recorded now. If not, none of its exchange will be.
    bool takes(const Place&);
    /// Adds a part. One for an earlier file is dropped.
    /// \param is_compressed  by the server: to do it again would only cost time
    void add(RecordedPart::Kind, const Place&, std::string_view text, bool is_compressed = false);
    void end();

 private:
    class NamesFile;

    /// Reports to the host, without the mutex.
    struct Report {
        std::string ended{};  ///< why the recording has ended
        std::string full{};   ///< how it goes on
    };

    /// The limit that a further part would exceed; empty: none.
    std::string limit_before(std::size_t part) const;
    void begin_file();
    /// Begins the next file, if the present one is full and it is time.
    void go_on(Report&);
    /// \param limit  in words
    void on_full(const std::string& limit, Report&);
    /// Notes a request for a collection. \returns whether it has to be a list
    bool follow_lists(const std::string& server, const CollectionRequest&);
    /// Whether the first list of a collection in this file goes on.
    bool is_listing() const;
    void report(const Report&) const;
    void finish(std::string_view line);
    bool write(std::string_view text, bool is_compressed = false);
    /// The text so far becomes readable in the file.
    bool flush();
    bool put(std::string_view bytes);

    const std::shared_ptr<Clock> clock_;
    const std::string path_;
    const RecordingOptions options_;
    const std::uint64_t max_text_;
    mutable std::mutex mutex_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::shared_ptr<Anonymiser> names_;
    std::shared_ptr<NamesFile> names_file_;  ///< with their originals; null: names stay
    FastGzip gzip_;
    TimePoint start_{};          ///< of the file
    std::uint64_t written_ = 0;  ///< bytes of the file
    std::uint64_t text_ = 0;     ///< their decompressed size
    std::uint64_t streams_ = 0;
    bool is_full_ = false;
    TimePoint next_file_at_{};  ///< not before
    int cut_lists_ = 0;         ///< files in a row that ended within a list
    /// A collection in the present file.
    struct Collection {
        bool is_listed = false;  ///< a list has begun
        bool is_asked_to_list = false;
        bool is_listing = false;   ///< the first list, or its rest, has had no next request
        bool is_streamed = false;  ///< the first list
        TimePoint list_began_at{};
    };
    std::map<std::string, Collection> collections_;  ///< by server, path and selectors
    std::atomic<std::uint64_t> file_number_ = 0;
    std::atomic<bool> ended_ = false;
};

}  // namespace k8s_sd::inline v0::sim
