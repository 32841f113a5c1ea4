#include "access/guard.hpp"

#include "cli/command_line.hpp"
#include "cli/listen_address.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/io_context.hpp>
#include <sys/resource.h>
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

namespace k8s_sd_program {

namespace asio = boost::asio;
using asio::ip::tcp;
using http::HttpServer;

namespace {

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
}

/// The same rule as in the library.
bool in_cluster(const k8s_sd::InClusterFiles& files) {
    std::error_code ignored;
    return is_set("KUBERNETES_SERVICE_HOST") && is_set("KUBERNETES_SERVICE_PORT") &&
           std::filesystem::is_regular_file(files.directory + "/token", ignored);
}

bool has_ipv6() {
    asio::io_context io;
    tcp::socket socket(io);
    boost::system::error_code ec;
    socket.open(tcp::v6(), ec);
    return !ec;
}

}  // namespace

tcp::endpoint listen_endpoint(const std::string& said, const k8s_sd::InClusterFiles& files) {
    if (!said.empty()) return cli::listen_address(said);
    if (!in_cluster(files)) return cli::listen_address("127.0.0.1:8080");
    return cli::listen_address(has_ipv6() ? "[::]:8080" : "0.0.0.0:8080");
}

std::size_t make_room_for(std::size_t connections) {
    // Reserve files: clients must not keep the program from reaching the API server.
    constexpr std::size_t own = 200;
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return connections;
    files.rlim_cur = std::max(files.rlim_cur, std::min<rlim_t>(files.rlim_max, connections + own));
    setrlimit(RLIMIT_NOFILE, &files);
    const std::size_t room = files.rlim_cur > 2 * own ? files.rlim_cur - own : own;
    return std::min(connections, room);
}

std::vector<std::string> RecurringNotes::due(const std::vector<std::string>& notes,
                                             std::int64_t now) {
    std::map<std::string, std::int64_t> said;
    std::vector<std::string> due;
    for (const std::string& note : notes) {
        const auto known = said_.find(note);
        const bool is_due = known == said_.end() || now - known->second >= day;
        if (is_due) due.push_back(note);
        said[note] = is_due ? now : known->second;
    }
    said_.swap(said);
    return due;
}

Guard::Guard(const asio::any_io_executor& executor, const http::TlsFiles& tls,
             const AccessOptions& access, bool local, Complain complain,
             std::chrono::milliseconds interval)
    : timer_(executor), complain_(std::move(complain)), interval_(interval) {
    try {
        if (!tls.cert.empty()) tls_.emplace(tls);
        access_.emplace(access, local);
    } catch (const std::exception& e) {
        throw cli::Unusable(k8s_sd::in_words(e));
    }
}

HttpServer::Handler Guard::protect(HttpServer::Handler handler) {
    return [this, handler = std::move(handler)](const HttpServer::Request& request,
                                                const HttpServer::Respond& respond) {
        auto refusal = access_->refusal(request);
        if (!refusal) return handler(request, respond);
        ++(refusal->status == 401 ? unknown_ : forbidden_);
        respond(std::move(*refusal));
    };
}

ClientMetrics Guard::metrics(const HttpServer& server) const {
    return {server.connections(), server.refused_connections(), unknown_, forbidden_,
            tls_ ? tls_->valid_until() : 0};
}

HttpServer::Tls Guard::tls() const {
    if (!tls_) return {};
    return [this] { return tls_->context(); };
}

void Guard::start() {
    if (tls_ && !tls_->advice().empty()) complain_(tls_->advice());
    say_notes();
    refresh_later();
}

void Guard::refresh() {
    if (tls_) {
        const std::string news = tls_->refresh();
        if (!news.empty()) complain_(news);
    }
    for (const std::string& problem : access_->refresh()) complain_(problem);
    say_notes();
}

void Guard::say_notes() {
    for (const std::string& note : notes_.due(notes(), std::time(nullptr))) complain_(note);
}

std::vector<std::string> Guard::notes() const {
    if (!tls_) return {};
    return tls_->notes(std::time(nullptr));
}

std::string Guard::trouble() const {
    std::string text;
    for (const std::string& note : notes()) text += note + "\n";
    return text;
}

/// cancel() has no effect on an expired timer, hence the flag.
void Guard::stop() {
    stopped_ = true;
    timer_.cancel();
}

void Guard::refresh_later() {
    timer_.expires_after(interval_);
    timer_.async_wait([this](boost::system::error_code ec) {
        if (ec || stopped_) return;
        refresh();
        refresh_later();
    });
}

}  // namespace k8s_sd_program
