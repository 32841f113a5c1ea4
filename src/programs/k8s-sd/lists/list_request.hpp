#pragma once

#include "lists/list_body.hpp"
#include "lists/list_content.hpp"
#include "lists/list_selection.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd_program {

/// A reader's request to a job.
struct ListRequest {
    ListContent content{};
    ListSelection selection{};
    /// The maximum wait for the first complete list.
    std::chrono::nanoseconds first_list_timeout{};
    std::string known{};              ///< tags of known lists, in the format of If-None-Match
    std::chrono::nanoseconds wait{};  ///< the maximum wait for a list other than these
    /// True once the reader has disconnected: no response is needed. Null: unknown.
    std::shared_ptr<const std::atomic<bool>> gone{};
};

/// Why there is no list, or no new one.
enum class Refusal : std::uint8_t {
    none,        ///< there is a list, or the time was over
    incomplete,  ///< not yet
    limit,       ///< a limit is reached
    ended,       ///< the job was removed, or the program ends
};

/// A list, or the reason for its absence.
struct ListAnswer {
    ListBodyPtr body{};
    std::string refusal{};  ///< in words
    Refusal why = Refusal::none;
    std::string warning{};  ///< a possible mistake in the request, in words
};
using OnList = std::function<void(const ListAnswer&)>;

/// Whether the tags, in the format of If-None-Match, include the list's.
bool is_known(const ListBody&, std::string_view tags);

}  // namespace k8s_sd_program
