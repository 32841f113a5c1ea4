#pragma once

#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/kind.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::test {

inline constexpr std::string_view json_type = "application/json";
inline constexpr std::string_view protobuf_type = "application/vnd.kubernetes.protobuf";

/// The result of a ListWatchReader for a body in any encoding: complete models.
struct ModelReading final : private detail::EventSink {
    struct Result {
        /// "added {model}", "bookmark @8", "error 410 Expired …", "bad n/p @9: …", "large …"
        std::vector<std::string> calls{};
        error_code ec{};
        std::string problem{}, resource_version{}, continue_token{}, shard_selector{};
        bool operator==(const Result&) const = default;
    };

    explicit ModelReading(Kind kind, std::size_t max_object_bytes = std::size_t{1} << 20);
    explicit ModelReading(const detail::KindSchema& schema,
                          std::size_t max_object_bytes = std::size_t{1} << 20)
        : reader(schema, max_object_bytes, *this) {}

    /// Copies each chunk, so that a sanitizer detects reads beyond its end.
    Result read(detail::Document document, std::string_view type, std::string_view body,
                std::size_t chunk = std::string::npos);

    detail::ListWatchReader reader;

 private:
    void on_object(detail::EventType type, const detail::DecodedObject& object) override;
    void on_bookmark(std::string_view version, bool list_ends) override;
    void on_error_event(const detail::ServerStatus& status) override;
    void on_bad_object(const detail::BadObject& bad) override;
    void add(std::string call) { result_.calls.push_back(std::move(call)); }

    Result result_;
};

}  // namespace k8s_sd::test
