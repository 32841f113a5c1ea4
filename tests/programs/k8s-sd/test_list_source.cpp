#include "cli/command_line.hpp"
#include "follow/list_source.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using k8s_sd_program::ListSource;
using k8s_sd_program::read_list_source;

TEST_CASE("read_list_source: takes a URL apart, and names the list after its job") {
    const ListSource a = read_list_source("http://k8s-sd:8080/sd/pods/targets?shard=1&shards=2#x");
    CHECK_FALSE(a.tls);
    CHECK(a.host == "k8s-sd");
    CHECK(a.port == "8080");
    CHECK(a.target == "/sd/pods/targets?shard=1&shards=2");
    CHECK(a.name == "pods");
    const ListSource b = read_list_source("https://[fd00::1]/sd/serviceMonitor%2Fns%2Fx");
    CHECK(b.tls);
    CHECK(b.host == "fd00::1");
    CHECK(b.port == "443");
    CHECK(b.name == "serviceMonitor/ns/x");
    const ListSource c = read_list_source("shop=http://10.0.0.1?a=b");
    CHECK(c.name == "shop");
    CHECK(c.host == "10.0.0.1");
    CHECK(c.port == "80");
    CHECK(c.target == "/?a=b");
    CHECK(c.url == "http://10.0.0.1?a=b");
}

TEST_CASE("read_list_source: refuses what is no URL of a list") {
    for (const char* bad : {"",
                            "k8s-sd/sd/pods",
                            "ftp://x/y",
                            "http://",
                            "http:///sd/pods",
                            "http://x",
                            "http://x/",
                            "http://x:0/a",
                            "http://x:65536/a",
                            "http://x:/a",
                            "http://x:8o/a",
                            "http://u:p@x/a",
                            "http://u@x/a",
                            "http://[::1/a",
                            "http://[::1]x/a",
                            "http://[]/a",
                            "http://x/a b",
                            "http://x/a\r\nX: y",
                            "http://x/%zz",
                            "=http://x/"}) {
        INFO(bad);
        CHECK_THROWS_AS(read_list_source(bad), cli::UsageError);
    }
}
