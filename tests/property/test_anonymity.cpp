// Anonymous recordings of random histories have no word of the objects, requests and errors, except
// for keys of labels and annotations.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/sim/fixture.hpp"
#include "k8s_sd/sim/recording.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "sim/recording/recording_format.hpp"
#include "support/recordings.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace k8s_sd;
using namespace k8s_sd::test;
namespace json = boost::json;

namespace {

/// Words and addresses that occur nowhere else, so none of them may occur in a recording.
class Secrets {
 public:
    explicit Secrets(Random& random) : random_(random) {}

    /// A word, mostly of those before: objects refer to each other.
    std::string word() {
        if (!words_.empty() && !random_.one_in(4)) return random_.pick(words_);
        constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
        std::string word = random_.pick<std::string>({"zq", "9zq", "zqé", "zqZ"});
        for (unsigned i = 4 + random_.below(8); i > 0; --i) {
            word += letters[random_.below(static_cast<unsigned>(letters.size()))];
        }
        return words_.emplace_back(word);
    }
    /// For names of Kubernetes: in lower case.
    std::string name() {
        std::string name;
        for (unsigned parts = 1 + random_.below(3); parts > 0; --parts) {
            std::string part;
            do part = word();
            while (part.find_first_of("éZ") != part.npos);
            (name += name.empty() ? "" : "-") += part;
        }
        return name;
    }
    /// Text with words between separators of many kinds.
    std::string text() {
        std::string text;
        for (unsigned parts = 1 + random_.below(4); parts > 0; --parts) {
            text += random_.pick<std::string>({"", "http://", "/", "\"", "\\", ":", "@", "\n",
                                               "{\"a\":\"", "%2F", "user=", "ü "});
            // Digits and colons after an address are a part of it.
            text +=
                random_.one_in(4)
                    ? address() + random_.pick<std::string>({" ", "/", ": ", ".\n", "]:80 ", ", "})
                    : word();
        }
        return text;
    }
    std::string address() {
        const bool is_v6 = random_.one_in(3);
        const std::string numbers[] = {std::to_string(1 + random_.below(250)),
                                       std::to_string(1 + random_.below(250))};
        const std::string address = is_v6 ? "2001:470:77::" + numbers[0] + ":" + numbers[1]
                                          : "172.31." + numbers[0] + "." + numbers[1];
        addresses_.insert(address);
        return address;
    }
    /// \returns one that occurs in this text; empty: none
    std::string found_in(std::string_view text) const {
        for (const std::string& word : words_) {
            if (text.find(word) != text.npos) return word;
        }
        for (const std::string& address : addresses_) {
            if (text.find(address) != text.npos) return address;
        }
        // Beginnings of all of them.
        for (const std::string_view part : {"172.31.", "2001:470:77:"}) {
            if (text.find(part) != text.npos) return std::string(part);
        }
        return {};
    }

 private:
    Random& random_;
    std::vector<std::string> words_;
    std::set<std::string> addresses_;
};

/// Objects with words wherever users write text, except for keys of labels and annotations.
class SecretObjects {
 public:
    SecretObjects(Random& random, Secrets& secrets) : random_(random), secrets_(secrets) {
        for (int i = 0; i < 3; ++i) namespaces_.push_back(secrets_.name());
        for (int i = 0; i < 5; ++i) names_.push_back(secrets_.name());
    }

    std::string ns() { return random_.pick(namespaces_); }
    json::object object() {
        switch (random_.below(5)) {
            case 0: return service();
            case 1: return slice();
            case 2: return node();
            case 3: return named("v1", "Namespace", "", ns());
            default: return pod();
        }
    }

