#include "k8s_sd/detail/transport/byte_stream.hpp"
#include "k8s_sd/detail/transport/tls/tls_contexts.hpp"
#include "k8s_sd/sim/manual_files.hpp"
#include "k8s_sd/tls_trust.hpp"
#include "support/certificates.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/loopback.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::StartsWith;
using sim::ManualFiles;
using test::CertificateAuthority;
using test::contains;
using test::Identity;
using test::Loopback;
using test::ManualClock;
using test::server_context;
using test::TemporaryDirectory;

/// Contexts with file reads under the test's control, and a manual clock.
struct Contexts {
    explicit Contexts(Logger logger = Logger{LogLevel::off, {}, {}})
        : contexts(std::make_shared<TlsContexts>(clock, files, std::move(logger))) {}

    /// Null with the problem, if the context could not be created.
    TlsContexts::Context get(const TlsConfig& config, Duration later = {}) {
        clock->advance(later);
        result = nullptr;
        problem = "not called";
        contexts->async_get(context.get_executor(), std::make_shared<const TlsConfig>(config),
                            [this](const TlsContexts::Context& c, const std::string& text) {
                                result = c;
                                problem = text;
                            });
        settle();
        return result;
    }
    void settle() { test::settle(context); }

    asio::io_context context;
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    std::shared_ptr<ManualFiles> files = std::make_shared<ManualFiles>();
    std::shared_ptr<TlsContexts> contexts;
    TlsContexts::Context result;
    std::string problem;
};

