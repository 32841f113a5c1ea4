// What a recording without names keeps, and what it replaces.

#include "sim/recording/anonymiser.hpp"
#include "sim/recording/response_filter.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

using k8s_sd::sim::Anonymiser;
using k8s_sd::sim::JsonAnonymiser;
using k8s_sd::sim::ResponseFilter;

namespace {

struct NewNames {
    NewNames()
        : anonymiser(std::make_shared<Anonymiser>(
              [this](std::string_view replacement, std::string_view original) {
                  originals.emplace(replacement, original);
              })) {}

    std::map<std::string, std::string> originals;
    std::shared_ptr<Anonymiser> anonymiser;

    std::string text(std::string_view original) { return anonymiser->text(original); }
    std::string json(std::string_view value) { return JsonAnonymiser(*anonymiser).feed(value); }
};

constexpr std::string_view named_pod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"orders-db-0","namespace":"shop",)"
    R"("uid":"00000000-0000-4000-8000-000000000001","resourceVersion":"17",)"
    R"("creationTimestamp":"2024-01-02T03:04:05Z","labels":{"app":"orders","type":"Secret"},)"
    R"("annotations":{"prometheus.io/scrape":"true","note":"a \"quoted\" caf\u00e9"},)"
    R"("managedFields":[{"f:metadata":{"f:name":[1,"]"]}}],)"
    R"("ownerReferences":[{"kind":"StatefulSet","name":"orders-db","controller":true}]},)"
    R"("spec":{"containers":[{"name":"db","env":[{"name":"PASSWORD","value":"hunter2"}],)"
    R"("image":"registry.example.com/orders:1.2","ports":[{"containerPort":5432,)"
    R"("protocol":"TCP"}]}],"nodeName":"node-a1"},)"
    R"("status":{"phase":"Running","podIP":"10.244.3.18","podIPs":[{"ip":"2001:db8::7"}]}})";

constexpr std::string_view renamed_pod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"w1-w2-0","namespace":"w3",)"
    R"("uid":"00000000-0000-4000-8000-000000000001","resourceVersion":"17",)"
    R"("creationTimestamp":"2024-01-02T03:04:05Z","labels":{"app":"w1","type":"w4"},)"
    R"("annotations":{"prometheus.io/scrape":"true","note":"a \"w5\" w6"},)"
    R"("managedFields":[],)"
    R"("ownerReferences":[{"kind":"StatefulSet","name":"w1-w2","controller":true}]},)"
    R"("spec":{"containers":[{"name":"w2","env":[],)"
    R"("image":"w7.w8.com/w1:1.2","ports":[{"containerPort":5432,)"
    R"("protocol":"TCP"}]}],"nodeName":"w9-w10"},)"
    R"("status":{"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"fd00::1"}]}})";

/// The body of a response in chunks.
std::string unchunked_body(std::string_view response) {
    std::string body;
    std::string_view rest = response.substr(response.find("\r\n\r\n") + 4);
    while (!rest.empty()) {
        const std::size_t size = std::stoul(std::string(rest), nullptr, 16);
        rest.remove_prefix(rest.find("\r\n") + 2);
        body += rest.substr(0, size);
        rest.remove_prefix(size + 2);
        if (size == 0) CHECK(rest.empty());
    }
    return body;
}

}  // namespace

TEST_CASE("Anonymiser: a word has one replacement everywhere, and numbers stay") {
    NewNames names;
    CHECK(names.text("orders-db-0") == "w1-w2-0");
    CHECK(names.text("db.orders.svc.cluster.local:8080") == "w2.w1.svc.w3.local:8080");
    CHECK(names.text("Orders") == "w4");
    CHECK(names.text("w1") == "w5");
    CHECK(names.text("true, /metrics, 1234567, None") == "true, /metrics, 1234567, None");
    CHECK(names.originals.at("w1") == "orders");
    CHECK(names.originals.at("w5") == "w1");
}

TEST_CASE("Anonymiser: addresses stay addresses") {
    NewNames names;
    CHECK(names.text("10.0.3.18") == "10.0.0.1");
    CHECK(names.text("http://10.0.3.18:9100/10.0.3.18") == "http://10.0.0.1:9100/10.0.0.1");
    CHECK(names.text("ip-10-0-3-18.internal") == "w1-10-0-0-1.internal");
    CHECK(names.text("10.0.0.1/24") == "10.0.0.2/24");
    CHECK(names.text("10.0.3.18abc 10-0-3-18f 10.0.3.1899") == "10.0.0.1w2 10-0-3-w3 10.0.3.1899");
    CHECK(names.text("127.0.0.1 ::1 ::") == "127.0.0.1 ::1 ::");
    CHECK(names.text("[2001:DB8::7]:80 2001:db8:0::7") == "[fd00::1]:80 fd00::1");
    CHECK(names.text("2001:db8::7: refused, 2001:db8::7.") == "fd00::1: w4, fd00::1.");
    CHECK(names.text("::ffff:10.0.3.18") == "fd00::2");
    CHECK(names.text("12:34:56 256.1.1.1 1.2.3") == "12:34:56 256.1.1.1 1.2.3");
    CHECK(names.originals.at("10.0.0.1") == "10.0.3.18");
    CHECK(names.originals.at("fd00::1") == "2001:db8::7");
}

