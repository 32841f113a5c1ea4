#include "follow/follower.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

using k8s_sd_program::FollowedList;
using k8s_sd_program::ListSource;
using std::chrono::milliseconds;
namespace fs = std::filesystem;

namespace {

/// Follows a list and writes it into a folder.
class Followed {
 public:
    Followed() {
        std::string name = fs::temp_directory_path() / "k8s-sd-XXXXXX";
        REQUIRE(::mkdtemp(name.data()));
        path = name;
        folder.emplace(path);
        source.name = "pods";
        source.url = "http://x/sd/pods";
        list.emplace(
            *folder, source, milliseconds(7'000),
            [this](const std::string& text) { received.push_back(text); }, metrics);
    }
    ~Followed() { fs::remove_all(path); }
    Followed(const Followed&) = delete;
    Followed& operator=(const Followed&) = delete;

    std::string file() const {
        std::ifstream in(path / "pods.json", std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    fs::path path;
    std::optional<k8s_sd_program::TargetFolder> folder;
    ListSource source;
    k8s_sd_program::FileMetrics metrics;
    std::vector<std::string> received;
    std::optional<FollowedList> list;
};

}  // namespace

TEST_CASE("FollowedList: a file that others remove or change is written again") {
    Followed followed;
    const auto unchanged = [&] {
        return followed.list->use({304, "\"a\"", "", true, milliseconds(60'000)});
    };
    followed.list->use({200, "\"a\"", "[]"});
    unchanged();
    CHECK(followed.list->tag() == "\"a\"");
    for (const bool removed : {true, false}) {
        if (removed) {
            fs::remove(followed.path / "pods.json");
        } else {
            std::ofstream(followed.path / "pods.json") << "{}";
        }
        CHECK(unchanged() == milliseconds(0));
        CHECK(followed.list->tag().empty());
        CHECK(followed.list->use({200, "\"a\"", "[]"}) == milliseconds(250));
        CHECK(followed.file() == "[]");
        CHECK(followed.list->tag() == "\"a\"");
    }
    CHECK(followed.received.empty());
}

TEST_CASE("FollowedList: what is new is written, and the next change is waited for soon") {
    Followed followed;
    CHECK(followed.list->use({200, "\"a\"", "[]"}) == milliseconds(250));
    CHECK(followed.list->tag() == "\"a\"");
    CHECK(followed.file() == "[]");
    CHECK(followed.list->use({200, "\"b\"", R"([{"targets":["%{X}"]}])", true}) ==
          milliseconds(250));
    CHECK(followed.file() == R"([{"targets":["\u0025{X}"]}])");
    CHECK(followed.list->use({304, "\"b\"", "", true, milliseconds(60'000)}) == milliseconds(0));
    CHECK(followed.received.empty());
}

TEST_CASE("FollowedList: a server that does not wait is asked at an interval") {
    Followed followed;
    // Without a tag, also if the bytes differ each time.
    CHECK(followed.list->use({200, "", "[]"}) == milliseconds(7'000));
    CHECK(followed.list->use({200, "", "[]"}) == milliseconds(7'000));
    CHECK(followed.list->use({200, "", "[  ]"}) == milliseconds(7'000));
    // With a tag, but without long polls, however long a response takes.
    followed.list->use({200, "\"a\"", "[ ]"});
    for (const auto took : {milliseconds(1), milliseconds(1'050)}) {
        CHECK(followed.list->use({304, "\"a\"", "", false, took}) == milliseconds(7'000));
    }
    CHECK(followed.list->use({304, "\"a\"", "", true, milliseconds(1)}) == milliseconds(7'000));
    CHECK(followed.list->use({200, "\"b\"", "[]"}) == milliseconds(7'000));
}

TEST_CASE("FollowedList: an invalid list leaves the file, and is reported once") {
    Followed followed;
    followed.list->use({200, "\"a\"", "[]"});
    const auto fail = [&](unsigned status, const std::string& body) {
        const milliseconds pause = followed.list->use({status, "\"x\"", body});
        CHECK(pause >= milliseconds(500));
        CHECK(followed.file() == "[]");
        CHECK(followed.list->tag() == "\"a\"");
    };
    fail(503, "not yet\nmore");
    fail(503, "not yet\nmore");
    REQUIRE(followed.received.size() == 1);
    CHECK(followed.received[0] == "http://x/sd/pods: status 503: not yet; the file is unchanged");
    fail(404, "\x1b[2Jthere is no job");
    REQUIRE(followed.received.size() == 2);
    CHECK(followed.received[1] ==
          "http://x/sd/pods: status 404: ?[2Jthere is no job; the file is unchanged");
    for (const char* body : {"", "null", "[", "<html>"}) fail(200, body);
    CHECK(followed.received.size() == 3);
    CHECK(followed.list->fail("end of stream") >= milliseconds(500));
    CHECK(followed.received.size() == 4);
    followed.list->use({304, "\"a\"", ""});
    fail(503, "not yet");
    CHECK(followed.received.size() == 5);
}

TEST_CASE("FollowedList: 304 for a list that is not there is a failure") {
    Followed followed;
    CHECK(followed.list->use({304, "\"a\"", ""}) >= milliseconds(500));
    CHECK(followed.received.size() == 1);
}

TEST_CASE("FollowedList: what could not be written is asked for again") {
    Followed followed;
    fs::create_directory(followed.path / "pods.json");
    CHECK(followed.list->use({200, "\"a\"", "[]"}) >= milliseconds(500));
    CHECK(followed.list->tag().empty());
    fs::remove(followed.path / "pods.json");
    followed.list->use({200, "\"a\"", "[]"});
    CHECK(followed.file() == "[]");
    CHECK(followed.list->tag() == "\"a\"");
}
