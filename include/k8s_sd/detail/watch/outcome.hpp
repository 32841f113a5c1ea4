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

/// A watch that has lived for this long works, even if nothing has happened yet.
constexpr Duration proof_of_life = std::chrono::seconds(1);

/// One request and its answer, as far as they decide what to do next.
struct Exchange {
    Kind kind = Kind::pod;
    bool watching = false;
    bool has_position = false;        ///< a version or a continue token was sent
    std::string credentials_problem;  ///< why older credentials were sent

    ResponseHead head;       ///< status 0: there was no answer
    bool readable = false;   ///< the body is a list or events, and there is a decoder for it
    std::string error_text;  ///< the start of the body of an answer other than 200
    std::optional<ServerStatus> error_event;
    std::uint64_t events = 0;  ///< bookmarks too

    /// Takes a part of a body that is not readable. \returns an error when it is enough.
    error_code add_error_text(std::string_view bytes);
};

/// How the exchange has ended.
struct ExchangeEnd {
    Failure failure{};                ///< of the connection or of the decoder; none: complete
    WatchMachine::PageListed page{};  ///< of a list that is complete
    Duration lived{};                 ///< since the request was sent
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
