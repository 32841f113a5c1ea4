#include "k8s_sd/detail/watch/form_choices.hpp"
#include "support/contains.hpp"
#include "support/objects.hpp"
#include "support/protobuf_documents.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace k8s_sd::test::protobuf_documents;
using namespace std::chrono_literals;
namespace accepted = k8s_sd::detail::accepted;

namespace {

using sim::Request;
using sim::Response;
using Texts = std::vector<std::string>;
using Names = std::set<std::string>;

Response answer(std::string body, unsigned status = 200,
                std::string type = "application/vnd.kubernetes.protobuf") {
    Response response;
    response.status = status;
    response.body = std::move(body);
    response.content_type = std::move(type);
    return response;
}

bool wants_protobuf(const Request& request) {
    return contains(std::string(*request.header("Accept")), "vnd.kubernetes.protobuf");
}

/// A server that answers in JSON by default, and a watch.
struct Encodings : Simulation {
    explicit Encodings(Kind kind = Kind::pod, WatchOptions options = plain_lists())
        : probe(*this, {kind, {}, {}, {}}, with_managed_fields(options)) {
        for (const char* name : {"a", "b"}) server.apply(pod({.name = name}));
    }
    /// Their parameter of Accept has tests of its own.
    static WatchOptions with_managed_fields(WatchOptions options) {
        options.drop_managed_fields = false;
        return options;
    }
    /// "LIST application/json" for each request since the last call.
    Texts take_accepted() {
        Texts texts;
        for (const sim::RequestRecord& record : server.requests()) {
            texts.push_back((record.request.is_watch() ? "WATCH " : "LIST ") +
                            std::string(*record.request.header("Accept")));
        }
        server.clear_requests();
        return texts;
    }
    /// Answers requests for protobuf with this function.
    void answer_protobuf(const std::function<std::optional<Response>(const Request&)>& respond) {
        server.set_intercept([respond](const Request& request) -> std::optional<Response> {
            return wants_protobuf(request) ? respond(request) : std::nullopt;
        });
    }
    std::uint64_t fallbacks() { return metrics->of(Kind::pod).json_fallbacks; }
    /// The text of the only line about the encoding.
    std::string fallback_line() {
        std::string found;
        for (const std::string& line : take_log()) {
            if (!contains(line, "plain JSON is used instead")) continue;
            CHECK(found.empty());
            found = line;
        }
        return found;
    }

    WatchProbe probe;
};

std::string in(std::string_view what, std::string_view encoding) {
    return std::string(what) + " " + std::string(encoding);
}

const Texts json_again{in("LIST", accepted::protobuf), in("LIST", accepted::json),
                       in("WATCH", accepted::json)};

}  // namespace

TEST_CASE("Encodings: protobuf is asked for, and JSON is taken where that comes") {
    Encodings f;
    f.server.set_intercept([](const Request& request) -> std::optional<Response> {
        if (!request.is_watch())
            return answer(R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[)"
                          R"({"metadata":{"name":"j","namespace":"n"}}]})",
                          200, "application/json; charset=utf-8");
        return Response::never();
    });
    f.probe.start();
    CHECK(f.take_accepted() ==
          Texts{in("LIST", accepted::protobuf), in("WATCH", accepted::protobuf)});
    CHECK(f.probe.names() == Names{"j"});
    CHECK(f.fallbacks() == 0);
    CHECK_FALSE(f.probe.status().error);
}

TEST_CASE("Encodings: a list and its events come in protobuf") {
    Encodings f;
    f.answer_protobuf([](const Request& request) -> std::optional<Response> {
        if (!request.is_watch())
            return answer(
                document("PodList", list({object(metadata("p")), object(metadata("q"))})));
        Response stream =
            answer(event("ADDED", document("Pod", object(metadata("r", "n", "101")))) +
                       event("DELETED", document("Pod", object(metadata("p", "n", "102")))) +
                       event("BOOKMARK", document("Pod", object(metadata("", "", "105")))),
                   200, "application/vnd.kubernetes.protobuf;stream=watch");
        stream.framing = Response::Framing::chunked;
        return stream;
    });
    f.probe.start();
    CHECK(f.probe.names() == Names{"q", "r"});
    CHECK(f.probe.status().resource_version == "105");
    CHECK(f.metrics->of(Kind::pod).bookmarks == 1);
    CHECK(f.fallbacks() == 0);
}

