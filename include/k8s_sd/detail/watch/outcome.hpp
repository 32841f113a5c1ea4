#pragma once

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/net/response_head.hpp"
#include "k8s_sd/detail/watch/failure.hpp"
#include "k8s_sd/detail/watch/watch_machine.hpp"
#include "k8s_sd/kind.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// What a request is for.
enum class Purpose : std::uint8_t { list, probe, watch };

/// One request and its answer, as far as they decide what to do next.
struct Exchange {
    Kind kind = Kind::pod;
    std::string ns{};  ///< empty: all
    Purpose purpose = Purpose::list;
    /// The list comes as the first events of a watch; once it has, the purpose is that watch.
    bool streamed = false;
    bool hasty = false;               ///< another form of the list may be answered sooner
    Duration body_timeout{};          ///< silence allowed behind the head of a list; zero: no other
    bool has_position = false;        ///< a version or a continue token was sent
    bool gzip = false;                ///< the answer may be compressed
    bool sharded = false;             ///< a share was asked for, and not everything
    std::string credentials_problem;  ///< why older credentials were sent
    StreamRecord streams;             ///< of the watches before

    ResponseHead head;       ///< status 0: there was no answer
    bool readable = false;   ///< the body is a list or events, and there is a decoder for it
    bool served = false;     ///< of an answer 404: the server says that it has this API
    std::string error_text;  ///< the start of the body of an answer other than 200
    std::optional<ServerStatus> error_event;
    std::uint64_t events = 0;   ///< bookmarks too
    bool advanced = false;      ///< one of them had another version than was known
    std::size_t items = 0;      ///< of a list
    bool shrunken = false;      ///< the list that came with a watch is complete, and has lost much
    bool doubted = false;       ///< an object is older than the version the watch began with
    std::string old_version{};  ///< of a bookmark that is older than that
    std::string early_version{};  ///< of a probe that brings more than one object: it has told all
    bool mistyped = false;        ///< readable by its first byte, and not by its content type

    bool watching() const noexcept { return purpose == Purpose::watch; }
    bool streams_list() const noexcept { return streamed && purpose == Purpose::list; }
    /// Nothing that may follow changes what it means.
    bool has_told_all() const noexcept {
        return shrunken || !old_version.empty() || !early_version.empty();
    }
    /// Takes a part of a body that is not readable. \returns an error when it is enough.
    error_code add_error_text(std::string_view bytes);
};

/// How the exchange has ended.
struct ExchangeEnd {
    Failure failure{};                ///< of the connection or of the decoder; none: complete
    WatchMachine::PageListed page{};  ///< of a list that is complete
    error_code page_problem{};        ///< why it cannot belong to a list that ends
    bool shrunken = false;            ///< with this page the list is complete, and has lost much
    Duration life{};                  ///< since the head of the answer
    bool in_time = false;             ///< the watch ended when the server was asked to end it
};

/// What an exchange means.
struct Verdict {
    WatchMachine::Outcome outcome{};
    Failure failure{};  ///< counted if there is an error
    /// The failure is one for the status and a warning, too. Others happen every now and then.
    bool failed = false;
    /// The same request with other credentials may succeed.
    bool credentials_refused = false;
};

Verdict judge(const Exchange&, ExchangeEnd);

}  // namespace k8s_sd::inline v0::detail
