#pragma once

#include "k8s_sd/sim/api_server.hpp"
#include "support/settle.hpp"
#include "support/simulation.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/json/parse.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::test {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;
using sim::ApiServer;
using sim::ApiServerOptions;
using sim::Response;
using sim::TransportFaults;

/// A connection that sends the given bytes and keeps the received ones.
class RawClient {
    struct State;

 public:
    RawClient(asio::io_context& context, std::shared_ptr<Connector> connector,
              ConnectTarget target = {"sim.invalid", "80", {}})
        : context_(context), stream_(connector->make_stream(context.get_executor(), target)) {
        stream_->async_connect(
            [state = state_](error_code ec, const std::string&) { state->error = ec; });
        settle(context_);
        if (!state_->error) read(stream_.get(), state_);
        settle(context_);
    }

    ~RawClient() { state_->reading = false; }
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    /// Sends bytes and lets everything that follows from them happen.
    void send(std::string bytes) {
        state_->out = std::move(bytes);
        stream_->async_write(asio::buffer(state_->out),
                             [state = state_](error_code, std::size_t) {});
        settle(context_);
    }
    void get(const std::string& target, const std::string& headers = {}) {
        state_->received.clear();
        send("GET " + target + " HTTP/1.1\r\nHost: sim\r\n" + headers + "\r\n");
    }
    void stop_reading() { state_->reading = false; }
    void resume_reading() {
        state_->reading = true;
        read(stream_.get(), state_);
        settle(context_);
    }
    void close() {
        stream_->close();
        settle(context_);
    }

    const std::string& received() const { return state_->received; }
    bool closed() const { return state_->closed; }
    error_code error() const { return state_->error; }

    int status() const {
        return state_->received.starts_with("HTTP/1.1 ") ? std::stoi(state_->received.substr(9, 3))
                                                         : 0;
    }
    std::string header() const {
        return state_->received.substr(0, state_->received.find("\r\n\r\n"));
    }
    /// The body so far; chunks are joined.
    std::string body() const {
        const std::size_t end = state_->received.find("\r\n\r\n");
        if (end == std::string::npos) return {};
        std::string rest = state_->received.substr(end + 4);
        if (header().find("Transfer-Encoding: chunked") == std::string::npos) return rest;
        std::string joined;
        for (std::size_t i = 0; i < rest.size();) {
            const std::size_t line = rest.find("\r\n", i);
            if (line == std::string::npos) break;
            const std::size_t size = std::stoul(rest.substr(i, line - i), nullptr, 16);
            if (size == 0) break;
            joined += rest.substr(line + 2, size);
            i = line + 2 + size + 2;
        }
        return joined;
    }
    bool ended() const { return state_->received.ends_with("0\r\n\r\n"); }
    json::object object() const { return json::parse(body()).as_object(); }
    /// "ADDED a 5", with the name and version of the object; of an ERROR the code.
    std::vector<std::string> events() const {
        std::vector<std::string> result;
        const std::string text = body();
        for (std::size_t i = 0; i < text.size();) {
            const std::size_t end = text.find('\n', i);
            if (end == std::string::npos) break;
            result.push_back(summary(json::parse(text.substr(i, end - i)).as_object()));
            i = end + 1;
        }
        return result;
    }

 private:
    static std::string string_of(const json::object& o, const char* key) {
        return o.contains(key) ? std::string(o.at(key).as_string()) : std::string("-");
    }
    static std::string summary(const json::object& event) {
        const json::object& object = event.at("object").as_object();
        const json::object& metadata = object.at("metadata").as_object();
        const std::string type = string_of(event, "type");
        if (type == "ERROR") return type + " " + std::to_string(object.at("code").to_number<int>());
        std::string text =
            type + " " + string_of(metadata, "name") + " " + string_of(metadata, "resourceVersion");
        if (metadata.contains("annotations") &&
            metadata.at("annotations").as_object().contains("k8s.io/initial-events-end")) {
            text += " initial-events-end";
        }
        return text;
    }

    static void read(ByteStream* stream, const std::shared_ptr<State>& state) {
        stream->async_read_some(asio::buffer(state->input),
                                [stream, state](error_code ec, std::size_t size) {
                                    state->received.append(state->input.data(), size);
                                    state->closed = ec.failed();
                                    if (ec) state->error = ec;
                                    if (!ec && state->reading) read(stream, state);
                                });
    }

    /// Handlers share it, as they may be called after the client is gone.
    struct State {
        std::array<char, 4096> input{};
        std::string out;
        std::string received;
        bool reading = true;
        bool closed = false;
        error_code error;
    };

    asio::io_context& context_;
    std::unique_ptr<ByteStream> stream_;
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// A simulation, and connections to its server.
struct Fixture : Simulation {
    using Simulation::Simulation;

    RawClient client(TransportFaults faults = {}) { return {context, server.connector(faults)}; }
    /// \returns its resource version
    std::string pod(const std::string& name, const std::string& labels = "{}",
                    const std::string& ns = "default", const std::string& node = "n1") {
        const std::string version = server.apply(
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
            R"(","namespace":")" + ns + R"(","labels":)" + labels + R"(},"spec":{"nodeName":")" +
            node + R"("},"status":{"phase":"Running"}})");
        settle();
        return version;
    }
};

inline std::vector<std::string> names(const json::object& list) {
    std::vector<std::string> result;
    for (const json::value& item : list.at("items").as_array()) {
        result.emplace_back(item.at("metadata").at("name").as_string());
    }
    return result;
}

}  // namespace k8s_sd::test