TEST_CASE("Encodings: without protobuf plain JSON is asked for") {
    WatchOptions options = plain_lists();
    options.protobuf = false;
    Encodings f(Kind::pod, options);
    f.probe.start();
    CHECK(f.take_accepted() == Texts{in("LIST", accepted::json), in("WATCH", accepted::json)});
}

TEST_CASE("Encodings: of kinds whose metadata is enough nothing else is asked for") {
    const Kind kind = GENERATE(Kind::namespace_, Kind::replicaset, Kind::job);
    WatchOptions options = plain_lists();
    SECTION("in protobuf") {
        Encodings f(kind, options);
        f.probe.start();
        CHECK(f.take_accepted() == Texts{in("LIST", accepted::protobuf_metadata_list),
                                         in("WATCH", accepted::protobuf_metadata_watch)});
    }
    SECTION("in JSON") {
        options.protobuf = false;
        Encodings f(kind, options);
        f.probe.start();
        CHECK(f.take_accepted() == Texts{in("LIST", accepted::json_metadata_list),
                                         in("WATCH", accepted::json_metadata_watch)});
    }
}

TEST_CASE("Encodings: metadata that comes in JSON in place of objects is as good") {
    Encodings f(Kind::namespace_);
    f.server.set_intercept([](const Request& request) -> std::optional<Response> {
        if (request.is_watch()) return Response::never();
        return answer(R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",)"
                      R"("metadata":{"resourceVersion":"1"},"items":[{"kind":)"
                      R"("PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)"
                      R"({"name":"shop"}}]})",
                      200, "application/json");
    });
    f.probe.start();
    CHECK(f.probe.names() == Names{"shop"});
}

TEST_CASE("Encodings: a server that refuses protobuf is asked for JSON at once, and remembered") {
    const unsigned status = GENERATE(406U, 415U);
    CAPTURE(status);
    Encodings f;
    f.answer_protobuf([status](const Request&) {
        return answer("only the following media types are accepted: application/json", status,
                      "text/plain");
    });
    f.probe.start();
    CHECK(f.take_accepted() == json_again);
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK_FALSE(f.probe.status().error);
    CHECK(f.fallbacks() == 1);
    CHECK(contains(f.fallback_line(), "HTTP " + std::to_string(status)));
    // Later lists and watches do not retry so soon.
    f.server.disconnect_all();
    f.advance(30s);
    for (const std::string& request : f.take_accepted()) CHECK_FALSE(contains(request, "protobuf"));
    CHECK(f.fallbacks() == 1);
}

TEST_CASE("Encodings: a watch alone may be refused") {
    Encodings f;
    f.answer_protobuf([](const Request& request) -> std::optional<Response> {
        if (request.is_watch()) return answer("no stream", 406, "text/plain");
        return answer(document("PodList", list({object(metadata("p"))}, "1")));
    });
    f.probe.start();
    CHECK(f.take_accepted() == Texts{in("LIST", accepted::protobuf),
                                     in("WATCH", accepted::protobuf), in("WATCH", accepted::json)});
    CHECK(f.fallbacks() == 1);
    CHECK_FALSE(f.probe.status().error);
}

TEST_CASE("Encodings: a body that is not the protobuf it claims to be is asked for in JSON") {
    const std::string broken = GENERATE(
        std::string(R"({"kind":"PodList","items":[]})"), std::string("k8s\0\x12\xFF\xFF", 7),
        document("PodList", list({object(metadata("p"))})).substr(0, 40) + std::string(40, '\xFF'));
    Encodings f;
    f.answer_protobuf([broken](const Request&) { return answer(broken); });
    f.probe.start();
    if (f.fallbacks() == 0) {
        // It may also look truncated, which is no evidence about the encoding.
        CHECK(f.probe.status().error == errc::truncated_response);
        return;
    }
    CHECK(f.take_accepted() == json_again);
    CHECK(f.probe.names() == Names{"a", "b"});
    CHECK(contains(f.fallback_line(), "protobuf"));
}

