#include "k8s_sd/detail/auth/credential_issuers.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "support/certificates.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <string>

namespace k8s_sd::detail {
namespace {

const std::string v1 = "client.authentication.k8s.io/v1";
const std::string v1beta1 = "client.authentication.k8s.io/v1beta1";

std::string credential(const std::string& status, const std::string& api_version = v1) {
    return R"({"kind":"ExecCredential","apiVersion":")" + api_version + R"(","status":)" + status +
           "}\n";
}

std::string in_json(const std::string& text) {
    return boost::json::serialize(boost::json::string(text));
}

IssuedCredentials read(const std::string& status) {
    return read_exec_credential(credential(status), v1);
}

TEST_CASE("ExecCredential: the program receives interactive: false, and the server if configured") {
    CHECK(boost::json::parse(make_exec_info(v1, nullptr)) == boost::json::parse(R"({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
        "spec": {"interactive": false}})"));
    ExecCluster cluster;
    cluster.server = "https://cluster:6443";
    CHECK(boost::json::parse(make_exec_info(v1beta1, &cluster)) == boost::json::parse(R"({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1",
        "spec": {"interactive": false,
                 "cluster": {"server": "https://cluster:6443", "config": null}}})"));
    cluster.tls_server_name = "name";
    cluster.insecure_skip_tls_verify = true;
    cluster.ca = "PEM";
    cluster.proxy_url = "http://proxy:3128";
    cluster.extension = R"({"audience": ["a", "b"]})";
    CHECK(boost::json::parse(make_exec_info(v1, &cluster)).at("spec").at("cluster") ==
          boost::json::parse(R"({
        "server": "https://cluster:6443", "tls-server-name": "name",
        "insecure-skip-tls-verify": true, "certificate-authority-data": "UEVN",
        "proxy-url": "http://proxy:3128", "config": {"audience": ["a", "b"]}})"));
}

TEST_CASE("ExecCredential: a token, a certificate with its key, or both") {
    const auto token = read(R"({"token": "t0ken"})");
    CHECK(token.problem.empty());
    CHECK(view(token.token) == "t0ken");
    CHECK_FALSE(token.identity);
    CHECK_FALSE(token.expiry);

    const auto user = test::CertificateAuthority().client("me");
    const auto both =
        read(R"({"token": "t0ken", "clientCertificateData": )" + in_json(user.certificate) +
             R"(, "clientKeyData": )" + in_json(user.key) +
             R"(, "expirationTimestamp": "1970-01-01T00:01:00Z"})");
    CHECK(both.problem.empty());
    REQUIRE(both.identity);
    CHECK(view(both.identity->certificate) == user.certificate);
    CHECK(view(both.identity->key) == user.key);
    CHECK(both.expiry == std::chrono::sys_seconds(std::chrono::seconds(60)));

    const auto beta = read_exec_credential(credential(R"({"token": "t"})", v1beta1), v1beta1);
    CHECK(view(beta.token) == "t");
    // Unknown and null members are ignored.
    CHECK(read(R"({"token": "t", "clientKeyData": null, "later": {}})").problem.empty());
}

TEST_CASE("ExecCredential: the extension and the server are passed as they are written") {
    ExecCluster cluster;
    cluster.server = "HTTPS://Cluster.Example:6443/";
    cluster.disable_compression = true;
    cluster.extension = R"({"a":1.0,"b":1e3,"c":0.10,"d":12345678901234567890,"e":[]})";
    CHECK(make_exec_info(v1, &cluster) ==
          R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":)"
          R"({"cluster":{"server":"HTTPS://Cluster.Example:6443/","disable-compression":true,)"
          R"("config":{"a":1.0,"b":1e3,"c":0.10,"d":12345678901234567890,"e":[]}},)"
          R"("interactive":false}})");
    for (const char* broken : {"", "{", "1}", "null,\"x\":1", "{} {}"}) {
        INFO(broken);
        cluster.extension = broken;
        CHECK(boost::json::parse(make_exec_info(v1, &cluster))
                  .at("spec")
                  .at("cluster")
                  .at("config")
                  .is_null());
    }
}

TEST_CASE("ExecCredential: Go's zero time is no expiry") {
    for (const char* time : {"0001-01-01T00:00:00Z", "", "0001-01-01T00:00:00.0Z"}) {
        const auto issued =
            read(R"({"token": "t", "expirationTimestamp": ")" + std::string(time) + "\"}");
        INFO(time);
        CHECK(issued.problem.empty());
        CHECK_FALSE(issued.expiry);
    }
    CHECK(read(R"({"token": "t", "expirationTimestamp": "0001-01-01T00:00:01Z"})").expiry);
}

TEST_CASE("ExecCredential: what kubectl takes is taken") {
    const std::string mark = "\xef\xbb\xbf";
    const std::string status = R"("apiVersion":")" + v1 + R"(","status":{"token":"t0ken"}})";
    for (const std::string& output :
         {"{" + status, R"({"kind":null,)" + status, R"({"kind":"",)" + status,
          mark + R"({"kind":"ExecCredential",)" + status, mark + "\r\n{" + status + "\r\n"}) {
        INFO(output);
        const IssuedCredentials issued = read_exec_credential(output, v1);
        CHECK(issued.problem.empty());
        CHECK(view(issued.token) == "t0ken");
    }
    for (const std::string& output :
         {R"({"kind":5,)" + status, R"({"kind":{},)" + status, R"({"kind":"Exec",)" + status}) {
        INFO(output);
        CHECK_FALSE(read_exec_credential(output, v1).problem.empty());
    }
    CHECK(read_exec_credential(mark, v1).problem == "it printed nothing");
}

TEST_CASE("ExecCredential: output of another form is named with what to do, and not repeated") {
    const std::string not_json = "its output is not JSON: ";
    const std::string json = "(often --output json)";
    struct Row {
        std::string output, likely, remedy;
    };
    for (const Row& row : {
             Row{"apiVersion: " + v1 + "\nkind: ExecCredential\nstatus:\n  token: s3cret\n",
                 "it looks like YAML; ", json},
             Row{"---\nstatus: {token: s3cret}", "it looks like YAML; ", json},
             Row{"<!DOCTYPE html><html>s3cret", "it looks like a web page (HTML); ", "a login"},
             Row{"s3cret.s3cret.s3cret\n", "it looks like a bare token; ", json},
             Row{"Fetching s3cret ...\n" + credential(R"({"token": "s3cret"})"),
                 "other text, such as a line of a log, comes before it; ", "standard error"},
             Row{"Usage: s3cret [flags]\n", "it looks like text for humans, ", json},
         }) {
        const std::string problem = read_exec_credential(row.output, v1).problem;
        INFO(problem);
        CHECK(problem.starts_with(not_json + row.likely));
        CHECK(test::contains(problem, row.remedy));
        CHECK_FALSE(test::contains(problem, "s3cret"));
    }
}

TEST_CASE("ExecCredential: an answer that will not do says what is wrong with it") {
    const auto problem = [](const std::string& output) {
        const IssuedCredentials issued = read_exec_credential(output, v1);
        CHECK(issued.token.empty());
        return issued.problem;
    };
    const std::string remedy = "give it the command or the option that prints an ExecCredential in "
                               "JSON (often --output json)";
    CHECK(problem("") == "it printed nothing");
    CHECK(problem(" \n") == "it printed nothing");
    CHECK(problem("<html>").starts_with("its output is not JSON: "));
    CHECK(problem(credential(R"({"token": "s3cret"})").substr(0, 90))
              .starts_with("its output is not JSON: "));
    CHECK(problem(credential(R"({"token": "s3cret"})") + "{}")
              .starts_with("its output is not JSON: "));
    CHECK(problem(std::string(100'000, '[')).starts_with("its output is not JSON: "));
    CHECK(problem("[]") == "its output is not a JSON object");
    CHECK(problem(R"({"kind": "Pod"})") ==
          "it printed an object of kind \"Pod\" instead of ExecCredential; " + remedy);
    CHECK(problem(R"({"token": "s3cret"})") ==
          "it printed an object of kind \"\" instead of ExecCredential; " + remedy);
    CHECK(problem(credential(R"({"token": "s3cret"})", v1beta1)) ==
          "it printed apiVersion \"client.authentication.k8s.io/v1beta1\" instead of the requested "
          "\"client.authentication.k8s.io/v1\"; set the printed one as apiVersion of the exec "
          "user, or update the program");
    CHECK(problem(R"({"kind":"ExecCredential","apiVersion":")" + v1 + R"("})") ==
          "its output has no status, so no credentials");
    CHECK(problem(credential("[]")) == "its output has no status, so no credentials");
    CHECK(problem(credential("{}")) == "it printed neither a token nor a client certificate");
    CHECK(problem(credential(R"({"token": 1})")) == "status.token is not a text");
    CHECK(problem(credential(R"({"clientCertificateData": "C"})")) ==
          "it printed a client certificate without key, or the reverse");
    CHECK(problem(credential(R"({"token": "t", "clientKeyData": "s3cret"})")) ==
          "it printed a client certificate without key, or the reverse");
    CHECK(problem(credential(R"({"token": "s3cret\r\nX-Evil: 1"})")) ==
          "the token contains a line break or another control character");
    CHECK(problem(credential(R"({"token": "t", "expirationTimestamp": "tomorrow"})")) ==
          "status.expirationTimestamp is not an RFC 3339 time: \"tomorrow\"");
}

TEST_CASE("ExecCredential: a certificate and a key that are none, or not of each other") {
    const auto problem = [](const std::string& certificate, const std::string& key) {
        const auto issued =
            read(R"({"token": "t0ken", "clientCertificateData": )" + in_json(certificate) +
                 R"(, "clientKeyData": )" + in_json(key) + "}");
        CHECK(issued.token.empty() == !issued.problem.empty());
        CHECK(!issued.identity == !issued.problem.empty());
        return issued.problem;
    };
    const test::CertificateAuthority ca;
    const auto user = ca.client("me"), other = ca.client("me");
    CHECK(problem(user.certificate, user.key).empty());
    CHECK(problem("Q0VSVA==", user.key) == "clientCertificateData holds no certificate");
    CHECK(problem(user.certificate, "s3cret")
              .starts_with("clientKeyData holds no usable private key: "));
    CHECK(problem(user.certificate, other.key)
              .starts_with("clientCertificateData and clientKeyData do not belong together: "));
    CHECK(problem(user.certificate.substr(0, 200), user.key)
              .starts_with("clientCertificateData holds "));
}

TEST_CASE("ExecCredential: no message repeats what may be a token") {
    const std::string secret = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEyMyJ9";
    for (const std::string& output :
         {R"({"kind": ")" + secret + "\"}",
          R"({"kind": "ExecCredential", "apiVersion": ")" + secret + "\"}",
          credential(R"({"token": "t", "expirationTimestamp": ")" + secret + "\"}"), secret}) {
        const IssuedCredentials issued = read_exec_credential(output, v1);
        CHECK_FALSE(issued.problem.empty());
        CHECK_FALSE(test::contains(issued.problem, secret.substr(0, 12)));
    }
}

}  // namespace
}  // namespace k8s_sd::detail
