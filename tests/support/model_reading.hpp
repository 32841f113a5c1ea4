#pragma once

#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "support/model_text.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
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

    explicit ModelReading(Kind kind, std::size_t max_object_bytes = std::size_t{1} << 20)
        : ModelReading(detail::schema_of(kind), max_object_bytes) {}
    explicit ModelReading(const detail::KindSchema& schema,
                          std::size_t max_object_bytes = std::size_t{1} << 20)
        : reader(schema, max_object_bytes, *this) {}

    /// Copies each chunk, so that a sanitizer detects reads beyond its end.
    Result read(detail::Document document, std::string_view type, std::string_view body,
                std::size_t chunk = std::string::npos) {
        result_ = {};
        reader.expect(document);
        if (!reader.choose_decoder(type)) throw std::logic_error("no decoder");
        while (!body.empty() && !result_.ec) {
            const std::string_view part = body.substr(0, chunk);
            body.remove_prefix(part.size());
            const std::vector<char> copy(part.begin(), part.end());
            result_.ec = reader.feed({copy.data(), copy.size()});
        }
        if (!result_.ec) result_.ec = reader.finish();
        result_.problem = reader.problem();
        if (!result_.ec) {
            result_.resource_version = reader.resource_version();
            result_.continue_token = reader.continue_token();
            result_.shard_selector = reader.shard_selector();
        }
        return result_;
    }

    detail::ListWatchReader reader;

 private:
    void on_object(detail::EventType type, const detail::DecodedObject& object) override {
        static constexpr const char* names[] = {"added ", "modified ", "deleted "};
        add(names[static_cast<int>(type)] + ModelText::of(object.kind, object.model));
    }
    void on_bookmark(std::string_view version, bool) override { add("bookmark @" + text(version)); }
    void on_error_event(const detail::ServerStatus& s) override {
        std::string causes;
        for (const auto& cause : s.causes)
            causes += " (" + cause.reason + ": " + cause.message + ")";
        add("error " + std::to_string(s.code) + " " + s.reason + ": " + s.message + " after " +
            std::to_string(s.retry_after_seconds) + causes);
    }
    void on_bad_object(const detail::BadObject& bad) override {
        add((bad.ec == errc::object_too_large ? "large " : "bad ") + text(bad.ns) + "/" +
            text(bad.name) + " @" + text(bad.resource_version) + ": " + text(bad.problem));
    }
    static std::string text(std::string_view view) { return std::string(view); }
    void add(std::string call) { result_.calls.push_back(std::move(call)); }

    Result result_;
};

}  // namespace k8s_sd::test