TEST_CASE("Anonymiser: an address may follow letters and digits, as in a percent-encoded URL") {
    NewNames names;
    CHECK(names.text("http%3A%2F%2F172.31.26.99:80") == "http%3A%2F%2F10.0.0.1:80");
    CHECK(names.text("%20172.31.26.99") == "%2010.0.0.1");
    CHECK(names.text("eth172.31.26.99") == "w110.0.0.1");
    CHECK(names.text("x2001:db8::7.") == "w2fd00::1.");
    CHECK(names.text("v1.2.3 50%") == "w3.2.3 50%");
}

TEST_CASE("Anonymiser: names in paths and selectors of requests are replaced") {
    NewNames names;
    CHECK(names.anonymiser->request(
              "GET /prefix/api/v1/namespaces/shop/pods?labelSelector=app%3Dorders%2Ctier+in+"
              "%28db%2Cweb%29%2C%21old&fieldSelector=metadata.name%3Dorders-0&limit=500&"
              "resourceVersion=17 HTTP/1.1\r\nUser-Agent: x\r\n\r\n") ==
          "GET /api/v1/namespaces/w1/pods?labelSelector=app%3Dw2%2Ctier+in+"
          "%28w3%2Cw4%29%2C%21old&fieldSelector=metadata.name%3Dw2-0&limit=500&"
          "resourceVersion=17 HTTP/1.1\r\nUser-Agent: x\r\n\r\n");
    CHECK(names.anonymiser->request("GET /apis/example.com/v1/namespaces/shop/shops/a HTTP/1.1") ==
          "GET /apis/example.com/v1/namespaces/w1/shops/a HTTP/1.1");
    CHECK(names.anonymiser->request("GET /api/v1/nodes/db HTTP/1.1") ==
          "GET /api/v1/nodes/w3 HTTP/1.1");
    CHECK(names.anonymiser->request("GET /version HTTP/1.1") == "GET /version HTTP/1.1");
}

TEST_CASE("Anonymiser: values that change targets stay, in objects and in field selectors") {
    for (const std::string_view kept : {
             R"({"spec":{"type":"ClusterIP","ipFamilyPolicy":"PreferDualStack",)"
             R"("ipFamilies":["IPv6","IPv4"],"clusterIP":"None"}})",
             R"({"spec":{"ipFamilyPolicy":"RequireDualStack"},"addressType":"IPv4"})",
             R"({"annotations":{"endpoints.kubernetes.io/over-capacity":"truncated"}})",
             R"({"annotations":{"endpoints.kubernetes.io/over-capacity":"warning"}})",
             R"({"spec":{"initContainers":[{"restartPolicy":"Always"}]}})",
             R"({"status":{"addresses":[{"type":"IPAddress"},{"type":"Hostname"}]}})",
             R"({"spec":{"listeners":[{"protocol":"HTTPS","allowedRoutes":)"
             R"({"namespaces":{"from":"Same"},"kinds":[{"kind":"TLSRoute"}]}}]}})",
         }) {
        NewNames names;
        CHECK(names.json(kept) == kept);
        CHECK(names.originals.empty());
    }
    NewNames names;
    const std::string selected = names.anonymiser->request(
        "GET /api/v1/pods?fieldSelector=spec.restartPolicy%3DAlways%2Cstatus.phase!%3DPending%2C"
        "metadata.uid=00000000-0000-4000-8000-00000000000a%2Cspec.nodeName%3DAlways HTTP/1.1");
    CHECK(selected ==
          "GET /api/v1/pods?fieldSelector=spec.restartPolicy%3DAlways%2Cstatus.phase!%3DPending%2C"
          "metadata.uid=00000000-0000-4000-8000-00000000000a%2Cspec.nodeName%3Dw1 HTTP/1.1");
    CHECK(names.anonymiser->request("GET /api/v1/pods?labelSelector=phase%3DAlways HTTP/1.1") ==
          "GET /api/v1/pods?labelSelector=phase%3Dw1 HTTP/1.1");
}