TEST_CASE("Encodings: an event that is not protobuf is followed by a watch in JSON") {
    Encodings f;
    f.answer_protobuf([](const Request& request) -> std::optional<Response> {
        if (request.is_watch())
            return answer(R"({"type":"ADDED","object":{}})"
                          "\n");
        return answer(document("PodList", list({object(metadata("p"))}, "1")));
    });
    f.probe.start();
    CHECK(f.take_accepted() == Texts{in("LIST", accepted::protobuf),
                                     in("WATCH", accepted::protobuf), in("WATCH", accepted::json)});
    CHECK(f.fallbacks() == 1);
}

TEST_CASE("Encodings: what is not served any better in JSON is a failure as ever") {
    Encodings f;
    f.server.set_intercept(
        [](const Request&) -> std::optional<Response> { return answer("no", 406, "text/plain"); });
    f.probe.start();
    CHECK(f.take_accepted() == Texts{in("LIST", accepted::protobuf), in("LIST", accepted::json)});
    CHECK(f.probe.status().error == errc::unexpected_status);
    f.advance(60s);
    const Texts later = f.take_accepted();
    const auto others = std::count_if(later.begin(), later.end(), [](const std::string& request) {
        return contains(request, "protobuf");
    });
    CHECK(others <= 3);  // it is tried like the other forms of the list
    CHECK(f.fallbacks() == 1);
    f.server.set_intercept({});
    f.advance(60s);
    CHECK(f.probe.names() == Names{"a", "b"});
}

TEST_CASE("Encodings: a refusal in protobuf says the same as in JSON") {
    Encodings in_json;
    in_json.server.set_intercept([](const Request&) -> std::optional<Response> {
        return Response::failure(403, "Forbidden", "pods is forbidden: no");
    });
    in_json.probe.start();
    Encodings f;
    f.answer_protobuf([](const Request&) {
        return answer(document("Status", Message()
                                             .text(2, "Failure")
                                             .text(3, "pods is forbidden: no")
                                             .text(4, "Forbidden")
                                             .number(6, 403)),
                      403);
    });
    f.probe.start();
    CHECK(f.probe.status().error == errc::forbidden);
    const auto words = [](const WatchStatus& status) {
        return status.message.substr(status.message.find("HTTP"));
    };
    CHECK(words(f.probe.status()) == words(in_json.probe.status()));
    CHECK(f.fallbacks() == 0);
}

TEST_CASE("Encodings: an error in the events of protobuf makes it list again") {
    Encodings f;
    int watches = 0;
    f.answer_protobuf([&](const Request& request) -> std::optional<Response> {
        if (!request.is_watch())
            return answer(document("PodList", list({object(metadata("p"))}, "1")));
        if (++watches > 1) return Response::never();
        return answer(event("ERROR", document("Status", Message()
                                                            .text(2, "Failure")
                                                            .text(3, "too old resource version")
                                                            .text(4, "Expired")
                                                            .number(6, 410))));
    });
    f.probe.start();
    CHECK(f.take_accepted() ==
          Texts{in("LIST", accepted::protobuf), in("WATCH", accepted::protobuf),
                in("LIST", accepted::protobuf), in("WATCH", accepted::protobuf)});
    CHECK(f.metrics->of(Kind::pod).expired == 1);
}

TEST_CASE("Encodings: older versions of an API are asked for in JSON") {
    Encodings f(Kind::endpointslice);
    f.server.set_served("endpointslices", {"v1beta1"});
    f.server.apply(slice("s", "svc", {}));
    f.probe.start();
    f.advance(10s);
    CHECK(f.probe.names() == Names{"s"});
    for (const sim::RequestRecord& record : f.server.requests()) {
        if (contains(record.request.path, "v1beta1")) CHECK_FALSE(wants_protobuf(record.request));
    }
}
