#include "cli/command_line.hpp"
#include "lists/meta_names.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using k8s_sd_program::MetaNames;

namespace {

std::string mistake_in(const std::string& text) {
    try {
        MetaNames names(text);
    } catch (const cli::UsageError& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("MetaNames: a star stands for any characters, none and many") {
    const auto matches = [](const std::string& pattern, const std::string& name) {
        return MetaNames(pattern).match(name);
    };
    CHECK(matches("__meta_a", "__meta_a"));
    CHECK_FALSE(matches("__meta_a", "__meta_ab"));
    CHECK_FALSE(matches("__meta_ab", "__meta_a"));
    CHECK(matches("__meta_a*", "__meta_a"));
    CHECK(matches("__meta_*_b", "__meta_a_b_b"));
    CHECK_FALSE(matches("__meta_ab*ba", "__meta_aba"));
    CHECK(matches("__meta_ab*ba", "__meta_abba"));
    CHECK(matches("*_pod_name", "__meta_kubernetes_pod_name"));
    CHECK(matches("__m*", "__meta_x"));
    CHECK(matches("__meta_x,__meta_y", "__meta_y"));
}

TEST_CASE("MetaNames: only labels of discovery are meant") {
    CHECK_FALSE(MetaNames("*").match("__address__"));
    CHECK_FALSE(MetaNames("*").match("team"));
    CHECK(MetaNames("*").match("__meta_"));
    CHECK_FALSE(MetaNames().match("__meta_a"));
    CHECK(MetaNames().empty());
}

TEST_CASE("MetaNames: equal choices are equal, however they are written") {
    CHECK(MetaNames("__meta_b,__meta_a,__meta_b") == MetaNames("__meta_a,__meta_b"));
    CHECK(MetaNames("__meta_b,__meta_a").text() == "__meta_a,__meta_b");
    CHECK(MetaNames("otel").text() == "otel");
    CHECK(MetaNames(MetaNames("otel").text()) == MetaNames("otel"));
    CHECK(MetaNames("otel").match("__meta_kubernetes_pod_controller_kind"));
    CHECK_FALSE(MetaNames("otel").match("__meta_kubernetes_pod_ip"));
}

TEST_CASE("MetaNames: what can match nothing is a mistake") {
    for (const std::string text :
         {"", "pod", "__meta_a,", ",__meta_a", "__address__", "x*", "__meta_a b", "__meta_\xC3\xA9",
          "__meta", "otel,__meta_a", "__meta_*a*"}) {
        CAPTURE(text);
        CHECK(mistake_in(text).find("names that begin with __meta_") != std::string::npos);
    }
    std::string many = "__meta_0";
    for (int i = 1; i < 64; ++i) many += ",__meta_" + std::to_string(i);
    CHECK(mistake_in(many).empty());
    CHECK(mistake_in(many + ",__meta_1").empty());
    CHECK(mistake_in(many + ",__meta_64").find("64 names at most") != std::string::npos);
    // Each reader's choice is remembered.
    const std::string prefix = "__meta_";
    CHECK(mistake_in(prefix + std::string(2048 - prefix.size(), 'a')).empty());
    CHECK(mistake_in(prefix + std::string(2049 - prefix.size(), 'a')) ==
          "the names are longer than 2048 bytes together; * stands for many");
}