TEST_CASE("Anonymiser: objects in JSON keep what Kubernetes' API means, in pieces of any size") {
    for (std::size_t size = 1; size <= named_pod.size(); size += size < 20 ? 1 : 41) {
        NewNames names;
        JsonAnonymiser json(*names.anonymiser);
        std::string text;
        for (std::size_t at = 0; at < named_pod.size(); at += size) {
            text += json.feed(named_pod.substr(at, size));
        }
        CHECK(text == renamed_pod);
    }
}

TEST_CASE("Anonymiser: the object as it was applied is left out, with the values in it") {
    NewNames names;
    const std::string text = names.json(
        R"({"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":)"
        R"("{\"spec\":{\"containers\":[{\"env\":[{\"name\":\"PIN\",\"value\":\"4711\"}]}]}}",)"
        R"("note":"4711"}}})");
    CHECK(text == R"({"metadata":{"annotations":{)"
                  R"("kubectl.kubernetes.io/last-applied-configuration":"","note":"4711"}}})");
}

TEST_CASE("Anonymiser: any bytes in place of JSON are no harm") {
    for (std::size_t at = 0; at < named_pod.size(); ++at) {
        for (const char c : {'"', '\\', '[', ']', '{', '}', ',', ':', '\0'}) {
            std::string wrong(named_pod);
            wrong[at] = c;
            NewNames names;
            CHECK(names.json(wrong).find("hunter2") == std::string::npos);
        }
    }
    NewNames names;
    CHECK(names.json('"' + std::string(2 << 20, 'x') + '"') == "\"\"");
}

TEST_CASE("ResponseFilter: an anonymous response is sent in chunks, without other headers") {
    const std::string body(named_pod);
    const std::string size = std::to_string(body.size());
    const std::string head =
        "HTTP/1.1 200 Fine\r\nContent-Type: application/json\r\nServer: shop\r\n";
    std::string chunks;
    for (std::size_t at = 0; at < body.size(); at += 100) {
        const std::string part = body.substr(at, 100);
        std::ostringstream line;
        line << std::hex << part.size() << ";extension\r\n" << part << "\r\n";
        chunks += line.str();
    }
    for (const std::string& response :
         {head + "Content-Length: " + size + "\r\n\r\n" + body,
          head + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n",
          "HTTP/1.1 100 Continue\r\n\r\n" + head + "content-length: " + size + "\r\n\r\n" + body,
          head + "\r\n" + body}) {
        for (const std::size_t step : {std::size_t{1}, std::size_t{7}, response.size()}) {
            NewNames names;
            ResponseFilter filter(names.anonymiser, "GET /api/v1/pods HTTP/1.1");
            std::string out;
            for (std::size_t at = 0; at < response.size(); at += step) {
                out += filter.feed(std::string_view(response).substr(at, step));
            }
            out += filter.end();
            const std::string begin = "HTTP/1.1 200 \r\nContent-Type: "
                                      "application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
            const std::size_t at = out.find("HTTP/1.1 200");
            REQUIRE(at != std::string::npos);
            REQUIRE(out.substr(at).starts_with(begin));
            CHECK(unchunked_body(out.substr(at)) == renamed_pod);
        }
    }
}

TEST_CASE("ResponseFilter: errors in text lose their names, documents keep them") {
    NewNames names;
    ResponseFilter error(names.anonymiser, "GET /api/v1/pods HTTP/1.1");
    const std::string out =
        error.feed("HTTP/1.1 502 Bad\r\nContent-Type: text/html\r\nContent-Length: 25\r\n\r\n"
                   "no server at 10.1.1.1 bob");
    CHECK(unchunked_body(out) == "no server at 10.0.0.1 w1");
    ResponseFilter documents(names.anonymiser, "GET /apis/example.com HTTP/1.1");
    CHECK(unchunked_body(
              documents.feed("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             "Content-Length: 55\r\n\r\n"
                             R"({"name":"example.com","serverAddress":"192.0.2.1:6443"})")) ==
          R"({"name":"example.com","serverAddress":"10.0.0.2:6443"})");
    ResponseFilter refused(names.anonymiser, "GET /apis/example.com HTTP/1.1");
    CHECK(unchunked_body(refused.feed("HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n"
                                      "Content-Length: 41\r\n\r\n"
                                      R"({"kind":"Status","message":"user alice"})"
                                      "\n")) == "{\"kind\":\"Status\",\"message\":\"w2 w3\"}\n");
}

TEST_CASE("ResponseFilter: cookies are no part of a recording") {
    const std::string response =
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: session=1\r\nServer: a\r\n\r\n{}";
    for (std::size_t step = 1; step < response.size(); ++step) {
        ResponseFilter filter(nullptr, "GET /api/v1/pods HTTP/1.1");
        std::string out;
        for (std::size_t at = 0; at < response.size(); at += step) {
            out += filter.feed(std::string_view(response).substr(at, step));
        }
        CHECK(out == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nServer: a\r\n\r\n{}");
    }
}
