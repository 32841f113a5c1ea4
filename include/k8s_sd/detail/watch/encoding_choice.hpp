#pragma once

#include "k8s_sd/detail/codec/media_types.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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
        plain_until_ = now + pause_;
        pause_ = std::min(2 * pause_, max_pause);
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
    static constexpr Duration min_pause = std::chrono::hours(1);
    static constexpr Duration max_pause = std::chrono::hours(24);

    bool protobuf_;
    bool metadata_only_;
    bool plain_ = false;  ///< plain JSON replaces the first choice
    TimePoint plain_until_{};
    Duration pause_ = min_pause;
};

}  // namespace k8s_sd::inline v0::detail
