// URLWatcher by itself: LIST+WATCH of one collection, with the true changes of its objects, for a
// controller or a cache.
//
//     watch_url [OPTION]... [URL]      without a server: a simulated cluster

#include "cli/cluster.hpp"
#include "k8s_sd/api_client.hpp"
#include "k8s_sd/url_watcher.hpp"
#include "support/small_example.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <utility>

namespace {

namespace asio = boost::asio;

class PodWatch final : private k8s_sd::WatchObserver {
 public:
    PodWatch(const std::shared_ptr<k8s_sd::ApiClient>& client, unsigned changes)
        : watcher_(std::make_unique<k8s_sd::URLWatcher>(client, query(), k8s_sd::WatchOptions{},
                                                        static_cast<WatchObserver&>(*this))),
          changes_left_(changes) {}

    /// \param on_end  called after the requested number of changes
    void start(std::function<void()> on_end) {
        on_end_ = std::move(on_end);
        watcher_->start();
    }
    void stop() { watcher_.reset(); }

 private:
    static k8s_sd::WatchQuery query() {
        k8s_sd::WatchQuery query;
        query.kind = k8s_sd::Kind::pod;
        query.field_selector = "status.phase=Running";
        return query;
    }

    void on_change(const k8s_sd::ObjectChange& change) override {
        const k8s_sd::Object& object = change.after ? *change.after : *change.before;
        const char* what = !change.before ? "+ " : !change.after ? "- " : "~ ";
        std::cout << what << object.ns() << '/' << object.name();
        if (const auto app = object.metadata_labels().get("__meta_kubernetes_pod_label_app")) {
            std::cout << " app=" << *app;
        }
        std::cout << std::endl;
        if (!watcher_->synced() || changes_left_ == 0) return;
        if (--changes_left_ == 0) on_end_();
    }
    void on_synced() override {
        std::cout << watcher_->size() << " running pods; changes from now on:" << std::endl;
    }
    void on_batch_end() override {}
    void on_status() override {
        const k8s_sd::WatchStatus status = watcher_->status();
        if (status.error) std::cout << "trouble: " << status.message << std::endl;
    }

    std::unique_ptr<k8s_sd::URLWatcher> watcher_;
    unsigned changes_left_;
    std::function<void()> on_end_;
};

void run(const support::Arguments& arguments) {
    asio::io_context io(1);
    cli::Cluster cluster(io.get_executor(), arguments.server);
    cluster.start_changes(std::chrono::milliseconds(100));
    // One thread runs the context, so its executor can be used in place of a strand.
    const auto client = std::make_shared<k8s_sd::ApiClient>(io.get_executor(), cluster.server());
    PodWatch watch(client, arguments.diffs);
    asio::signal_set signals(io, SIGINT, SIGTERM);
    const auto stop = [&] {
        signals.cancel();
        watch.stop();
        cluster.stop();
    };
    signals.async_wait([&](boost::system::error_code ec, int) {
        if (!ec) stop();
    });
    // The observer must not destroy its watcher within a call.
    watch.start([&] { asio::post(io, stop); });
    io.run();
}

}  // namespace

int main(int argc, char** argv) {
    return support::run_example("watch_url", "Prints the running pods and how they change.", argc,
                                argv, run);
}
