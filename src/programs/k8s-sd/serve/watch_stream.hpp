#pragma once

#include "http/http_server.hpp"
#include "jobs/serve_metrics.hpp"
#include "jobs/served_job.hpp"
#include "k8s_sd/time.hpp"
#include "lists/list_request.hpp"
#include "lists/list_versions.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd_program {

/// The format of a stream's events.
enum class EventFormat : std::uint8_t {
    ndjson,  ///< one line of JSON each
    sse,     ///< Server-Sent Events, for browsers
};

/// The request of a reader.
struct Watch {
    std::shared_ptr<ServedJob> job;
    ListContent content{};
    ListSelection selection{};
    std::string after{};  ///< the reader's version; empty: none
    EventFormat format = EventFormat::ndjson;
    std::chrono::nanoseconds heartbeat{};
    std::chrono::milliseconds retry{};  ///< the delay of reconnects; for sse
    ListPoll poll{};                    ///< the reader
    http::HttpServer::Gone gone{};      ///< the reader has disconnected
};

/// A list and its changes, for one reader: first the whole list, then the changes since the last
/// event it has taken. Nothing is queued: a slow reader gets fewer, larger diffs. All readers share
/// the last sent list.
class WatchStream final : public http::HttpServer::Stream,
                          public std::enable_shared_from_this<WatchStream> {
 public:
    /// \param metrics  outlives it
    WatchStream(Watch, std::shared_ptr<ListVersions>, ServeMetrics& metrics);
    ~WatchStream() override { --metrics_.watch_readers; }
    WatchStream(const WatchStream&) = delete;
    WatchStream& operator=(const WatchStream&) = delete;

    void next(OnPiece) override;

 private:
    /// The event being sent: its own ends and a shared text.
    struct Event {
        std::string before;
        SharedText text;
        std::size_t taken = 0;  ///< bytes of the text
        std::string after;
        k8s_sd::TimePoint begun;
    };

    ListRequest request() const;
    k8s_sd::TimePoint now() const { return watch_.job->options().clock->now(); }
    void on_answer(const ListAnswer&);
    void send_list(const ListBodyPtr&);
    void send_heartbeat(const ListAnswer&);
    void send_end(const std::string& reason);
    void begin(std::string_view type, std::string json, SharedText text, std::string rest);
    http::HttpServer::Text piece();

    const Watch watch_;
    const std::shared_ptr<ListVersions> versions_;
    ServeMetrics& metrics_;
    std::string version_;  ///< the reader's version, as sent or as claimed by it
    ListBodyPtr sent_;     ///< of this version, if it is known
    bool begun_ = false;   ///< an event was sent
    bool end_ = false;     ///< no event follows
    Event event_;
};

}  // namespace k8s_sd_program
