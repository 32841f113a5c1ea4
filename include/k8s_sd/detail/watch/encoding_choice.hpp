#pragma once

#include "k8s_sd/detail/codec/media_types.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// What a request accepts, best first: the values of `Accept` that client-go sends.
namespace accepted {

inline constexpr std::string_view json = json_media_type;
inline constexpr std::string_view protobuf =
    "application/vnd.kubernetes.protobuf,application/json;q=0.9";
// Nothing but the metadata, and all of it from a server that does not know that.
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

}  // namespace accepted

/// Which encoding a watcher asks its server for. When the server refuses it, or sends bytes that
/// cannot be decoded, that is plain JSON, and the first choice again with a list after an hour.
/// That time doubles up to a day as long as it fails. What comes is read by its content type,
/// whatever was asked for. A list that does not get through is asked for in the other encoding,
/// too.
class EncodingChoice {
 public:
    /// \param metadata_only  of the objects nothing else is wanted
    EncodingChoice(bool protobuf, bool metadata_only)
        : protobuf_(protobuf), metadata_only_(metadata_only) {}

    /// \param present_version  of the API; fields of older ones have other numbers
    /// \param other  than the usual encoding
    std::string_view accept(bool watching, bool present_version,
                            bool other = false) const noexcept {
        if (plain_ != other) return accepted::json;
        const bool protobuf = protobuf_ && present_version;
        if (!metadata_only_) return protobuf ? accepted::protobuf : accepted::json;
        if (watching)
            return protobuf ? accepted::protobuf_metadata_watch : accepted::json_metadata_watch;
        return protobuf ? accepted::protobuf_metadata_list : accepted::json_metadata_list;
    }
    /// Whether there are two to choose from.
    bool has_other() const noexcept { return protobuf_ || metadata_only_; }
    /// Before the first page of a list.
    void begin_list(TimePoint now) noexcept { plain_ = plain_ && now < plain_until_; }
    /// Another watch of the same kind has found out that the first choice is of no use until then.
    void be_plain_until(TimePoint until) noexcept {
        if (!has_other()) return;
        plain_ = true;
        plain_until_ = until;
    }
    /// What was asked for is not served. \returns false if there is nothing simpler to ask for
    bool fall_back(TimePoint now) noexcept {
        if (plain_ || !has_other()) return false;
        plain_ = true;
        plain_until_ = now + pause_;
        pause_ = std::min(2 * pause_, longest_pause);
        return true;
    }
    /// A list was read.
    void on_list() noexcept {
        if (!plain_) pause_ = shortest_pause;
    }
    /// A list was read in the other encoding, and not in the usual one.
    void take_other(TimePoint now) noexcept {
        if (!fall_back(now)) forget();
    }
    /// Until when plain JSON takes the place of the first choice; nothing: it does not.
    std::optional<TimePoint> plain_until() const noexcept {
        return plain_ ? std::optional(plain_until_) : std::nullopt;
    }
    /// The server is another one.
    void forget() noexcept {
        plain_ = false;
        pause_ = shortest_pause;
    }

 private:
    static constexpr Duration shortest_pause = std::chrono::hours(1);
    static constexpr Duration longest_pause = std::chrono::hours(24);

    bool protobuf_;
    bool metadata_only_;
    bool plain_ = false;  ///< plain JSON is asked for, and not the first choice
    TimePoint plain_until_{};
    Duration pause_ = shortest_pause;
};

}  // namespace k8s_sd::inline v0::detail
