#pragma once

#include "k8s_sd/cache/object_cache.hpp"
#include "support/data_objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// The result of async_get() in words: "token=1", "not found", "aborted"; "" before completion.
using GetOutcome = std::shared_ptr<std::string>;

inline std::string describe_data(const ObjectPtr& object) {
    const DataObjectPtr data = as_data_object(object);
    if (!data) return object ? std::string(object->name()) : "none";
    std::string text;
    for (const auto& [key, value] : *data) {
        text += (text.empty() ? "" : " ") + std::string(key) + "=" + std::string(value);
    }
    return text;
}

inline std::string describe_get(error_code ec, const ObjectPtr& object) {
    if (!ec) return describe_data(object);
    CHECK_FALSE(object);
    if (ec == errc::not_referenced) return "not referenced";
    if (ec == errc::object_not_found) return "not found";
    if (ec == errc::not_synced) return "not synced";
    if (ec == errc::forbidden) return "forbidden";
    if (ec == asio::error::operation_aborted) return "aborted";
    return ec.message();
}

/// A simulated cluster and a cache of its Secrets in the namespace "shop".
struct CachedCluster : Simulation {
    explicit CachedCluster(ObjectCacheConfig config = {}, sim::ApiServerOptions options = {},
                           sim::TransportFaults faults = {}, const ServerLimits& limits = {},
                           const Around& around = {})
        : Simulation(std::move(options), faults, limits, around) {
        if (config.api_server.url.empty()) config.api_server.url = server.url();
        config.watch = plain_lists(config.watch);
        cache.emplace(context.get_executor(), config);
    }

    ObjectCache::Reference refer(const std::string& name, const std::string& ns = "shop") {
        return cache->add_reference(ns, name);
    }
    std::vector<ObjectCache::Reference> refer_to(const std::vector<std::string>& names) {
        std::vector<ObjectCache::Reference> references;
        for (const std::string& name : names) references.push_back(refer(name));
        return references;
    }
    GetOutcome get(const std::string& name, const std::string& ns = "shop") {
        auto outcome = std::make_shared<std::string>();
        cache->async_get(ns, name, [outcome](error_code ec, const ObjectPtr& object) {
            *outcome = describe_get(ec, object);
        });
        return outcome;
    }
    /// The result of a get without time passing; "" if it waits.
    std::string read(const std::string& name, const std::string& ns = "shop") {
        const GetOutcome outcome = get(name, ns);
        settle();
        return *outcome;
    }
    void put(const std::string& name, const std::string& token) {
        server.apply(secret(name, {{"token", token}}));
        settle();
    }
    void remove(const std::string& name) {
        server.remove("secrets", "shop", name);
        settle();
    }
    /// "present", "absent", ...; "none" without a reference.
    std::string state(const std::string& name) const {
        const auto status = cache->status("shop", name);
        return status ? std::string(to_string(status->state)) : "none";
    }
    /// "3 single", "collection", "collection, 1 single"; "" without watches.
    std::string watches() const {
        for (const CachedNamespaceStatus& ns : cache->status().namespaces) {
            if (ns.ns != "shop") continue;
            std::string text = ns.collection_watch ? "collection" : "";
            if (ns.single_watches == 0) return text;
            return text + (text.empty() ? "" : ", ") + std::to_string(ns.single_watches) +
                   " single";
        }
        return {};
    }
    /// Answers requests for the whole collection with 403, and serves those for single objects.
    void deny_collection() {
        server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
            if (!request.param("fieldSelector").empty()) return std::nullopt;
            return sim::Response::failure(403, "Forbidden", "no collections for you");
        });
    }

    std::optional<ObjectCache> cache;
};

inline std::vector<std::string> numbered(const std::string& prefix, std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(prefix + std::to_string(i));
    return names;
}

/// Follows objects and records the notifications: "a: token=1", "b: none".
struct CacheFollowing {
    explicit CacheFollowing(CachedCluster& c) : cluster(c) {}
    void follow(const std::string& name) {
        subscriptions.push_back(
            cluster.cache->subscribe("shop", name, [this, name](const ObjectPtr& object) {
                received.push_back(name + ": " + describe_data(object));
                if (after) after();
            }));
    }
    std::vector<std::string> take() { return std::exchange(received, {}); }

    CachedCluster& cluster;
    std::vector<std::string> received;
    std::function<void()> after;
    std::vector<ObjectCache::Subscription> subscriptions;
};

}  // namespace k8s_sd::test
