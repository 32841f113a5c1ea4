#include "small_kubelet.hpp"

#include "k8s_sd/sim/builders.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <csignal>
#include <utility>

namespace fleet {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds probe_period{200};

}  // namespace

struct SmallKubelet::Pod {
    std::shared_ptr<AgentProcess> process;
    bool ready = false;
    bool terminating = false;
    bool probing = false;
};

/// One GET of /readyz.
class SmallKubelet::Probe : public std::enable_shared_from_this<Probe> {
 public:
    using Done = std::function<void(bool ready)>;

    Probe(const asio::any_io_executor& executor, Done done)
        : stream_(executor), done_(std::move(done)) {}

    void start(const std::string& address) {
        const std::size_t colon = address.rfind(':');
        const auto port = static_cast<unsigned short>(std::stoul(address.substr(colon + 1)));
        request_ = {http::verb::get, "/readyz", 11};
        request_.set(http::field::host, address);
        stream_.expires_after(std::chrono::seconds(1));
        stream_.async_connect({asio::ip::make_address(address.substr(0, colon)), port},
                              [self = shared_from_this()](error_code ec) {
                                  if (ec) return self->done_(false);
                                  self->ask();
                              });
    }

 private:
    void ask() {
        http::async_write(stream_, request_,
                          [self = shared_from_this()](error_code ec, std::size_t) {
                              if (ec) return self->done_(false);
                              self->receive();
                          });
    }
    void receive() {
        http::async_read(stream_, buffer_, response_,
                         [self = shared_from_this()](error_code ec, std::size_t) {
                             self->done_(!ec && self->response_.result_int() == 200);
                         });
    }

    boost::beast::tcp_stream stream_;
    const Done done_;
    boost::beast::flat_buffer buffer_;
    http::request<http::empty_body> request_;
    http::response<http::string_body> response_;
};

SmallKubelet::SmallKubelet(asio::any_io_executor executor, k8s_sd::sim::ApiServer& server,
                           std::vector<std::string> scraper, OnLine on_line)
    : executor_(std::move(executor)),
      server_(server),
      scraper_(std::move(scraper)),
      on_line_(std::move(on_line)),
      timer_(executor_) {}

SmallKubelet::~SmallKubelet() = default;

void SmallKubelet::stop() {
    stopped_ = true;
    timer_.cancel();
    pods_.clear();
}

void SmallKubelet::add(const std::string& name) {
    std::vector<std::string> command = scraper_;
    const auto add_option = [&](const char* option, std::string value) {
        command.insert(command.end(), {option, std::move(value)});
    };
    add_option("--api-server", server_.url());
    add_option("--fleet-service", "agents");
    add_option("--fleet-namespace", "monitoring");
    add_option("--member", name);
    add_option("--fleet-debounce", "0.3");
    add_option("--fleet-hold-down", "1");
    add_option("--fleet-drain", "4");
    add_option("--listen", "127.0.0.1:0");
    add_option("--report-interval", "0");
    auto pod = std::make_unique<Pod>();
    pod->process = std::make_shared<AgentProcess>(
        executor_, command, [this, name](const std::string& line) { on_line_(name, line); });
    pod->process->start();
    pods_[name] = std::move(pod);
}

void SmallKubelet::remove(const std::string& name) {
    Pod& pod = *pods_.at(name);
    pod.terminating = true;
    write_slice();
    pod.process->signal(SIGTERM);
}

void SmallKubelet::kill(const std::string& name) { pods_.at(name)->process->signal(SIGKILL); }

bool SmallKubelet::are_ready(std::size_t count) const {
    std::size_t ready = 0;
    for (const auto& [name, pod] : pods_) {
        if (pod->ready && !pod->terminating) ++ready;
    }
    return ready == count && pods_.size() == count;
}

void SmallKubelet::probe_later() {
    timer_.expires_after(probe_period);
    timer_.async_wait([this](error_code ec) {
        if (ec || stopped_) return;
        manage_pods();
        probe_later();
    });
}

void SmallKubelet::manage_pods() {
    std::erase_if(pods_, [](const auto& pod) {
        return pod.second->terminating && !pod.second->process->runs();
    });
    write_slice();
    for (const auto& entry : pods_) {
        Pod& pod = *entry.second;
        if (pod.probing || pod.process->address().empty()) continue;
        pod.probing = true;
        std::make_shared<Probe>(executor_, [this, name = entry.first](bool ready) {
            if (!stopped_) set_ready(name, ready);
        })->start(pod.process->address());
    }
}

void SmallKubelet::set_ready(const std::string& name, bool ready) {
    const auto pod = pods_.find(name);
    if (pod == pods_.end()) return;
    pod->second->probing = false;
    pod->second->ready = ready;
    write_slice();
}

void SmallKubelet::write_slice() {
    auto slice = k8s_sd::sim::endpoint_slice("monitoring", "agents-x7k2p", "agents");
    for (const auto& [name, pod] : pods_) {
        slice.endpoint("127.0.0.1")
            .pod(name)
            .ready(pod->ready && !pod->terminating)
            .serving(pod->ready)
            .terminating(pod->terminating);
    }
    boost::json::object object = std::move(slice);
    std::string text = boost::json::serialize(object);
    if (text == std::exchange(written_, text)) return;
    server_.apply(std::move(object));
}

}  // namespace fleet
