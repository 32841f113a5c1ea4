#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "sim/http/body_coding.hpp"
#include "sim/http/http.hpp"
#include "sim/store/watch.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace k8s_sd::inline v0::sim {

/// One HTTP/1.1 connection of the server, or one stream of an Http2Connection: sequential requests,
/// possibly a watch. All members are called on the server's strand.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
    /// The interface of a connection's server; the server outlives the connection.
    class Server {
     public:
        virtual ~Server() = default;
        /// Responds with answer() or start_watch(), or not at all.
        virtual void serve(Connection&, Request) = 0;
        virtual void closed(Connection&) = 0;
        virtual void watch_ended() = 0;
        virtual Clock& clock() = 0;
    };

    enum class Transport : std::uint8_t {
        unconnected,
        connected,
        http2_stream,  ///< of a connection counted elsewhere
    };
    Connection(Server&, asio::any_io_executor strand, std::unique_ptr<ByteStream>, Transport,
               const ApiServerOptions&);
    void start();
    Transport transport() const { return transport_; }
    /// Closes at once; the server drops the connection.
    void close();

    void answer(const Response&);
    void start_watch(std::unique_ptr<Watch>, BodyCoding = {});

    /// Sends pending events of a running watch of this resource.
    void wake(const ResourceType&);
    void inject(const ResourceType&, const std::string& bytes, ApiServer::After);
    /// Ends a running watch of this resource with a recorded event.
    void end_watch_with(const ResourceType&, std::string_view event);
    void end_watch();

 private:
    void read();
    void on_read(error_code, std::size_t);
    void next_request();
    void pump();
    void write(std::string);
    void on_written(error_code);
    void schedule_bookmark(TimePoint now);
    void arm_timer();
    void on_timer();

    Server& server_;
    const ApiServerOptions& options_;
    std::unique_ptr<ByteStream> stream_;
    const Transport transport_;
    using Input = std::array<char, 4 * 1024>;
    /// Shared with handlers: a stream may use the memory until it calls them, possibly after the
    /// end of the connection. The same applies to the bytes of a write.
    std::shared_ptr<Input> input_ = std::make_shared<Input>();
    RequestReader reader_;
    bool client_closes_ = false;  ///< "Connection: close", or the end of the client's bytes
    bool busy_ = false;           ///< a request is being processed
    bool writing_ = false;
    bool close_when_written_ = false;
    bool closed_ = false;

    std::unique_ptr<Watch> watch_;
    BodyCoding coding_;  ///< of the watch
    std::string injected_;
    ApiServer::After after_ = ApiServer::After::go_on;
    std::unique_ptr<Timer> timer_;
    TimePoint next_bookmark_{};
    TimePoint deadline_{};
};

}  // namespace k8s_sd::inline v0::sim
