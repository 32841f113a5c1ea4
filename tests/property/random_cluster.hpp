#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/gateway_api.hpp"
#include "support/objects.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace k8s_sd::test {

/// Draws all random values from one seed.
class Random {
 public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    /// 0 … limit - 1
    unsigned below(unsigned limit) { return static_cast<unsigned>(engine_() % limit); }
    bool one_in(unsigned n) { return below(n) == 0; }
    template <class T>
    T pick(const std::vector<T>& values) {
        return values[below(static_cast<unsigned>(values.size()))];
    }
    std::string numbered(const std::string& prefix, unsigned limit) {
        return prefix + std::to_string(below(limit));
    }

 private:
    std::mt19937_64 engine_;
};

/// Objects with references to each other, from small sets of names, so that references often match.
class RandomCluster {
 public:
    RandomCluster(Random& random, sim::ApiServer& server) : random_(random), server_(server) {
        sim::add_gateway_api(server);
    }

    /// Applies or removes one object of any kind.
    void change() {
        const Kind kind =
            random_.pick<Kind>({Kind::node, Kind::pod, Kind::service, Kind::endpoints,
                                Kind::endpointslice, Kind::ingress, Kind::namespace_,
                                Kind::replicaset, Kind::job, Kind::gateway, Kind::httproute});
        const boost::json::object object = make(kind);
        if (!random_.one_in(3)) {
            server_.apply(object);
            return;
        }
        const auto& meta = object.at("metadata").as_object();
        const auto* ns = meta.if_contains("namespace");
        server_.remove(to_string(kind),
                       ns ? std::string_view(ns->get_string()) : std::string_view(),
                       meta.at("name").get_string());
    }

    /// Every name that change() can draw for a kind, with its namespace.
    static std::vector<std::pair<std::string, std::string>> names(Kind kind) {
        if (kind == Kind::namespace_) return {{"", "a"}, {"", "b"}};
        std::vector<std::pair<std::string, std::string>> all;
        const Pool pool = pool_of(kind);
        for (unsigned i = 0; i < pool.size; ++i) {
            const std::string name = pool.prefix + std::to_string(i);
            if (!resource_of(kind).namespaced) {
                all.emplace_back("", name);
                continue;
            }
            for (const char* ns : {"a", "b"}) all.emplace_back(ns, name);
        }
        return all;
    }

 private:
    struct Pool {
        std::string prefix;
        unsigned size;
    };
    static Pool pool_of(Kind kind) {
        switch (kind) {
            case Kind::node: return {"n", 3};
            case Kind::pod: return {"p", 6};
            case Kind::endpointslice: return {"slice", 4};
            case Kind::replicaset: return {"r", 2};
            case Kind::job: return {"j", 2};
            case Kind::ingress: return {"i", 2};
            case Kind::gateway: return {"g", 2};
            case Kind::httproute: return {"route", 3};
            default: return {"s", 3};
        }
    }

