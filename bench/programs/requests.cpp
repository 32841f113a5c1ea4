// A request for an unchanged shard, inside the process: from the parsed request to the response
// ready for writing.

#include "http/http_routes.hpp"
#include "jobs.hpp"
#include "jobs/served_jobs.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "measure.hpp"
#include "sections.hpp"
#include "serve/list_routes.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;
using boost::beast::http::field;
using http::HttpServer;

constexpr std::size_t rounds = 20'000;

/// Microseconds per call.
template <class Round>
double time_of(std::size_t count, Round&& round) {
    const auto begun = Clock::now();
    for (std::size_t i = 0; i < count; ++i) round(i);
    return std::chrono::duration<double, std::micro>(Clock::now() - begun).count() /
           static_cast<double>(count);
}

/// The jobs and their lists, without a server.
class Lists {
 public:
    explicit Lists(const std::string& config)
        : jobs_(io_.get_executor(), io_.get_executor(), {}, metrics_) {
        k8s_sd_program::add_list_routes(routes_, jobs_, metrics_);
        jobs_.apply(k8s_sd::parse_scrape_configs(config, {}, "bench"));
        while (!jobs_.find("pods")->complete()) io_.run_one();
    }

    HttpServer::Text get(const std::string& query, const boost::beast::http::fields& headers) {
        HttpServer::Text body;
        bool answered = false;
        routes_({"GET", "/sd/pods/targets", query, "", client_, headers},
                [&](const HttpServer::Reply& reply) {
                    body = reply.body;
                    answered = true;
                });
        while (!answered) io_.run_one();
        return body;
    }

 private:
    boost::asio::io_context io_{1};
    k8s_sd_program::ServeMetrics metrics_;
    k8s_sd_program::ServedJobs jobs_;
    http::HttpRoutes routes_;
    const HttpServer::Client client_{"127.0.0.1", 1, false};
};

double time_of_send(const std::string& bytes, std::size_t count) {
    namespace asio = boost::asio;
    asio::io_context io(1);
    asio::ip::tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
    asio::ip::tcp::socket reader(io);
    reader.connect(acceptor.local_endpoint());
    asio::ip::tcp::socket writer = acceptor.accept();
    const std::jthread reading([&] {
        std::vector<char> buffer(bytes.size());
        for (std::size_t i = 0; i < count; ++i) asio::read(reader, asio::buffer(buffer));
    });
    const double cpu = thread_cpu_seconds();
    for (std::size_t i = 0; i < count; ++i) asio::write(writer, asio::buffer(bytes));
    return (thread_cpu_seconds() - cpu) * 1e6 / static_cast<double>(count);
}

struct Times {
    double memcpy, send, list, gzip, unchanged, kilobytes;
};

Times times(const ServedPods& served) {
    Lists lists(config_of(job_of_pods("pods", served.server.port)));
    std::vector<std::string> queries;
    boost::beast::http::fields none, compressed, known;
    compressed.set(field::accept_encoding, "gzip");
    std::size_t bytes = 0;
    for (std::size_t shard = 0; shard < served.shards(); ++shard) {
        const std::string path = shard_of("pods", shard, served.shards());
        queries.push_back(path.substr(path.find('?') + 1));
        bytes += lists.get(queries.back(), none)->size();
        lists.get(queries.back(), compressed);
    }
    known.set(field::if_none_match, "*");
    const auto ask = [&](const boost::beast::http::fields& headers) {
        return time_of(rounds,
                       [&](std::size_t i) { lists.get(queries[i % queries.size()], headers); });
    };
    Times result{};
    result.kilobytes = static_cast<double>(bytes) / static_cast<double>(queries.size()) / 1e3;
    const std::string text(bytes / queries.size(), 'x');
    std::vector<char> copy(text.size());
    result.memcpy = time_of(rounds, [&](std::size_t) {
        std::memcpy(copy.data(), text.data(), text.size());
        __asm__ __volatile__("" : : "r"(copy.data()) : "memory");
    });
    result.send = time_of_send(text, rounds);
    result.list = ask(none);
    result.gzip = ask(compressed);
    result.unchanged = ask(known);
    return result;
}

}  // namespace

void measure_requests(const ServedPods& served) {
    const Times t = in_process([&] { return times(served); });
    print("bytes of a shard", t.kilobytes, "KB");
    print("floor: memcpy of these bytes", t.memcpy, "us");
    print("sending them over loopback, CPU", t.send, "us", t.memcpy);
    print("a request inside the process", t.list, "us", t.memcpy);
    print("the same, compressed", t.gzip, "us", t.memcpy);
    print("the same, 304", t.unchanged, "us", t.memcpy);
    std::printf("  goal: 50 us\n");
}

}  // namespace bench
