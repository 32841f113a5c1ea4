#include "processes.hpp"

#include "child.hpp"
#include "cli/listen_address.hpp"
#include "http/http_server.hpp"
#include "http_client.hpp"
#include "jobs.hpp"
#include "measure.hpp"

#include <boost/asio/io_context.hpp>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace bench {

namespace {

/// A process whose standard output is read.
struct Started {
    pid_t process;
    int output;
};

template <class Run>
Started start(Run run) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) throw std::runtime_error("cannot make a pipe");
    const pid_t process = ::fork();
    if (process == 0) {
        ::dup2(pipe[1], STDOUT_FILENO);
        ::close(pipe[0]);
        ::close(pipe[1]);
        run();
        std::_Exit(1);
    }
    ::close(pipe[1]);
    return {process, pipe[0]};
}

/// The port in "listens at http://127.0.0.1:8080", the first line; drops the following lines.
unsigned short port_in(int output) {
    std::string line;
    for (char c = 0; ::read(output, &c, 1) == 1 && c != '\n';) line += c;
    const std::size_t colon = line.rfind(':');
    if (colon == line.npos) throw std::runtime_error("a server did not start");
    return static_cast<unsigned short>(std::stoul(line.substr(colon + 1)));
}

std::filesystem::path written(const std::string& text) {
    std::string name = (std::filesystem::temp_directory_path() / "bench-XXXXXX").string();
    const int file = ::mkstemp(name.data());
    if (file < 0) throw std::runtime_error("cannot make a file");
    ::close(file);
    std::ofstream(name) << text;
    return name;
}

void wait_until_ready(unsigned short port) {
    HttpClient client(port);
    while (client.get("/readyz").status != 200) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

template <class Report>
void serve_fixed(std::size_t body_bytes, const Report& report) {
    using http::HttpServer;
    boost::asio::io_context io(1);
    const auto body = std::make_shared<const std::string>(body_bytes, 'x');
    const auto server =
        std::make_shared<HttpServer>(io.get_executor(), cli::listen_address("127.0.0.1:0"),
                                     [&body](const auto&, const HttpServer::Respond& respond) {
                                         respond({200, body});
                                     });
    server->start();
    report(server->endpoint().port());
    io.run();
}

}  // namespace

ServerProcess::~ServerProcess() {
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
}

double ServerProcess::cpu_seconds() const { return cpu_seconds_of(process_); }

double ServerProcess::memory_mb(const std::string& field) const {
    return memory_mb_of(process_, field);
}

K8sSd::K8sSd(const std::string& config) : config_(written(config)) {
    const Started started = start([&] {
        ::execl(K8S_SD_PROGRAM, "k8s-sd", "--config", config_.c_str(), "--listen", "127.0.0.1:0",
                nullptr);
    });
    process_ = started.process;
    port_ = port_in(started.output);
    ::close(started.output);
    wait_until_ready(port_);
}

K8sSd::~K8sSd() {
    std::error_code ignored;
    std::filesystem::remove(config_, ignored);
}

std::size_t K8sSd::ask_for_shards(const std::string& job, std::size_t shards) const {
    HttpClient client(port());
    std::size_t bytes = 0;
    for (std::size_t shard = 0; shard < shards; ++shard) {
        bytes += client.get(shard_of(job, shard, shards)).body.size();
    }
    return bytes;
}

FixedServer::FixedServer(std::size_t body_bytes) {
    const Child child =
        start_child(port_, [&](int, const auto& report) { serve_fixed(body_bytes, report); });
    process_ = child.process;
    ::close(child.input);
}

}  // namespace bench