/// The reason why no context can be created; "" on success.
std::string problem_of(const TlsConfig& config) {
    Contexts contexts;
    contexts.get(config);
    return contexts.problem;
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

TEST_CASE("TlsContexts: an unusable CA is an error, never the system's trust store") {
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
    directory.write("ca.crt", bad + bad);
    CHECK(problem_of(config).starts_with(name + " holds a broken certificate: "));
    directory.write("ca.crt", "\xef\xbb\xbf" + ca.certificate());
    CHECK(problem_of(config).empty());
    directory.write("ca.crt", "# comment\n" + ca.certificate() + "\n# more\n" + ca.certificate());
    CHECK(problem_of(config).empty());
    config = {};
    config.ca = "garbage";
    CHECK(problem_of(config) == "the inline CA holds no certificate");
}

TEST_CASE("TlsContexts: a broken certificate among others is skipped, and reported once") {
    const TemporaryDirectory directory;
    const CertificateAuthority first, second;
    const std::string whole = first.certificate();
    std::string bad = whole;
    bad[100] = '!';  // no base64
    const std::string wrong = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    const std::string cut = whole.substr(0, 200) + "\n";
    const std::string headless = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";
    for (const std::string& broken : {bad, wrong, cut, headless}) {
        std::vector<std::string> logged;
        Logger logger;
        logger.write = [&](LogLevel, std::string_view line) { logged.emplace_back(line); };
        Contexts contexts(logger);
        TlsConfig config;
        config.ca_file = directory.write("ca.crt", broken + second.certificate() + broken);
        INFO(broken);
        REQUIRE(contexts.get(config));
        REQUIRE(logged.size() == 1);
        CHECK(logged[0].starts_with("CA file " + config.ca_file +
                                    ": 2 of 3 certificates cannot be read, so they are not "
                                    "trusted ("));
        CHECK(logged[0].ends_with("); the others are"));
        CHECK(contexts.get(config, 2s));
        CHECK(logged.size() == 1);
        Loopback net;
        CHECK(net.connect(net.make_client(ClientTls{contexts.result, "127.0.0.1"}),
                          server_context(second.server({"127.0.0.1"}))));
        CHECK_FALSE(*net.connected.ec);
        directory.write("ca.crt", second.certificate());
        CHECK(contexts.get(config, 2s));
        CHECK(logged.size() == 1);
        directory.write("ca.crt", broken);
        CHECK(contexts.get(config, 2s));  // the previous content
        CHECK(logged.size() == 2);
    }
}

TEST_CASE("trust_certificates: a broken certificate among others is skipped, and reported") {
    const CertificateAuthority authority;
    const std::string broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    const auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
    context->set_verify_mode(asio::ssl::verify_peer);
    const auto trust = [&](const std::string& pem) {
        return trust_certificates(context->native_handle(), pem, "the CA file ca.crt");
    };
    for (const std::string& text : {std::string(), std::string("garbage")})
        CHECK_THROWS_WITH(trust(text), "the CA file ca.crt holds no certificate");
    CHECK_THROWS_WITH(trust(broken), StartsWith("the CA file ca.crt holds a broken certificate: "));
    CHECK(trust(broken + authority.certificate())
              .starts_with("the CA file ca.crt: 1 of 2 certificates cannot be read"));
    Loopback net;
    CHECK(net.connect(net.make_client(ClientTls{context, "127.0.0.1"}),
                      server_context(authority.server({"127.0.0.1"}))));
    CHECK_FALSE(*net.connected.ec);
    CHECK(trust(authority.certificate()).empty());
}

TEST_CASE("TlsContexts: a chain with a broken certificate is unusable") {
    const CertificateAuthority ca;
    const Identity user = ca.client("user");
    TlsConfig config;
    config.ca = ca.certificate();
    config.cert = user.certificate + ca.certificate().substr(0, 200);
    config.key = user.key;
    CHECK(problem_of(config).starts_with("the inline client certificate holds a broken "));
}

TEST_CASE("TlsContexts: explains an unusable client certificate without its key") {
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
    CHECK(problem_of(config) == key + " is encrypted; it must have no password");
    directory.write("tls.key", user.certificate);
    CHECK(problem_of(config).starts_with(key + " holds no usable private key: "));
    directory.write("tls.key", user.key + user.certificate);
    directory.write("tls.crt", user.key + user.certificate + ca.certificate());
    CHECK(problem_of(config).empty());
    std::filesystem::remove(config.cert_file);
    CHECK(problem_of(config) == "cannot read " + cert + ": No such file or directory");
}

TEST_CASE("TlsContexts: equal configurations share a context, different ones do not") {
    Contexts contexts;
    TlsConfig a;
    a.ca = CertificateAuthority().certificate();
    TlsConfig b = a;
    b.server_name = "foo.example";
    TlsConfig c = a;
    c.insecure_skip_verify = true;
    CHECK(contexts.get(a) == contexts.get(a, 1h));
    CHECK(contexts.get(a) == contexts.get(b));
    CHECK(contexts.get(a) != contexts.get(c));
}

TEST_CASE("TlsContexts: versions and trust make a difference") {
    Contexts contexts;
    TlsConfig config;
    const auto first = contexts.get(config);
    config.max_version = TlsVersion::tls_1_2;
    const auto second = contexts.get(config);
    CHECK(second != first);
    config.max_version = TlsVersion::tls_1_3;
    config.min_version = TlsVersion::tls_1_3;
    const auto third = contexts.get(config);
    CHECK(third != first);
    CHECK(third != second);
}

TEST_CASE("TlsContexts: a context is dropped an hour after its last use") {
    Contexts contexts;
    TlsConfig config;
    config.ca = CertificateAuthority().certificate();
    const std::weak_ptr<asio::ssl::context> context = contexts.get(config);
    CHECK_FALSE(context.expired());
    config.insecure_skip_verify = true;
    contexts.get(config, 1h);
    CHECK_FALSE(context.expired());
    contexts.get(config, 1s);
    CHECK(context.expired());
}

TEST_CASE("TlsContexts: looks at files once per second and keeps the old context while they are "
          "broken") {
    const TemporaryDirectory directory;
    Contexts contexts;
    TlsConfig config;
    config.ca_file = directory.path("ca.crt");
    CHECK_FALSE(contexts.get(config));

    // Failures are not cached: the file may appear at any time.
    directory.write("ca.crt", CertificateAuthority("first").certificate());
    const auto first = contexts.get(config);
    directory.write("ca.crt", "");
    CHECK(contexts.get(config, 999ms) == first);
    CHECK(contexts.get(config, 1ms) == first);

    directory.write("ca.crt", CertificateAuthority("the second").certificate());
    CHECK(contexts.get(config, 999ms) == first);
    const auto second = contexts.get(config, 1ms);
    CHECK(second != first);
    std::filesystem::remove(config.ca_file);
    CHECK(contexts.get(config, 1s) == second);
}

TEST_CASE(
    "TlsContexts: files that turn bad are warned of once, and so is that they are good again") {
    const TemporaryDirectory directory;
    std::vector<std::string> log;
    Logger logger;
    logger.write = [&](LogLevel, std::string_view line) { log.emplace_back(line); };
    Contexts contexts(logger);
    TlsConfig config;
    config.ca_file = directory.path("ca.crt");
    CHECK_FALSE(contexts.get(config));
    directory.write("ca.crt", CertificateAuthority("first").certificate());
    contexts.get(config, 1s);
    CHECK(log.empty());  // the caller reports the problem

    const std::string file = "CA file " + config.ca_file;
    const std::string serves = "; the previous content stays in use";
    directory.write("ca.crt", "");
    for (int i = 0; i < 3; ++i) contexts.get(config, 1s);
    std::filesystem::remove(config.ca_file);
    for (int i = 0; i < 3; ++i) contexts.get(config, 1s);
    directory.write("ca.crt", CertificateAuthority("second").certificate());
    for (int i = 0; i < 3; ++i) contexts.get(config, 1s);
    CHECK(log ==
          std::vector<std::string>{file + " holds no certificate" + serves,
                                   "cannot read " + file + ": No such file or directory" + serves,
                                   config.ca_file + ": usable again"});
}

TEST_CASE("TlsContexts: a certificate and its key rotate as a pair") {
    const TemporaryDirectory directory;
    const CertificateAuthority ca;
    std::vector<std::string> log;
    Logger logger;
    logger.write = [&](LogLevel, std::string_view line) { log.emplace_back(line); };
    Contexts contexts(logger);
    const Identity before = ca.client("before"), after = ca.client("after");
    TlsConfig config;
    config.ca = ca.certificate();
    config.cert_file = directory.write("tls.crt", before.certificate);
    config.key_file = directory.write("tls.key", before.key);
    const auto first = contexts.get(config);
    REQUIRE(first);

    // The certificate is new, but the key is old: the old pair stays in use.
    directory.write("tls.crt", after.certificate);
    for (int i = 0; i < 3; ++i) CHECK(contexts.get(config, 1s) == first);
    REQUIRE(log.size() == 1);
    CHECK(log[0] ==
          "client certificate file " + config.cert_file + " and client key file " +
              config.key_file +
              " do not belong together: key values mismatch; the previous content stays in use");

    directory.write("tls.key", after.key);
    const auto second = contexts.get(config, 1s);
    CHECK(second != first);
    CHECK(contexts.get(config, 1s) == second);
    REQUIRE(log.size() == 2);
    CHECK(contains(log[1], "usable again"));

    // The reverse case, and a truncated file.
    directory.write("tls.key", before.key);
    CHECK(contexts.get(config, 1s) == second);
    directory.write("tls.crt", before.certificate.substr(0, 100));
    CHECK(contexts.get(config, 1s) == second);
    directory.write("tls.crt", before.certificate);
    CHECK(contexts.get(config, 1s) != second);
    CHECK(log.size() == 5);
}

TEST_CASE("TlsContexts: hanging files are reported after 10 s, and the previous content serves") {
    const TemporaryDirectory directory;
    std::vector<std::string> log;
    Logger logger;
    logger.write = [&](LogLevel, std::string_view line) { log.emplace_back(line); };
    Contexts contexts(logger);
    const CertificateAuthority ca;
    const Identity user = ca.client("user");
    TlsConfig config;
    config.ca_file = directory.path("ca.crt");
    config.cert_file = directory.write("tls.crt", user.certificate);
    config.key_file = directory.write("tls.key", user.key);
    contexts.files->hold();
    CHECK_FALSE(contexts.get(config));
    CHECK(contexts.problem == "not called");
    contexts.clock->advance(10s);
    contexts.settle();
    const std::string slow =
        "cannot read CA file " + config.ca_file + ": reading it takes longer than 10 s";
    CHECK(contexts.problem == slow);
    CHECK(log.empty());

    directory.write("ca.crt", ca.certificate());
    contexts.files->release();
    const auto first = contexts.get(config);
    REQUIRE(first);
    contexts.files->hold();
    const std::size_t known = contexts.files->calls();
    CHECK_FALSE(contexts.get(config, 1s));
    CHECK(contexts.problem == "not called");
    CHECK(contexts.get(config) == first);  // a pending read does not block other callers
    contexts.clock->advance(10s);
    contexts.settle();
    for (int i = 0; i < 3; ++i) CHECK(contexts.get(config, 1min) == first);  // at once
    CHECK(contexts.files->calls() == known + 3);                             // each file once
    directory.write("ca.crt", CertificateAuthority("new").certificate());
    contexts.files->release();
    const auto second = contexts.get(config, 1s);
    CHECK(second);
    CHECK(second != first);
    CHECK(log == std::vector<std::string>{slow + "; the previous content stays in use",
                                          config.ca_file + ", " + config.cert_file + ", " +
                                              config.key_file + ": usable again"});
}

TEST_CASE("TlsContexts: one read of the files serves all waits for the first context") {
    const TemporaryDirectory directory;
    Contexts contexts;
    TlsConfig config;
    config.ca_file = directory.write("ca.crt", CertificateAuthority().certificate());
    contexts.files->hold();
    std::vector<TlsContexts::Context> got;
    for (int i = 0; i < 10; ++i) {
        contexts.contexts->async_get(contexts.context.get_executor(),
                                     std::make_shared<const TlsConfig>(config),
                                     [&](const TlsContexts::Context& context, const std::string&) {
                                         got.push_back(context);
                                     });
    }
    contexts.files->release();
    contexts.settle();
    CHECK(contexts.files->calls() == 1);
    REQUIRE(got.size() == 10);
    CHECK(got.front());
    for (const auto& context : got) CHECK(context == got.front());
}

TEST_CASE("TlsContexts: a CA is not read without verification") {
    Contexts contexts;
    TlsConfig config;
    config.ca_file = "/no/such/file";
    config.insecure_skip_verify = true;
    CHECK(contexts.get(config));
    CHECK(contexts.files->calls() == 0);
}

TEST_CASE("TlsContexts: after a rotation of the CA new connections work") {
    const TemporaryDirectory directory;
    const CertificateAuthority old_ca("old"), new_ca("the new one");
    Contexts contexts;
    TlsConfig config;
    config.ca_file = directory.write("ca.crt", old_ca.certificate());
    const auto new_server = server_context(new_ca.server({"127.0.0.1"}));
    const auto connects = [&](Duration later) {
        Loopback net;
        REQUIRE(net.connect(net.make_client(ClientTls{contexts.get(config, later), "127.0.0.1"}),
                            new_server));
        return !*net.connected.ec;
    };
    CHECK_FALSE(connects(0s));
    directory.write("ca.crt", new_ca.certificate());
    CHECK(connects(1s));
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

TEST_CASE("system_connector: close ends a connect behind whose server's files a proxy's hang") {
    const auto files = std::make_shared<ManualFiles>();
    files->hold();
    Environment environment;
    environment.file_calls = files;
    Loopback net;
    ConnectTarget target{"127.0.0.1", net.port(), TlsConfig()};  // without files: known at once
    target.proxy.emplace();
    target.proxy->protocol = ProxyTarget::Protocol::https;
    target.proxy->host = "127.0.0.1";
    target.proxy->port = net.port();
    target.proxy->tls.ca_file = "/ca.crt";
    net.client = system_connector(environment)->make_stream(net.strand, target);
    net.client->async_connect(net.on_connect(net.connected));
    CHECK(files->held() == 1);
    net.client->close();
    // No work is left for the context.
    CHECK(net.io.run_for(5s) > 0);
    CHECK(net.io.stopped());
    CHECK(net.connected.ec == asio::error::operation_aborted);
}

TEST_CASE("system_connector: close ends a connect whose files hang, and so does the end of the "
          "context") {
    const auto files = std::make_shared<ManualFiles>();
    files->hold();
    Environment environment;
    environment.file_calls = files;
    const auto connector = system_connector(environment);
    std::weak_ptr<ByteStream> alive;
    {
        Loopback net;
        ConnectTarget target{"127.0.0.1", net.port(), TlsConfig()};
        target.tls->ca_file = "/ca.crt";
        net.client = connector->make_stream(net.strand, target);
        net.client->async_connect(net.on_connect(net.connected));
        CHECK(net.io.run_for(20ms) == 0);
        SECTION("close") {
            net.client->close();
            net.drain();  // no pending work
            CHECK(net.connected.ec == asio::error::operation_aborted);
        }
        SECTION("destruction") {
            net.client.reset();
            net.drain();
            CHECK(net.connected.ec == asio::error::operation_aborted);
        }
        SECTION("the end of the context") {
            std::shared_ptr<ByteStream> stream = connector->make_stream(net.strand, target);
            stream->async_connect([stream](error_code, std::string) {});
            alive = stream;
            stream.reset();
            CHECK_FALSE(alive.expired());
        }
        CHECK(files->calls() == 1);
    }
    CHECK(alive.expired());
    files->release();  // its context is destroyed
}

TEST_CASE("system_connector: without TLS it is plain TCP") {
    Loopback net;
    REQUIRE(
        net.connect(system_connector()->make_stream(net.strand, {"127.0.0.1", net.port(), {}})));
    CHECK(net.transfer(*net.client, *net.server, "plain") == "plain");
}

}  // namespace
}  // namespace k8s_sd::detail
