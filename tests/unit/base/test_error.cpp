#include "k8s_sd/error.hpp"
#include "k8s_sd/logger.hpp"

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd {
namespace {

TEST_CASE("errc: every condition has a message of its own") {
    std::set<std::string> messages;
    const int last = static_cast<int>(errc::ping_timeout);
    for (int value = 1; value <= last; ++value) messages.insert(category().message(value));
    CHECK(messages.size() == static_cast<std::size_t>(last));
    CHECK_FALSE(messages.contains(category().message(0)));
    CHECK(category().message(last + 1) == category().message(-1));
}

TEST_CASE("errc: converts to an error code of the category k8s_sd") {
    const error_code code = errc::forbidden;
    CHECK(code);
    CHECK(code == errc::forbidden);
    CHECK(code != errc::unauthorized);
    CHECK(std::string(code.category().name()) == "k8s_sd");
    CHECK(code.message() == "the credentials lack a permission (403)");
    CHECK(code != error_code(code.value(), boost::system::system_category()));
}

TEST_CASE("Logger: passes on what the level allows") {
    std::vector<std::pair<LogLevel, std::string>> lines;
    Logger logger;
    logger.write = [&](LogLevel level, std::string_view text) { lines.emplace_back(level, text); };

    logger.level = LogLevel::info;
    logger.log(LogLevel::error, LogEvent::watch_failed, "a");
    logger.log(LogLevel::info, LogEvent::watch_failed, "b");
    logger.log(LogLevel::debug, LogEvent::watch_failed, "c");
    logger.log(LogLevel::off, LogEvent::watch_failed, "d");
    CHECK(lines == std::vector<std::pair<LogLevel, std::string>>{{LogLevel::error, "a"},
                                                                 {LogLevel::info, "b"}});
    lines.clear();
    logger.level = LogLevel::off;
    logger.log(LogLevel::error, LogEvent::watch_failed, "a");
    CHECK(lines.empty());
}

TEST_CASE("Logger: a record has the line in its parts, beside the text and without it") {
    std::vector<std::string> lines;
    std::vector<LogRecord> records;
    Logger logger;
    logger.write_record = [&](const LogRecord& record) { records.push_back(record); };
    logger.log({LogLevel::warning, LogEvent::targets_limited, "no permission", Kind::pod, "shop",
                errc::forbidden});
    logger.log(LogLevel::debug, LogEvent::watch_failed, "not enabled");
    REQUIRE(records.size() == 1);
    CHECK(records[0].level == LogLevel::warning);
    CHECK(records[0].event == LogEvent::targets_limited);
    CHECK(records[0].text == "no permission");
    CHECK(records[0].kind == Kind::pod);
    CHECK(records[0].ns == "shop");
    CHECK(records[0].error == errc::forbidden);
    logger.write = [&](LogLevel, std::string_view text) { lines.emplace_back(text); };
    logger.log(LogLevel::error, LogEvent::watch_failed, "both");
    CHECK(lines == std::vector<std::string>{"both"});
    REQUIRE(records.size() == 2);
    CHECK_FALSE(records[1].kind);
    CHECK_FALSE(records[1].error);
}

TEST_CASE("Logger: without a sink writes one line to standard error, whatever the text") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const int standard_error = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    Logger().log(LogLevel::warning, LogEvent::watch_failed, "first\nk8s_sd: error: forged\x1b[0m");
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    close(ends[1]);
    char text[200];
    const auto size = read(ends[0], text, sizeof text);
    close(ends[0]);
    REQUIRE(size > 0);
    CHECK(std::string(text, static_cast<std::size_t>(size)) ==
          "k8s_sd: warning: first k8s_sd: error: forged [0m\n");
}

TEST_CASE("LogLevel: has the names of --log-level") {
    CHECK(to_string(LogLevel::off) == "off");
    CHECK(to_string(LogLevel::error) == "error");
    CHECK(to_string(LogLevel::warning) == "warning");
    CHECK(to_string(LogLevel::info) == "info");
    CHECK(to_string(LogLevel::debug) == "debug");
}

}  // namespace
}  // namespace k8s_sd
