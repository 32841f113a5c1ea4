#pragma once

#include "lists/list_body.hpp"
#include "lists/list_content.hpp"
#include "lists/selection.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace bridge {

/// What a reader asks of a job.
struct ListRequest {
    ListContent content{};
    Selection selection{};
    std::chrono::nanoseconds patience{};  ///< how long it waits for the first complete list
    std::string known{};                  ///< lists it has: tags, as If-None-Match tells them
    std::chrono::nanoseconds wait{};      ///< how long it waits for another list than these
    /// True as soon as the reader is gone: it need not be answered. Null: it never is.
    std::shared_ptr<const std::atomic<bool>> gone{};
};

/// Why there is no list, or no other one than the reader knows.
enum class Refusal : std::uint8_t {
    none,        ///< there is; or its time was over
    incomplete,  ///< not yet
    limit,       ///< too much is in use
    ended,       ///< the job is gone, or the program ends
};

/// A list, or why there is none.
struct ListAnswer {
    ListBodyPtr body{};
    std::string refusal{};  ///< in words
    Refusal why = Refusal::none;
    std::string warning{};  ///< what may be wrong with the request, in words
};
using OnList = std::function<void(const ListAnswer&)>;

/// Whether one of the tags, given as in If-None-Match, is that of the list.
bool is_known(const ListBody&, std::string_view tags);

}  // namespace bridge
