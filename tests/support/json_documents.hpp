#pragma once

#include "k8s_sd/kind.hpp"
#include "support/decoding.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

/// Lists and events of pods, assembled from text.
namespace k8s_sd::test::json_documents {

inline std::string list(const std::string& items, const std::string& kind = "PodList") {
    return R"({"kind":")" + kind + R"(","metadata":{"resourceVersion":"100"},"items":[)" + items +
           "]}";
}
inline std::string event(const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
inline std::string meta(const std::string& name) {
    return R"("metadata":{"name":")" + name + R"(","namespace":"n","resourceVersion":"7"})";
}
inline std::string pod(const std::string& name, const std::string& more = "") {
    return "{" + meta(name) + (more.empty() ? "" : ",") + more + "}";
}
inline std::string many(std::size_t times, const std::string& text) {
    std::string all;
    all.reserve(times * text.size());
    while (times-- > 0) all += text;
    return all;
}
/// The result for an object between two good ones.
inline std::string between_neighbours(Kind kind, const std::string& object,
                                      DecodeOptions options = {}) {
    const std::string one = R"({"metadata":{"name":"one","namespace":"n"}})";
    const std::string two = R"({"metadata":{"name":"two","namespace":"n"}})";
    const std::string list_kind = std::string(resource_of(kind).kind) + "List";
    const Decoded decoded =
        decode_list(kind, list(one + "," + object + "," + two, list_kind), options);
    CHECK_FALSE(decoded.ec);
    CHECK(decoded.resource_version == "100");
    if (decoded.calls.size() != 3) return "not three calls";
    CHECK_THAT(decoded.calls[0], Catch::Matchers::StartsWith("added ") &&
                                     Catch::Matchers::ContainsSubstring("/one @"));
    CHECK_THAT(decoded.calls[2], Catch::Matchers::StartsWith("added ") &&
                                     Catch::Matchers::ContainsSubstring("/two @"));
    const Decoded watched = decode_watch(
        kind, event("ADDED", one) + event("ADDED", object) + event("ADDED", two), options);
    CHECK_FALSE(watched.ec);
    CHECK(watched.calls.size() == 3);
    return decoded.calls[1];
}

}  // namespace k8s_sd::test::json_documents
