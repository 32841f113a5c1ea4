// Snippets of docs/guide/watchers.md.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <iostream>
#include <memory>
#include <string_view>

namespace snippets::watchers {

void use(const k8s_sd::api::EndpointSlice& slice);
void replace(const k8s_sd::api::EndpointSlice& before, const k8s_sd::api::EndpointSlice& after);
void forget(const k8s_sd::api::EndpointSlice& slice);
void use(std::string_view container, std::int64_t restarts, bool running);
void use(std::string_view password);
void on_diff(const k8s_sd::ObjectDiff<k8s_sd::api::Pod>& diff);

[[maybe_unused]] static void watch_slices(boost::asio::io_context& io,
                                          const k8s_sd::WatcherConfig& config) {
    //[slices
    k8s_sd::Watcher<k8s_sd::api::EndpointSlice> slices(
        io.get_executor(), config, [](const k8s_sd::ObjectDiff<k8s_sd::api::EndpointSlice>& diff) {
            for (const auto& slice : diff.added) use(*slice);
            for (const auto& [before, after] : diff.changed) replace(*before, *after);
            for (const auto& slice : diff.removed) forget(*slice);
        });
    slices.async_run(boost::asio::detached);
    //]
}

[[maybe_unused]] static void read_pod(const k8s_sd::Store<k8s_sd::api::Pod>& store) {
    //[pod
    const std::shared_ptr<const k8s_sd::api::Pod> pod = store.find("shop", "web-0");
    if (!pod) return;
    const auto app = pod->metadata.labels.find("app.kubernetes.io/name");  // the original key
    for (const k8s_sd::api::ContainerStatus& status : pod->status.container_statuses)
        use(status.container_id, status.restart_count, status.state.running.has_value());
    //]
    (void)app;
}

[[maybe_unused]] static void watch_secrets(boost::asio::io_context& io,
                                           const k8s_sd::WatcherConfig& config) {
    //[secrets
    k8s_sd::Watcher<k8s_sd::api::Secret> secrets(
        io.get_executor(), config, [](const k8s_sd::ObjectDiff<k8s_sd::api::Secret>& diff) {
            for (const auto& secret : diff.added)
                use(secret->data.find("password").value_or(""));  // decoded bytes
        });
    secrets.async_run(boost::asio::detached);
    //]
}

[[maybe_unused]] static void choose_fields(k8s_sd::WatcherConfig& config) {
    //[fields
    config.fields = {"metadata.labels", "spec.nodeName", "status.containerStatuses.containerID"};
    //]
}

[[maybe_unused]] static void choose_changes(boost::asio::io_context& io,
                                            const k8s_sd::WatcherConfig& config) {
    //[predicate
    k8s_sd::Watcher<k8s_sd::api::Pod> pods(
        io.get_executor(), config, on_diff,
        [](const k8s_sd::api::Pod& before, const k8s_sd::api::Pod& after) {
            return before.status.pod_ip != after.status.pod_ip;
        });
    //]
}

[[maybe_unused]] static void fill_store(boost::asio::io_context& io,
                                        const k8s_sd::WatcherConfig& config) {
    //[store
    k8s_sd::Store<k8s_sd::api::Pod> store;
    const auto by_container = store.index([](const k8s_sd::api::Pod& pod, k8s_sd::IndexKeys& keys) {
        for (const auto& status : pod.status.container_statuses) keys.add(status.container_id);
    });
    k8s_sd::Watcher<k8s_sd::api::Pod> pods(io.get_executor(), config, store);
    pods.async_run(boost::asio::detached);
    //]
    (void)by_container;
}

[[maybe_unused]] static void watch_widgets(boost::asio::io_context& io,
                                           k8s_sd::WatcherConfig config) {
    //[generic
    config.resource = {.group = "example.com", .kind = "Widget"};
    config.fields = {"metadata.labels", "spec.size", "status.conditions.type"};
    k8s_sd::Watcher<k8s_sd::Generic> widgets(
        io.get_executor(), config, [](const k8s_sd::ObjectDiff<k8s_sd::Generic>& diff) {
            for (const auto& widget : diff.added)
                std::cout << widget->metadata.name << " " << widget->content.at("spec") << "\n";
        });
    widgets.async_run(boost::asio::detached);
    //]
}

//[read
boost::asio::awaitable<void> follow(k8s_sd::WatcherConfig config) {
    const auto executor = co_await boost::asio::this_coro::executor;
    k8s_sd::Watcher<k8s_sd::api::Pod> pods(executor, config);
    while (true) {
        const k8s_sd::ObjectDiff<k8s_sd::api::Pod> diff =
            co_await pods.async_next(boost::asio::use_awaitable);
        on_diff(diff);
    }
}
//]

[[maybe_unused]] static void follow_status(k8s_sd::Watcher<k8s_sd::api::Pod>& pods) {
    //[status
    pods.set_status_callback([](const k8s_sd::DiscovererStatus& status) {
        if (status.error) std::cerr << "pods: " << status.message << "\n";
    });
    pods.async_wait_synced([](boost::system::error_code ec) {
        if (!ec) std::cerr << "pods: all are known\n";
    });
    //]
}

}  // namespace snippets::watchers
