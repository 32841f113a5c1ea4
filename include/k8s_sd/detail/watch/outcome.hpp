#pragma once

#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/transport/response_head.hpp"
#include "k8s_sd/detail/watch/failure.hpp"
#include "k8s_sd/detail/watch/watch_machine.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"
#include "k8s_sd/kind.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The purpose of a request.
enum class Purpose : std::uint8_t { list, probe, watch };

/// The request of an exchange.
struct ExchangeRequest {
    Kind kind = Kind::pod;
    StreamRows streams;            ///< of the previous watches
    std::string_view ns{};         ///< of the query; empty: all namespaces
    Duration body_timeout{};       ///< idle timeout behind the head of a list; zero: the usual one
    RareText credentials_problem;  ///< why the request used older credentials
    Purpose purpose = Purpose::list;
    /// The list is the initial events of a watch; afterwards the purpose becomes `watch`.
    bool streamed = false;
    bool hasty = false;         ///< another form of the list may be answered sooner
    bool has_position = false;  ///< the request had a version or a continue token
    bool gzip = false;          ///< the response may be compressed
    bool sharded = false;       ///< the request was for a share only
    bool drops = false;         ///< the request was for objects without managedFields
};

/// Findings in a body that decide the outcome before its end.
struct BodyFindings {
    /// Of a bookmark older than the start version of the watch, or of a probe with several objects.
    /// Nothing more to read.
    RareText version{};
    bool suspicious = false;  ///< the streamed list is complete; confirm it
    bool doubted = false;     ///< an object is older than the start version of the watch
};

/// The response of an exchange, as far as it has arrived.
struct ExchangeResponse {
    ResponseHead head() const { return {fields ? *fields : ResponseFields(), status}; }

    /// Those of the head that may explain a failure; null: none of them.
    Rare<ResponseFields> fields;
    RareText error_text;  ///< the start of the body of a response other than 200
    Rare<ServerStatus> error_event;
    BodyFindings found{};       ///< in the body
    std::uint32_t events = 0;   ///< including bookmarks
    std::uint32_t items = 0;    ///< items of a list
    unsigned status = 0;        ///< 0: no response
    bool packed = false;        ///< the body is compressed
    bool protobuf = false;      ///< as its content type says
    bool readable = false;      ///< the body is a list or events in a known encoding
    bool served = false;        ///< after a 404: discovery lists this API
    bool advanced = false;      ///< an event had a new version
    bool too_many = false;      ///< objects: the rest is not read
    bool plain_stream = false;  ///< the streamed list is not compressed, as it has to be
    bool mistyped = false;      ///< readable by its first byte, but not by its content type
};

/// One request and its response, as far as they decide the next step.
struct Exchange : ExchangeRequest, ExchangeResponse {
    bool watching() const noexcept { return purpose == Purpose::watch; }
    bool streams_list() const noexcept { return streamed && purpose == Purpose::list; }
    /// Whether the outcome is final, so the rest of the body can be skipped.
    bool has_verdict() const noexcept { return found.suspicious || !found.version.empty(); }
    /// Collects a part of an unreadable body.
    /// \returns an error once there is enough
    error_code add_error_text(std::string_view bytes);
};

/// The end of an exchange.
struct ExchangeEnd {
    Failure failure{};                ///< of the connection or the decoder; none: complete
    WatchMachine::PageListed page{};  ///< of a complete list
    error_code page_problem{};        ///< why the page cannot belong to a finite list
    bool suspicious = false;          ///< this page completes a suspicious list
    Duration life{};                  ///< since the response head
    bool in_time = false;             ///< the watch ended at its requested timeout
};

/// The meaning of an exchange.
struct Verdict {
    WatchMachine::Outcome outcome{};
    Failure failure{};  ///< counted if it has an error
    /// The failure changes the status and is logged as a warning. Other failures are routine.
    bool failed = false;
    /// The server has just started and fills its caches: no failure in the first minute.
    bool starting = false;
    /// The same request may succeed with other credentials.
    bool credentials_refused = false;
};

Verdict judge(const Exchange&, ExchangeEnd);

}  // namespace k8s_sd::inline v0::detail
