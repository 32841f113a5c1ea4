#include "cli/event_log.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <random>
#include <string>

using support::LogFormat;

namespace {

constexpr auto noon = "2026-01-02T12:00:00.000Z";

support::EventLine job_event(std::string_view text) {
    return {
        k8s_sd::LogLevel::info, "k8s-sd", "job_complete", text, {{"job", "a b"}, {"targets", 3}}};
}

}  // namespace

TEST_CASE("log_lines: as text each line has the time and the program") {
    CHECK(log_lines(LogFormat::text, noon, job_event("one\ntwo\x1b\n")) ==
          std::string(noon) + " k8s-sd: one\n" + noon + " k8s-sd: two" +
              log_lines(LogFormat::text, "", {k8s_sd::LogLevel::info, "", "", "\x1b"}).substr(2));
    CHECK(log_lines(LogFormat::text, "", job_event("one")) == "k8s-sd: one\n");
}

TEST_CASE("log_lines: as JSON an event is one line with stable keys") {
    CHECK(log_lines(LogFormat::json, noon, job_event("one\ntwo\n")) ==
          R"({"time":"2026-01-02T12:00:00.000Z","level":"info","program":"k8s-sd",)"
          R"("msg":"one\ntwo","event":"job_complete","job":"a b","targets":3})"
          "\n");
    CHECK(log_lines(LogFormat::json, "", {k8s_sd::LogLevel::error, "p", "end", "x"}) ==
          "{\"level\":\"error\",\"program\":\"p\",\"msg\":\"x\",\"event\":\"end\"}\n");
}

TEST_CASE("log_lines: logfmt quotes where a reader would split") {
    CHECK(log_lines(LogFormat::logfmt, "", job_event("say \"a=b\"\nthen")) ==
          R"(level=info program=k8s-sd msg="say \"a=b\"\nthen" event=job_complete )"
          R"(job="a b" targets=3)"
          "\n");
    CHECK(log_lines(LogFormat::logfmt, "", {k8s_sd::LogLevel::warning, "p", "end", ""}) ==
          "level=warning program=p msg=\"\" event=end\n");
}

TEST_CASE("log_lines: any bytes are one line, and valid JSON") {
    std::mt19937 random(1);
    for (int round = 0; round < 1000; ++round) {
        std::string text;
        for (auto i = random() % 12; i > 0; --i) text += static_cast<char>(random() % 256);
        const support::EventLine event{k8s_sd::LogLevel::info, "p", "end", text, {{"job", text}}};
        const std::string as_json = log_lines(LogFormat::json, noon, event);
        CHECK(as_json.find('\n') == as_json.size() - 1);
        CHECK(boost::json::parse(as_json).as_object().size() == 6);
        const std::string as_logfmt = log_lines(LogFormat::logfmt, noon, event);
        CHECK(as_logfmt.find('\n') == as_logfmt.size() - 1);
    }
}
