#include "follow/list_check.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <random>
#include <string>

using k8s_sd_program::for_files;
using k8s_sd_program::is_list;

TEST_CASE("is_list: an array of groups of targets and labels, which are strings") {
    for (const char* list :
         {"[]", " [ ] \r\n\t", "[{}]", R"([{"targets":[]}])",
          R"([{"targets":["a:1","b:1"],"labels":{"x":"1","y":""}},{}])",
          R"([{"labels":{"targets":"\"]}","a\u0020":"\\"},"t\u0061rgets":[]}])"}) {
        INFO(list);
        CHECK(is_list(list));
    }
    for (const char* no_list : {"",
                                " ",
                                "null",
                                "{}",
                                "\"x\"",
                                "1",
                                "[",
                                "[]]",
                                "[] []",
                                "[]x",
                                "[[]]",
                                "[1]",
                                "[null]",
                                "[\"x\"]",
                                R"([{"targets":{}}])",
                                R"([{"targets":"a:1"}])",
                                R"([{"targets":[1]}])",
                                R"([{"targets":[null]}])",
                                R"([{"targets":[["a"]]}])",
                                R"([{"targets":[{}]}])",
                                R"([{"labels":[]}])",
                                R"([{"labels":{"a":1}}])",
                                R"([{"labels":{"a":true}}])",
                                R"([{"labels":{"a":{}}}])",
                                R"([{"labels":{"a":["x"]}}])",
                                R"([{"labels":{"":"x"}}])",
                                R"([{"source":"x"}])",
                                R"([{"targetsandmorethanthat":[]}])",
                                R"([{"":[]}])",
                                R"([{"targets":[],"targets":[]}])",
                                R"([{"targets":["a:1"]},])",
                                "<html>",
                                "[{}] // x"}) {
        INFO(no_list);
        CHECK_FALSE(is_list(no_list));
    }
}

TEST_CASE("is_list: no beginning of a list is one, and depth costs nothing") {
    const std::string list = R"([{"targets":["a:1"],"labels":{"x":"\u00e4"}},{"targets":[]}])";
    for (std::size_t size = 0; size < list.size(); ++size) {
        INFO(size);
        CHECK_FALSE(is_list(list.substr(0, size)));
    }
    CHECK(is_list(list));
    CHECK_FALSE(is_list(std::string(1'000'000, '[')));
}

TEST_CASE("is_list: what is damaged and still a list is one for another parser, too") {
    const std::string list = R"([{"targets":["a:1"],"labels":{"x":"y"}}])";
    std::mt19937 random(4);
    int lists = 0;
    for (int i = 0; i < 20'000; ++i) {
        std::string damaged = list;
        damaged[random() % damaged.size()] = static_cast<char>(random() % 256U);
        if (!is_list(damaged)) continue;
        ++lists;
        boost::system::error_code ec;
        const boost::json::value parsed = boost::json::parse(damaged, ec);
        INFO(damaged);
        REQUIRE_FALSE(ec);
        REQUIRE(parsed.is_array());
    }
    CHECK(lists > 100);
}

TEST_CASE("for_files: an agent's environment does not get into labels") {
    CHECK(for_files(R"([{"targets":["%{HOME}"]}])") == R"([{"targets":["\u0025{HOME}"]}])");
    CHECK(for_files(R"(["%%{%{\\%{%"])") == R"(["%\u0025{\u0025{\\\u0025{%"])");
    CHECK(for_files("[]") == "[]");
}
