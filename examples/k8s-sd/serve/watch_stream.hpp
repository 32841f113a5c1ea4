#pragma once

#include "jobs/bridge_metrics.hpp"
#include "jobs/served_job.hpp"
#include "k8s_sd/time.hpp"
#include "lists/list_request.hpp"
#include "lists/list_versions.hpp"
#include "support/http_server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bridge {

/// How the events of a stream are written.
enum class EventFormat : std::uint8_t {
    ndjson,  ///< a line of JSON each
    sse,     ///< Server-Sent Events, as browsers read them
};

/// What a reader watches.
struct Watch {
    std::shared_ptr<ServedJob> job;
    ListContent content{};
    Selection selection{};
    std::string after{};  ///< the version that the reader has; empty: none
    EventFormat format = EventFormat::ndjson;
    std::chrono::nanoseconds heartbeat{};
    std::chrono::milliseconds retry{};  ///< when to come back; for sse
    ListPoll poll{};                    ///< who it is
    support::HttpServer::Gone gone{};   ///< the reader is
};

/// A list and its changes, for one reader: first all of it, then what has changed since the reader
/// took the last event. Nothing is queued: a slow reader gets fewer, larger diffs.
/// What it holds of a list is shared by all readers: the one that was sent last.
class WatchStream final : public support::HttpServer::Stream,
                          public std::enable_shared_from_this<WatchStream> {
 public:
    /// \param metrics  outlives it
    WatchStream(Watch, std::shared_ptr<ListVersions>, BridgeMetrics& metrics);
    ~WatchStream() override { --metrics_.watch_readers; }
    WatchStream(const WatchStream&) = delete;
    WatchStream& operator=(const WatchStream&) = delete;

    void next(OnPiece) override;

 private:
    /// The event that the reader is taking: its ends, and a text that others share.
    struct Event {
        std::string before;
        SharedText text;
        std::size_t taken = 0;  ///< of the text
        std::string after;
        k8s_sd::TimePoint begun;
    };

    ListRequest request() const;
    k8s_sd::TimePoint now() const { return watch_.job->options().clock->now(); }
    void on_answer(const ListAnswer&);
    void tell_list(const ListBodyPtr&);
    void tell_heartbeat(const ListAnswer&);
    void tell_end(const std::string& reason);
    void begin(std::string_view type, std::string json, SharedText text, std::string rest);
    support::HttpServer::Text piece();

    const Watch watch_;
    const std::shared_ptr<ListVersions> versions_;
    BridgeMetrics& metrics_;
    std::string version_;  ///< that the reader has, or says that it has
    ListBodyPtr sent_;     ///< of this version, if it is known
    bool begun_ = false;   ///< something was sent
    bool end_ = false;     ///< nothing follows
    Event event_;
};

}  // namespace bridge
