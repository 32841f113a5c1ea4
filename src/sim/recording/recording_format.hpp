#pragma once

#include "k8s_sd/sim/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The first line of a recording.
inline constexpr std::string_view recording_head = "k8s_sd recording 1\n";
/// The last lines of one: as planned, or as it reached its limit.
inline constexpr std::string_view recording_complete = "end complete\n";
inline constexpr std::string_view recording_full = "end full\n";

/// Bytes of the text of a file, as a small hostile file can have any decompressed size. A writer
/// ends the file before.
inline constexpr std::uint64_t max_recorded_text = std::uint64_t{2} << 30;
/// The decompressed bytes of a file up to the first error. \throws std::runtime_error if they are
/// more
std::string recorded_text(std::string_view file, std::uint64_t max_text = max_recorded_text);

/// The line with kind, stream, microseconds and size of a part. The text and a line end follow it.
std::string line_of(RecordedPart::Kind, std::uint64_t stream, Duration time, std::size_t size);

/// The text up to its first line end.
std::string_view first_line(std::string_view text);
/// Whether these names of headers are equal: case does not count.
bool equal_names(std::string_view, std::string_view);

/// Whether the request is for Kubernetes' own objects and discovery documents, without Secrets.
bool is_recorded(std::string_view request);
/// Whether the response lists groups, versions or resources of the API, and no objects.
bool is_for_documents(std::string_view request);
/// The request line, and the headers that decide the form of the response.
std::string harmless_request(std::string_view request);

/// Requests with equal keys get equal responses: method, path, and the parameters in order, without
/// `timeoutSeconds`, which the library draws by lot.
std::string request_key(std::string_view request);

/// The collection of a request, and the purpose of the request there.
struct CollectionRequest {
    enum class Purpose : std::uint8_t {
        list,           ///< the beginning of a LIST
        streamed_list,  ///< the initial events of a watch
        watch,          ///< from a version
        page,           ///< a further page of a list
        other,          ///< a probe, or no collection
    };
    std::string prefix{};      ///< of the server's URL
    std::string collection{};  ///< path and selectors: equal in all its requests
    Purpose purpose = Purpose::other;
    bool has_version = false;  ///< other than "0": the client has listed before

    bool lists() const noexcept {
        return purpose == Purpose::list || purpose == Purpose::streamed_list;
    }
};
CollectionRequest collection_request(std::string_view request);

}  // namespace k8s_sd::inline v0::sim
