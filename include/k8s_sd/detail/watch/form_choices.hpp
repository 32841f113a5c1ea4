#pragma once

#include "k8s_sd/detail/base/small_count.hpp"
#include "k8s_sd/detail/codec/media_types.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Values of the `Accept` header in order of preference, as client-go sends them.
namespace accepted {

inline constexpr std::string_view json = json_media_type;
inline constexpr std::string_view protobuf =
    "application/vnd.kubernetes.protobuf,application/json;q=0.9";
// Metadata only; a server without support for it sends whole objects.
inline constexpr std::string_view json_metadata_list =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
inline constexpr std::string_view json_metadata_watch =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
inline constexpr std::string_view protobuf_metadata_list =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
inline constexpr std::string_view protobuf_metadata_watch =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/// The same without managedFields (KEP-5958): a parameter of each media range.
inline std::string without_managed_fields(std::string_view accept) {
    std::string text;
    while (true) {
        const std::string_view range = accept.substr(0, accept.find(','));
        const std::string_view type = range.substr(0, range.find(';'));
        ((text += type) += ";drop=metadata.managedFields") += range.substr(type.size());
        if (range.size() == accept.size()) return text;
        text += ',';
        accept.remove_prefix(range.size() + 1);
    }
}

}  // namespace accepted

/// The encoding a watcher requests. After a 406 or 415, or a body the decoder rejects, the watcher
/// requests plain JSON, and returns to its first choice with a list an hour later. Each further
/// failure doubles this pause, up to a day. The response is decoded by its content type, not by the
/// request. A list that fails in one encoding is requested in the other one, too.
class EncodingChoice {
 public:
    /// \param metadata_only  request the metadata of the objects only
    EncodingChoice(bool protobuf, bool metadata_only)
        : protobuf_(protobuf), metadata_only_(metadata_only) {}

    /// \param present_version  the API version is current; older ones use other field numbers
    /// \param other  request the encoding other than the usual one
    std::string_view accept(bool watching, bool present_version,
                            bool other = false) const noexcept {
        if (is_fallback(other)) return accepted::json;
        const bool protobuf = protobuf_ && present_version;
        if (!metadata_only_) return protobuf ? accepted::protobuf : accepted::json;
        if (watching)
            return protobuf ? accepted::protobuf_metadata_watch : accepted::json_metadata_watch;
        return protobuf ? accepted::protobuf_metadata_list : accepted::json_metadata_list;
    }
    /// Whether the same arguments lead to plain JSON in place of the first choice.
    bool is_fallback(bool other) const noexcept { return plain_ != other; }
    /// Whether there is a second encoding.
    bool has_other() const noexcept { return protobuf_ || metadata_only_; }
    /// Call before the first page of a list.
    void begin_list(TimePoint now) noexcept { plain_ = plain_ && now < plain_until_; }
    /// Another watch of the same kind has seen the first choice fail: use plain JSON until then.
    void be_plain_until(TimePoint until) noexcept {
        if (!has_other()) return;
        plain_ = true;
        plain_until_ = until;
    }
    /// The server does not serve the requested encoding.
    /// \returns false if there is no simpler one
    bool fall_back(TimePoint now) noexcept {
        if (plain_ || !has_other()) return false;
        plain_ = true;
        plain_until_ = now + std::chrono::hours(pause_);
        pause_ = std::min<std::uint8_t>(2 * pause_, max_pause);
        return true;
    }
    /// A list is complete.
    void on_list() noexcept {
        if (!plain_) pause_ = min_pause;
    }
    /// A list succeeded in the other encoding after the usual one had failed.
    void take_other(TimePoint now) noexcept {
        if (!fall_back(now)) forget();
    }
    /// When the first choice is tried again; nullopt: it is in use.
    std::optional<TimePoint> plain_until() const noexcept {
        return plain_ ? std::optional(plain_until_) : std::nullopt;
    }
    /// The API server has changed.
    void forget() noexcept {
        plain_ = false;
        pause_ = min_pause;
    }

 private:
    // In hours.
    static constexpr std::uint8_t min_pause = 1;
    static constexpr std::uint8_t max_pause = 24;

