#pragma once

#include "access/access.hpp"
#include "http/http_server.hpp"
#include "http/tls_files.hpp"
#include "jobs/serve_metrics.hpp"
#include "k8s_sd/config.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd_program {

/// The address to listen on: as configured, by default localhost, or all addresses in a pod.
boost::asio::ip::tcp::endpoint listen_endpoint(const std::string& said,
                                               const k8s_sd::InClusterFiles& = {});

/// Raises the limit of open files for so many connections and the program's own files, within the
/// limits of the system. \returns the possible number of connections
std::size_t make_room_for(std::size_t connections);

/// Reports each note when it is new, and repeats it while it lasts.
class RecurringNotes {
 public:
    static constexpr std::int64_t day = 24 * 60 * 60;

    /// \param now  in seconds \returns the notes to report now
    std::vector<std::string> due(const std::vector<std::string>& notes, std::int64_t now);

 private:
    std::map<std::string, std::int64_t> said_;  // time of the last report
};

/// Protects the routes: TLS and access control. Rereads certificates and tokens periodically;
/// reading blocks.
class Guard {
 public:
    using Complain = std::function<void(const std::string&)>;

    /// \param interval  between two reads of the files \throws cli::Unusable
    Guard(const boost::asio::any_io_executor&, const http::TlsFiles&, const AccessOptions&,
          bool local, Complain, std::chrono::milliseconds interval = std::chrono::seconds(2));
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    /// Both results refer to this object.
    http::HttpServer::Handler protect(http::HttpServer::Handler);
    http::HttpServer::Tls tls() const;

    ClientMetrics metrics(const http::HttpServer&) const;

    void start();
    /// Reads the files now.
    void refresh();
    /// Present problems with certificates, one a line.
    std::string trouble() const;
    void stop();

 private:
    void refresh_later();
    void say_notes();
    std::vector<std::string> notes() const;

    boost::asio::steady_timer timer_;
    std::optional<http::RenewedTls> tls_;
    std::optional<AccessPolicy> access_;
    const Complain complain_;
    const std::chrono::milliseconds interval_;
    RecurringNotes notes_;
    bool stopped_ = false;
    std::uint64_t unknown_ = 0;
    std::uint64_t forbidden_ = 0;
};

}  // namespace k8s_sd_program
