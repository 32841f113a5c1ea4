// A host with a Boost of its own, of any version: Asio waits for the descriptor, and Boost.JSON
// reads the events. Usage: boost_host URL. Prints the version of its Boost, then the changes, as
// pods.c.

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json/src.hpp>
#include <boost/version.hpp>
#include <unistd.h>
#include <iostream>
#include <k8s_sd_c.h>
#include <string>

namespace {

namespace asio = boost::asio;

std::string_view text(const boost::json::value& value) {
    return {value.as_string().data(), value.as_string().size()};
}

void print(const boost::json::value& event) {
    if (text(event.at("type")) != "groups") return;
    for (const boost::json::value& change : event.at("changes").as_array()) {
        const boost::json::value* const targets = change.as_object().if_contains("targets");
        std::cout << text(change.at("key")) << ' '
                  << (targets ? text(targets->as_array().at(0).at("__address__")) : "removed")
                  << std::endl;
    }
}

void wait(k8s_sd_context* context, asio::posix::stream_descriptor& ready) {
    ready.async_wait(asio::posix::stream_descriptor::wait_read,
                     [context, &ready](boost::system::error_code ec) {
                         if (ec) return;
                         while (k8s_sd_event* const event = k8s_sd_next(context)) {
                             const k8s_sd_string json = k8s_sd_event_json(event);
                             print(boost::json::parse({json.data, json.size}));
                             k8s_sd_event_free(event);
                         }
                         wait(context, ready);
                     });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    std::cout << BOOST_VERSION << std::endl;
    k8s_sd_context* const context = k8s_sd_open(nullptr, nullptr);
    const std::string yaml = std::string("{role: pod, api_server: '") + argv[1] + "'}";
    auto config = K8S_SD_INIT(k8s_sd_config);
    config.yaml = yaml.c_str();
    if (k8s_sd_discover(context, &config, nullptr, nullptr) != K8S_SD_OK) return 1;
    asio::io_context io;
    asio::posix::stream_descriptor ready(io, ::dup(k8s_sd_fd(context)));
    wait(context, ready);
    io.run();
}
