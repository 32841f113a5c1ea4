#include "k8s_sd/detail/net/byte_stream.hpp"
#include "k8s_sd/detail/net/tls.hpp"
#include "support/certificates.hpp"
#include "support/config_fixtures.hpp"
#include "support/loopback.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using test::CertificateAuthority;
using test::Identity;
using test::Loopback;
using test::server_context;
using test::TemporaryDirectory;

/// Why no context can be made of it; "" when one can.
std::string problem_of(const TlsConfig& config) {
    try {
        make_client_context(config);
    } catch (const TlsError& error) {
        return error.what();
    }
    return {};
}

std::string encrypted(const std::string& key_pem) {
    const auto free_all = [](BIO* bio) { BIO_free_all(bio); };
    const std::unique_ptr<BIO, decltype(free_all)> in(BIO_new_mem_buf(key_pem.data(), -1),
                                                      free_all);
    const std::unique_ptr<BIO, decltype(free_all)> out(BIO_new(BIO_s_mem()), free_all);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr);
    char password[] = "s3cret";
    PEM_write_bio_PrivateKey(out.get(), key, EVP_aes_128_cbc(), nullptr, 0, nullptr, password);
    EVP_PKEY_free(key);
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

TEST_CASE("make_client_context: an unusable CA is an error, never the system's trust store") {
    const TemporaryDirectory directory;
    const CertificateAuthority ca;
    TlsConfig config;
    config.ca_file = directory.path("ca.crt");
    const std::string name = "CA file " + config.ca_file;

    CHECK(problem_of(config) == "cannot read " + name + ": No such file or directory");
    directory.write("ca.crt", "");
    CHECK(problem_of(config) == name + " holds no certificate");
    directory.write("ca.crt", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    CHECK(problem_of(config) == name + " holds no certificate");
    directory.write("ca.crt", ca.certificate().substr(0, 200));
    CHECK(problem_of(config).starts_with(name + " holds a broken certificate: "));
    std::string bad = ca.certificate();
    bad[100] = '!';
    directory.write("ca.crt", ca.certificate() + bad);
    CHECK(problem_of(config).starts_with(name + " holds a broken certificate: "));
    directory.write("ca.crt", "# comment\n" + ca.certificate() + "\n# more\n" + ca.certificate());
    CHECK(problem_of(config).empty());
    config = {};
    config.ca = "garbage";
    CHECK(problem_of(config) == "the inline CA holds no certificate");
}

TEST_CASE("make_client_context: explains an unusable client certificate without its key") {
    const TemporaryDirectory directory;
    const CertificateAuthority ca;
    const Identity user = ca.client("user"), other = ca.client("other");
    TlsConfig config;
    config.ca = ca.certificate();
    config.cert_file = directory.write("tls.crt", user.certificate);
    config.key_file = directory.write("tls.key", user.key);
    const std::string cert = "client certificate file " + config.cert_file;
    const std::string key = "client key file " + config.key_file;

    CHECK(problem_of(config).empty());
    directory.write("tls.key", other.key);
    CHECK(problem_of(config).starts_with(cert + " and " + key + " do not belong together: "));
    directory.write("tls.key", encrypted(user.key));
    CHECK(problem_of(config) == key + " is encrypted; encrypted keys are not supported");
    directory.write("tls.key", user.certificate);
    CHECK(problem_of(config).starts_with(key + " holds no usable private key: "));
    directory.write("tls.key", user.key + user.certificate);
    directory.write("tls.crt", user.key + user.certificate + ca.certificate());
    CHECK(problem_of(config).empty());
    std::filesystem::remove(config.cert_file);
    CHECK(problem_of(config) == "cannot read " + cert + ": No such file or directory");
}

TEST_CASE("TlsContexts: equal configurations share a context, different ones do not") {
    TlsContexts contexts;
    const TimePoint now{1000s};
    TlsConfig a;
    a.ca = CertificateAuthority().certificate();
    TlsConfig b = a;
    b.server_name = "foo.example";
    TlsConfig c = a;
    c.insecure_skip_verify = true;
    CHECK(contexts.get(a, now) == contexts.get(a, now + 1h));
    CHECK(contexts.get(a, now) == contexts.get(b, now));
    CHECK(contexts.get(a, now) != contexts.get(c, now));
}

TEST_CASE("TlsContexts: a context nobody asked for in an hour is dropped") {
    TlsContexts contexts;
    const TimePoint now{1000s};
    TlsConfig config;
    config.ca = CertificateAuthority().certificate();
    const std::weak_ptr<asio::ssl::context> context = contexts.get(config, now);
    CHECK_FALSE(context.expired());
    config.insecure_skip_verify = true;
    contexts.get(config, now + 1h);
    CHECK_FALSE(context.expired());
    contexts.get(config, now + 1h + 1s);
    CHECK(context.expired());
}

TEST_CASE("TlsContexts: looks at files once per second and keeps the old context while they are "
          "broken") {
    const TemporaryDirectory directory;
    TlsContexts contexts(Logger{LogLevel::off, {}});
    TimePoint now{1000s};
    TlsConfig config;
    config.ca_file = directory.path("ca.crt");
    CHECK_THROWS_AS(contexts.get(config, now), TlsError);

    // Nothing is remembered of a failure: the file may appear at any time.
    directory.write("ca.crt", CertificateAuthority("first").certificate());
    const auto first = contexts.get(config, now);
    directory.write("ca.crt", "");
    CHECK(contexts.get(config, now += 999ms) == first);
    CHECK(contexts.get(config, now += 1ms) == first);

    directory.write("ca.crt", CertificateAuthority("the second").certificate());
    CHECK(contexts.get(config, now += 999ms) == first);
    const auto second = contexts.get(config, now += 1ms);
    CHECK(second != first);
    std::filesystem::remove(config.ca_file);
    CHECK(contexts.get(config, now += 1s) == second);
}

TEST_CASE(
    "TlsContexts: files that turn bad are warned of once, and so is that they are good again") {
    const TemporaryDirectory directory;
    std::vector<std::string> log;
    Logger logger;
    logger.write = [&](LogLevel, std::string_view line) { log.emplace_back(line); };
    TlsContexts contexts(logger);
    TimePoint now{1000s};
    TlsConfig config;
    config.ca_file = directory.path("ca.crt");
    CHECK_THROWS_AS(contexts.get(config, now), TlsError);
    directory.write("ca.crt", CertificateAuthority("first").certificate());
    contexts.get(config, now += 1s);
    CHECK(log.empty());  // what is thrown is reported by others

    const std::string file = "CA file " + config.ca_file;
    const std::string serves = "; going on with what was read before";
    directory.write("ca.crt", "");
    for (int i = 0; i < 3; ++i) contexts.get(config, now += 1s);
    std::filesystem::remove(config.ca_file);
    for (int i = 0; i < 3; ++i) contexts.get(config, now += 1s);
    directory.write("ca.crt", CertificateAuthority("second").certificate());
    for (int i = 0; i < 3; ++i) contexts.get(config, now += 1s);
    CHECK(log ==
          std::vector<std::string>{file + " holds no certificate" + serves,
                                   "cannot read " + file + ": No such file or directory" + serves,
                                   config.ca_file + ": usable again"});
}

TEST_CASE("TlsContexts: after a rotation of the CA new connections work") {
    const TemporaryDirectory directory;
    const CertificateAuthority old_ca("old"), new_ca("the new one");
    TlsContexts contexts;
    TlsConfig config;
    config.ca_file = directory.write("ca.crt", old_ca.certificate());
    const auto new_server = server_context(new_ca.server({"127.0.0.1"}));
    const auto connects = [&](TimePoint now) {
        Loopback net;
        REQUIRE(net.connect(net.make_client(ClientTls{contexts.get(config, now), {}, "127.0.0.1"}),
                            new_server));
        return !*net.connected.ec;
    };
    CHECK_FALSE(connects(TimePoint(1000s)));
    directory.write("ca.crt", new_ca.certificate());
    CHECK(connects(TimePoint(1001s)));
}

TEST_CASE("system_connector: an unreadable file fails the connect, and only until it is there") {
    const TemporaryDirectory directory;
    const CertificateAuthority ca;
    const auto connector = system_connector();
    Loopback net;
    ConnectTarget target{"127.0.0.1", net.port(), TlsConfig()};
    target.tls->ca_file = directory.path("ca.crt");
    const auto server = server_context(ca.server({"127.0.0.1", "kubernetes.default.svc"}));

    net.client = connector->make_stream(net.strand, target);
    net.client->async_connect(net.on_connect(net.connected));
    net.drain();
    CHECK(net.connected.ec == errc::credentials_unavailable);
    CHECK(net.connected.text ==
          "cannot read CA file " + target.tls->ca_file + ": No such file or directory");

    directory.write("ca.crt", ca.certificate());
    REQUIRE(net.connect(connector->make_stream(net.strand, target), server));
    CHECK_FALSE(*net.connected.ec);
    target.tls->server_name = "kubernetes.default.svc";
    REQUIRE(net.connect(connector->make_stream(net.strand, target), server));
    CHECK_FALSE(*net.connected.ec);
    target.tls->server_name = "another.name";
    REQUIRE(net.connect(connector->make_stream(net.strand, target), server));
    CHECK(*net.connected.ec);
}

TEST_CASE("system_connector: without TLS it is plain TCP") {
    Loopback net;
    REQUIRE(
        net.connect(system_connector()->make_stream(net.strand, {"127.0.0.1", net.port(), {}})));
    CHECK(net.transfer(*net.client, *net.server, "plain") == "plain");
}

}  // namespace
}  // namespace k8s_sd::detail