    std::string ns() { return random_.pick<std::string>({"a", "b"}); }
    std::string ip() { return "10.0.0." + std::to_string(1 + random_.below(9)); }
    Strings labels() {
        Strings labels;
        for (const char* key : {"app", "tier", "a.b/c"}) {
            if (random_.one_in(2)) labels[key] = random_.pick<std::string>({"x", "y", ""});
        }
        return labels;
    }
    std::vector<Address> addresses() {
        std::vector<Address> addresses(random_.below(4));
        for (Address& address : addresses) {
            address = {ip(), random_.one_in(4) ? "" : random_.numbered("p", 6),
                       random_.numbered("n", 3)};
        }
        return addresses;
    }
    boost::json::object make_pod() {
        PodSpec spec;
        spec.name = random_.numbered("p", 6);
        spec.ns = ns();
        spec.ip = random_.one_in(5) ? "" : ip();
        spec.node = random_.numbered("n", 3);
        spec.labels = labels();
        spec.phase = random_.pick<std::string>({"Running", "Pending", "Succeeded"});
        spec.probe_time = std::to_string(random_.below(100));
        boost::json::object object = pod(spec);
        if (random_.one_in(3))
            return with_controller(object, "ReplicaSet", random_.numbered("r", 2));
        if (random_.one_in(2)) return with_controller(object, "Job", random_.numbered("j", 2));
        return object;
    }
    boost::json::object make_node(const std::string& name) {
        boost::json::object object = node(name, labels(), std::to_string(random_.below(100)));
        object["status"].at("conditions").at(0).as_object()["status"] =
            random_.pick<std::string>({"True", "False", "Unknown"});
        return object;
    }
    boost::json::object make_service(const std::string& name) {
        boost::json::object object = service(name, labels(), ns());
        boost::json::object& spec = object["spec"].as_object();
        if (random_.one_in(2)) {
            spec["ipFamilyPolicy"] = random_.pick<std::string>({"SingleStack", "PreferDualStack"});
            const bool v4 = random_.one_in(2);
            spec["ipFamilies"] = boost::json::array{v4 ? "IPv4" : "IPv6", v4 ? "IPv6" : "IPv4"};
        }
        if (random_.one_in(2)) {
            spec["type"] = "LoadBalancer";
            object["status"] = boost::json::object{
                {"loadBalancer",
                 boost::json::object{
                     {"ingress", boost::json::array{boost::json::object{{"ip", ip()}}}}}}};
        }
        return object;
    }
    boost::json::object make_slice(const std::string& name) {
        boost::json::object object = slice(name, random_.numbered("s", 3), addresses(), ns());
        if (random_.one_in(3)) object["addressType"] = "IPv6";
        return object;
    }
    std::string hostname() {
        return random_.pick<std::string>({"", "x.example.com", "y.example.com", "*.example.com"});
    }
    boost::json::object make_gateway(const std::string& name) {
        sim::GatewayBuilder gateway(ns(), name);
        for (const char* listener : {"http", "https"}) {
            if (random_.one_in(4)) continue;
            gateway.listener(listener, random_.pick<std::string>({"HTTP", "HTTPS", "TLS"}), 80,
                             hostname());
            if (random_.one_in(3)) gateway.routes_from("Same");
        }
        if (!random_.one_in(3)) gateway.address(ip());
        if (random_.one_in(2)) gateway.label("app", "x");
        return gateway;
    }
    boost::json::object make_route(const std::string& name) {
        sim::RouteBuilder route("HTTPRoute", ns(), name);
        for (unsigned i = random_.below(3); i > 0; --i) {
            route
                .parent(random_.numbered("g", 2), random_.pick<std::string>({"", "http", "https"}),
                        random_.pick<std::string>({"", "a", "b"}))
                .accepted(!random_.one_in(5));
        }
        for (unsigned i = random_.below(3); i > 0; --i) {
            const std::string name_or_none = hostname();
            if (!name_or_none.empty()) route.hostname(name_or_none);
        }
        if (random_.one_in(2)) route.path(random_.pick<std::string>({"/", "/x"}));
        if (random_.one_in(2)) route.label("app", random_.pick<std::string>({"x", "y"}));
        return route;
    }
    boost::json::object make(Kind kind) {
        const Pool pool = pool_of(kind);
        const std::string name = random_.numbered(pool.prefix, pool.size);
        switch (kind) {
            case Kind::node: return make_node(name);
            case Kind::pod: return make_pod();
            case Kind::service: return make_service(name);
            case Kind::endpoints: return endpoints(name, addresses(), ns());
            case Kind::endpointslice: return make_slice(name);
            case Kind::ingress: return ingress(name, random_.numbered("host", 3), ns());
            case Kind::namespace_: return namespace_object(ns(), labels());
            case Kind::replicaset:
                return replica_set(name, random_.pick<std::string>({"", "d1", "d2"}), ns());
            case Kind::job: return job(name, random_.pick<std::string>({"", "c1", "c2"}), ns());
            case Kind::gateway: return make_gateway(name);
            case Kind::httproute: return make_route(name);
            case Kind::grpcroute:
            case Kind::tlsroute: break;  // as HTTPRoutes
            case Kind::secret:
            case Kind::configmap: break;  // no role uses them
        }
        return {};
    }

    Random& random_;
    sim::ApiServer& server_;
};

}  // namespace k8s_sd::test
