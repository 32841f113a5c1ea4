#include "soak/host.hpp"

#include "k8s_sd/environment.hpp"

#include <charconv>
#include <string>
#include <thread>
#include <utility>

namespace bench::soak {

using namespace std::chrono_literals;

Host::Host(const Server& server) {
    api_server_.url = "http://127.0.0.1:" + std::to_string(server.port);
    k8s_sd::Environment environment;
    environment.clock = clock_;
    install(context_, environment);
}

void Host::follow(std::size_t step) {
    while (step_ < step) {
        ask();
        if (!wait_until_quiet(20ms, step)) clock_->advance(context_, 1s);
    }
    // Other kinds are listed again, too, if the pods are.
    const bool lists = std::exchange(has_waited_, false);
    wait_until_quiet(lists ? 100ms : 0ms, step + 1);
    constexpr int parts = 5;
    for (int i = 0; i < parts; ++i) {
        clock_->advance(context_, step_time / parts);
        wait_until_quiet(200us, step + 1);
    }
    ask();
    wait_until_quiet(200us, step + 1);
}

k8s_sd::DiscoveryConfig Host::config(k8s_sd::Role role) const {
    k8s_sd::DiscoveryConfig config;
    config.role = role;
    config.api_server = api_server_;
    config.attach_metadata.node = true;
    return config;
}

void Host::on_group(const k8s_sd::TargetGroup& group) {
    if (!group.source().ends_with("/" + marker_name)) return;
    on_marker(group.labels().get("__meta_kubernetes_pod_label_step").value_or("0"));
}

void Host::on_marker(std::string_view step) {
    std::from_chars(step.data(), step.data() + step.size(), step_);
}

bool Host::wait_until_quiet(std::chrono::microseconds quiet, std::size_t step) {
    using SystemClock = std::chrono::steady_clock;
    for (auto last = SystemClock::now(); step_ < step;) {
        context_.restart();
        if (context_.poll() > 0) {
            last = SystemClock::now();
            continue;
        }
        if (SystemClock::now() - last >= quiet) {
            has_waited_ = has_waited_ || quiet > 1ms;
            return false;
        }
        std::this_thread::sleep_for(30us);
    }
    return true;
}

}  // namespace bench::soak