    bool protobuf_;
    bool metadata_only_;
    bool plain_ = false;  ///< plain JSON replaces the first choice
    std::uint8_t pause_ = min_pause;
    TimePoint plain_until_{};
};

/// Whether a response with this status is about the resource, its version or a permission, not
/// about the form of the response.
constexpr bool has_other_objections(unsigned status) noexcept {
    return status == 403 || status == 404 || status == 405 || status == 410 || status == 422;
}

/// Chooses whether to request objects without managedFields. API servers ignore parameters of
/// Accept that they do not know; a proxy may refuse them. Then the watcher repeats the request
/// without the parameter at once. If that fails as well, the parameter is not the cause.
class DropChoice {
 public:
    /// Whether to send the parameter to a server not known to refuse it.
    bool sends() const noexcept { return !without_; }

    /// A request has succeeded.
    /// \param with  the request had the parameter
    /// \returns whether the server appears to refuse the parameter
    bool on_success(bool with) noexcept {
        tested_ = false;
        return std::exchange(without_, false) && !with;
    }
    /// A request has failed.
    /// \param status  of the response; 0: none
    /// \returns whether to repeat the request without the parameter at once
    bool on_failure(bool with, unsigned status) noexcept {
        if (!may_be_about_accept(status)) return false;
        if (!with) without_ = false;
        if (!with || std::exchange(tested_, true)) return false;
        without_ = true;
        return true;
    }
    /// Whether the response to a request without the parameter, although a failure, shows that the
    /// server refuses the parameter: it has other objections now. Errors about credentials and load
    /// show nothing.
    bool shows_refusal(bool with, unsigned status) const noexcept {
        return without_ && !with && has_other_objections(status);
    }
    /// The API server has changed.
    void forget() noexcept { *this = {}; }

 private:
    static constexpr bool may_be_about_accept(unsigned status) noexcept {
        return status == 400 || status == 406 || status == 415;
    }

    bool without_ = false;  ///< the next request has no parameter
    bool tested_ = false;   ///< such a request was made since the last success
};

/// Whether `objects` objects, all inside a share with `fraction` of all hashes, prove server-side
/// filtering. Without it, the chance of this result is at most one in a million.
inline bool shows_shard(double fraction, std::size_t objects) {
    return std::pow(fraction, static_cast<double>(objects)) <= 1e-6;
}

/// Chooses between a request for a share and one for everything. If the server refuses the first
/// request for a share, the watcher requests everything at once. A server with an earlier success
/// may fail once for other reasons. If the unrestricted request fails as well, the parameter may
/// not be the cause: the two alternate until one succeeds.
class ShareChoice {
 public:
    /// Whether to send the parameter to a server not known to refuse it.
    bool sends() const noexcept { return !without_; }

    /// A request has succeeded.
    /// \param with  the request had the parameter
    /// \returns whether the server appears to refuse the parameter
    bool on_success(bool with) noexcept {
        failures_.reset();
        const bool refused = std::exchange(without_, false) && !with;
        accepted_ = with || (accepted_ && !refused);
        return refused;
    }
    /// A request has failed.
    /// \param status  of the response; 0: none
    /// \returns whether to repeat the request without the parameter at once
    bool on_failure(bool with, unsigned status) noexcept {
        if (!with) without_ = false;
        if (!with || !may_be_about_parameters(status)) return false;
        ++failures_;
        without_ = !accepted_ || failures_ > 1;
        return !accepted_ && failures_ == 1;
    }
    /// The API server has changed.
    void forget() noexcept { *this = {}; }

 private:
    /// Excludes errors about credentials, paths, encodings, versions and load.
    static constexpr bool may_be_about_parameters(unsigned status) noexcept {
        switch (status) {
            case 401:
            case 404:
            case 406:
            case 408:
            case 410:
            case 415:
            case 429:
            case 502:
            case 503:
            case 504: return false;
            default: return status >= 400;
        }
    }

    bool accepted_ = false;
    bool without_ = false;  ///< the next request is for everything
    SmallCount failures_;   ///< of requests for the share, since the last success
};

}  // namespace k8s_sd::inline v0::detail
