#include "k8s_sd/detail/watch/short_verdict.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/error.hpp>
#include <string>
#include <variant>

namespace k8s_sd::detail {
namespace {

using Machine = WatchMachine;

const std::string pods =
    R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[)"
    R"({"metadata":{"name":"a","namespace":"shop","uid":"1","resourceVersion":"5"}}]})";

ShortRequest::Answer answered(unsigned status, std::string body = {}) {
    ShortRequest::Answer answer;
    answer.head.status = status;
    answer.head.content_type = "application/json";
    answer.body = std::move(body);
    return answer;
}

TEST_CASE("short verdict: a list of the kind is fine, whole or cut anywhere") {
    auto answer = answered(200, pods);
    CHECK_FALSE(verdict_on_list(answer, {}).failed);
    answer.cut = true;
    for (std::size_t size = 0; size < pods.size(); ++size) {
        CAPTURE(size);
        answer.body = pods.substr(0, size);
        CHECK_FALSE(verdict_on_list(answer, {}).failed);
    }
}

TEST_CASE("short verdict: a list that ends early, or is none, has failed with a reason") {
    const std::string body = GENERATE("", "<html>", R"({"kind":"PodList","items":[)", "{}x");
    const Verdict verdict = verdict_on_list(answered(200, body), {});
    CAPTURE(body, verdict.failure.message);
    CHECK(verdict.failed);
    CHECK(verdict.failure.ec);
    CHECK_FALSE(verdict.failure.message.empty());
}

TEST_CASE("short verdict: refusals are those of a watch") {
    const Purpose purpose = GENERATE(Purpose::list, Purpose::watch);
    const Verdict login = verdict_on_head(answered(401), {}, purpose);
    CHECK((login.failed && login.credentials_refused));
    const Verdict forbidden = verdict_on_head(answered(403), {}, purpose);
    CHECK((forbidden.failed && !forbidden.credentials_refused));
    const auto* failed = std::get_if<Machine::Failed>(&forbidden.outcome);
    REQUIRE(failed);
    CHECK(failed->cause == Machine::Cause::refused);
}

TEST_CASE("short verdict: without a response the error of the connection is the failure") {
    ShortRequest::Answer answer;
    answer.ec = asio::error::connection_refused;
    CHECK(verdict_on_head(answer, {}, Purpose::list).failure.message == answer.ec.message());
    answer.problem = "10.0.0.1:6443 refuses connections";
    for (const Verdict& verdict :
         {verdict_on_head(answer, {}, Purpose::list), verdict_on_list(answer, {})}) {
        CHECK(verdict.failed);
        CHECK(verdict.failure.message.find(answer.problem) != std::string::npos);
    }
}

}  // namespace
}  // namespace k8s_sd::detail