 private:
    json::object metadata(const std::string& ns, const std::string& name) {
        json::object meta{
            {"name", name},
            {"labels", {{"app", secrets_.name()}, {"type", secrets_.name()}}},
            {"annotations",
             {{"note", secrets_.text()},
              {"kind", secrets_.word()},
              {"kubectl.kubernetes.io/last-applied-configuration",
               json::serialize(json::object{{"env", secrets_.text()}})}}},
            {"finalizers", json::array{secrets_.name() + ".example.com/x"}},
            {"generateName", secrets_.name() + "-"},
            {"ownerReferences", json::array{{{"apiVersion", "apps/v1"},
                                             {"kind", "ReplicaSet"},
                                             {"name", random_.pick(names_)},
                                             {"uid", "00000000-0000-4000-8000-00000000000b"},
                                             {"controller", true}}}},
            {"managedFields", json::array{{{"manager", secrets_.word()},
                                           {"fieldsV1", {{"f:" + secrets_.word(), {}}}}}}}};
        if (!ns.empty()) meta["namespace"] = ns;
        return meta;
    }
    json::object named(const char* version, const char* kind, const std::string& ns,
                       const std::string& name) {
        return {{"apiVersion", version}, {"kind", kind}, {"metadata", metadata(ns, name)}};
    }
    json::object pod() {
        json::object pod = named("v1", "Pod", ns(), random_.pick(names_));
        const std::string ip = secrets_.address();
        pod["spec"] = {
            {"nodeName", random_.pick(names_)},
            {"hostname", secrets_.name()},
            {"serviceAccountName", secrets_.name()},
            {"nodeSelector", {{"zone", secrets_.name()}}},
            {"tolerations", json::array{{{"key", "a"}, {"value", secrets_.name()}}}},
            {"imagePullSecrets", json::array{{{"name", secrets_.name()}}}},
            {"volumes", json::array{{{"name", secrets_.name()},
                                     {"secret", {{"secretName", secrets_.name()}}}}}},
            {"containers",
             json::array{{{"name", secrets_.name()},
                          {"image", secrets_.name() + ".example.com/" + secrets_.name() + ":1"},
                          {"command", json::array{secrets_.text()}},
                          {"args", json::array{secrets_.text(), secrets_.text()}},
                          {"env", json::array{{{"name", "PASSWORD"}, {"value", secrets_.text()}}}},
                          {"workingDir", "/" + secrets_.word()},
                          {"ports", json::array{{{"name", secrets_.name()},
                                                 {"containerPort", 80},
                                                 {"protocol", "TCP"}}}}}}}};
        pod["status"] = {
            {"phase", "Running"},
            {"podIP", ip},
            {"podIPs", json::array{{{"ip", ip}}}},
            {"hostIP", secrets_.address()},
            {"message", secrets_.text()},
            {"reason", secrets_.text()},
            {"conditions",
             json::array{{{"type", "Ready"}, {"status", "True"}, {"message", secrets_.text()}}}}};
        return pod;
    }
    json::object service() {
        json::object service = named("v1", "Service", ns(), random_.pick(names_));
        service["spec"] = {{"type", "ClusterIP"},
                           {"clusterIP", secrets_.address()},
                           {"externalName", secrets_.name() + ".example.com"},
                           {"selector", {{"app", secrets_.name()}}},
                           {"ports", json::array{{{"name", secrets_.name()},
                                                  {"port", 80},
                                                  {"targetPort", secrets_.name()}}}}};
        return service;
    }
    json::object slice() {
        json::object slice =
            named("discovery.k8s.io/v1", "EndpointSlice", ns(), random_.pick(names_));
        slice["metadata"].as_object()["labels"].as_object()["kubernetes.io/service-name"] =
            random_.pick(names_);
        slice["addressType"] = "IPv4";
        slice["endpoints"] =
            json::array{{{"addresses", json::array{secrets_.address()}},
                         {"hostname", secrets_.name()},
                         {"nodeName", random_.pick(names_)},
                         {"zone", secrets_.name()},
                         {"targetRef", {{"kind", "Pod"}, {"name", random_.pick(names_)}}}}};
        slice["ports"] = json::array{{{"name", secrets_.name()}, {"port", 80}}};
        return slice;
    }
    json::object node() {
        json::object node = named("v1", "Node", "", random_.pick(names_));
        node["spec"] = {{"providerID", "cloud:///" + secrets_.word()},
                        {"podCIDR", secrets_.address() + "/24"}};
        node["status"] = {
            {"addresses", json::array{{{"type", "InternalIP"}, {"address", secrets_.address()}},
                                      {{"type", "Hostname"}, {"address", secrets_.name()}}}},
            {"images", json::array{{{"names", json::array{secrets_.text()}}}}}};
        return node;
    }

