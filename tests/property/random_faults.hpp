#pragma once

#include "k8s_sd/sim/api_server.hpp"
#include "property/random_cluster.hpp"
#include "support/simulation.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace k8s_sd::test {

inline sim::ApiServerOptions random_server(Random& random) {
    using std::chrono::seconds;
    sim::ApiServerOptions options;
    options.bookmarks = !random.one_in(3);
    options.bookmark_interval = random.pick<Duration>({seconds(20), seconds(60)});
    if (random.one_in(3)) options.history = 5;
    // Older servers lack one or the other.
    options.protobuf = !random.one_in(4);
    options.metadata_only = !random.one_in(4);
    options.watch_list = !random.one_in(4);
    options.ignore_initial_events = random.one_in(8);
    options.gzip_threshold = random.below(2000);
    options.gzip_watch_lists = random.one_in(2);
    options.drop_managed_fields = random.one_in(2);
    options.refuse_accept_parameters = random.one_in(6);
    return options;
}

inline sim::TransportFaults random_transport(Random& random) {
    sim::TransportFaults faults;
    faults.max_read = random.pick<std::size_t>({sim::TransportFaults::never, 20, 300});
    return faults;
}

/// Faults of a server and of the connection to it.
class RandomFaults {
 public:
    RandomFaults(Random& random, Simulation& simulation)
        : random_(random), server_(simulation.server), simulation_(simulation) {}

    /// From now on some requests fail.
    void begin() {
        server_.set_intercept([this](const auto&) { return answer(); });
    }
    /// Causes a fault, or reverts one.
    void disturb() {
        using After = sim::ApiServer::After;
        switch (random_.below(8)) {
            case 0: server_.disconnect_all(); break;
            case 1: server_.end_watches(); break;
            case 2: server_.compact(); break;
            case 3: server_.deny(kind()); break;
            case 4: server_.allow(kind()); break;
            case 5: server_.accept_connections(random_.one_in(2)); break;
            case 6: server_.set_encoding_fault(encoding_fault()); break;
            default:
                server_.send_to_watches(
                    kind(),
                    random_.pick<std::string>({"garbage\n", R"({"type":"DELETED","obj)", "{}\n",
                                               R"({"type":"ERROR","object":{"code":410}})"}),
                    random_.pick<After>({After::go_on, After::end, After::drop}));
        }
    }
    /// Reverts all faults, and waits until every client has recovered.
    void end() {
        server_.set_intercept({});
        server_.accept_connections(true);
        server_.set_encoding_fault(sim::ApiServer::EncodingFault::none);
        for (std::size_t kind = 0; kind < kind_count; ++kind) {
            server_.allow(to_string(static_cast<Kind>(kind)));
        }
        // An unanswered watch is given up after ten minutes.
        simulation_.advance(std::chrono::minutes(11));
    }

 private:
    std::optional<sim::Response> answer() {
        using sim::Response;
        if (!random_.one_in(8)) return std::nullopt;
        Response response =
            Response::failure(random_.pick<unsigned>({400, 401, 403, 404, 410, 429, 500, 503, 504}),
                              "Reason", "text");
        switch (random_.below(6)) {
            case 0: return Response::disconnect();
            case 1: return Response::never();
            case 2: response.cut_after = random_.below(20); break;
            case 3: response.content_type = "text/html"; break;
            case 4: response.status = 200; break;
            default: break;
        }
        return response;
    }
    sim::ApiServer::EncodingFault encoding_fault() {
        using enum sim::ApiServer::EncodingFault;
        return random_.pick<sim::ApiServer::EncodingFault>(
            {none, refuse_protobuf, unsupported_media_type, json_for_protobuf, cut_gzip,
             gzip_members, plain_gzip, hidden_gzip, garbage_after_gzip});
    }
    std::string kind() {
        return std::string(to_string(static_cast<Kind>(random_.below(kind_count))));
    }

    Random& random_;
    sim::ApiServer& server_;
    Simulation& simulation_;
};

}  // namespace k8s_sd::test