    Random& random_;
    Secrets& secrets_;
    std::vector<std::string> namespaces_;
    std::vector<std::string> names_;
};

DiscoveryConfig secret_config(Random& random, Secrets& secrets, SecretObjects& objects) {
    DiscoveryConfig config;
    config.api_server.url = "http://" + secrets.name() + ".example.com";
    config.role = random.pick<Role>({Role::pod, Role::service, Role::endpointslice, Role::node});
    if (config.role != Role::node && random.one_in(2)) config.namespaces = {objects.ns()};
    if (random.one_in(2)) {
        config.selectors.push_back({.role = config.role,
                                    .label = "app notin (" + secrets.name() + ")",
                                    .field = "metadata.name!=" + secrets.name()});
    }
    config.attach_metadata = {.node = random.one_in(2), .namespace_ = random.one_in(2)};
    config.watch.page_size = random.below(4);
    config.watch.watch_list = random.one_in(2);
    return config;
}

/// An error as of an API server, or of a proxy before it.
sim::Response failure(Random& random, Secrets& secrets) {
    const unsigned status = random.pick<unsigned>({403, 404, 429, 500, 502});
    return sim::Response::failure(status, random.one_in(2) ? "Forbidden" : "InternalError",
                                  "user \"" + secrets.text() + "\" cannot list " + secrets.text());
}

}  // namespace

TEST_CASE("Recordings: an anonymous one of a random history has no word and no address of users") {
    for_each_seed("ANONYMITY", 500, [&](std::uint64_t seed) {
        Random random(seed);
        Secrets secrets(random);
        SecretObjects objects(random, secrets);
        const DiscoveryConfig config = secret_config(random, secrets, objects);
        const RecordingFile file;
        std::size_t diffs = 0;
        {
            sim::FixtureOptions set_up;
            set_up.environment = [&](Environment& environment) {
                environment.connector = std::make_shared<sim::RecordingConnector>(
                    environment.connector, environment.clock, file.path,
                    sim::RecordingOptions{.anonymise = true});
                environment.logger.level = LogLevel::off;
            };
            sim::Fixture fixture(std::move(set_up));
            bool fails = false;
            fixture.server.set_intercept([&](const sim::Request&) -> std::optional<sim::Response> {
                if (!fails) return std::nullopt;
                return failure(random, secrets);
            });
            for (int i = 0; i < 10; ++i) fixture.server.apply(objects.object());
            Discoverer discoverer(fixture.context.get_executor(), config,
                                  [&](const TargetGroupDiff&) { ++diffs; });
            discoverer.async_run(asio::detached);
            for (int step = 0; step < 10; ++step) {
                fixture.advance(std::chrono::milliseconds(random.below(5000)));
                for (unsigned i = random.below(4); i > 0; --i) {
                    fixture.server.apply(objects.object());
                }
                fails = random.one_in(5);
                if (random.one_in(4)) fixture.server.disconnect_all();
                if (random.one_in(8)) fixture.server.compact();
            }
            fails = false;
            fixture.advance(90s);
        }
        REQUIRE(diffs > 0);
        const std::string text = sim::recorded_text(file.bytes());
        REQUIRE(text.size() > 1000);
        REQUIRE(secrets.found_in(text) == "");
    });
}
