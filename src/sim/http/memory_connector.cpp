#include "k8s_sd/sim/memory_connector.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::sim {

/// The state shared by the streams of one connector.
struct MemoryConnector::Shared {
    const asio::any_io_executor server;
    const Accept accept;
    const TransportFaults faults;
    const bool http2;
    std::atomic<std::size_t> operations{0};
    std::atomic<std::size_t> received{0};
    std::atomic<bool> failed{false};

    Shared(asio::any_io_executor e, Accept a, TransportFaults f, bool h)
        : server(std::move(e)), accept(std::move(a)), faults(f), http2(h) {}

    /// Counts an operation of a client; true if it is the failing one.
    bool strikes() {
        if (operations++ != faults.fail_operation) return false;
        failed = true;
        return true;
    }
    /// Counts bytes of a client; true if the connection breaks after them.
    bool strikes_after(std::size_t bytes) {
        const std::size_t before = received.fetch_add(bytes);
        if (faults.fail_after_bytes == TransportFaults::never) return false;
        if (before >= faults.fail_after_bytes || before + bytes < faults.fail_after_bytes) {
            return false;
        }
        failed = true;
        return true;
    }
    std::size_t read_limit() const {
        if (faults.fail_after_bytes == TransportFaults::never) return faults.max_read;
        const std::size_t done = received;
        if (done >= faults.fail_after_bytes) return faults.max_read;
        return std::min(faults.max_read, faults.fail_after_bytes - done);
    }
};

namespace {

enum class Side : std::size_t { client, server };
constexpr Side other(Side side) { return side == Side::client ? Side::server : Side::client; }

/// The two directions of a connection. Handlers are posted, never called, so they run without any
/// lock.
class Pipe {
 public:
    Pipe(std::shared_ptr<MemoryConnector::Shared> shared, asio::any_io_executor client,
         asio::any_io_executor server, bool is_http2)
        : http2(is_http2),
          shared_(std::move(shared)),
          ends_{End(std::move(client)), End(std::move(server))} {}

    void read(Side side, asio::mutable_buffer target, ByteStream::IoHandler handler) {
        const std::lock_guard lock(mutex_);
        End& end = ends_[index(side)];
        end.target = target;
        end.reader = std::move(handler);
        transfer(other(side));
    }

    void write(Side side, asio::const_buffer source, ByteStream::IoHandler handler) {
        const std::lock_guard lock(mutex_);
        End& end = ends_[index(side)];
        end.source = source;
        end.written = 0;
        end.writer = std::move(handler);
        transfer(side);
    }

    void close(Side side) {
        const std::lock_guard lock(mutex_);
        End& end = ends_[index(side)];
        if (end.closed) return;
        end.closed = true;
        complete_read(side, asio::error::operation_aborted, 0);
        complete_write(side, asio::error::operation_aborted);
        transfer(side);
        transfer(other(side));
        // The context of a client may end before the server notices.
        if (side == Side::client) end.executor = {};
    }

    void reset() {
        const std::lock_guard lock(mutex_);
        reset_locked();
    }

    const bool http2;

 private:
    struct End {
        explicit End(asio::any_io_executor e) : executor(std::move(e)) {}

        asio::any_io_executor executor;
        bool closed = false;
        asio::mutable_buffer target;
        ByteStream::IoHandler reader;
        asio::const_buffer source;
        std::size_t written = 0;
        ByteStream::IoHandler writer;
        std::string sent;  ///< by this end, not yet read by the other end
    };

    static std::size_t index(Side side) { return static_cast<std::size_t>(side); }

    /// Transfers as many bytes as possible from `side` to the other end.
    void transfer(Side side) {
        End& from = ends_[index(side)];
        End& to = ends_[index(other(side))];
        while (fill(from) || drain(side, from, to)) {
        }
        if (from.writer && (broken_ || from.closed || to.closed)) {
            complete_write(side,
                           broken_ ? asio::error::connection_reset : asio::error::broken_pipe);
        } else if (from.writer && from.source.size() == 0) {
            complete_write(side, {});
        }
        if (!to.reader) return;
        if (broken_) {
            complete_read(other(side), asio::error::connection_reset, 0);
        } else if (to.closed) {
            complete_read(other(side), asio::error::operation_aborted, 0);
        } else if (from.closed && from.sent.empty()) {
            complete_read(other(side), asio::error::eof, 0);
        }
    }

    bool fill(End& from) {
        const std::size_t room =
            shared_->faults.buffer - std::min(shared_->faults.buffer, from.sent.size());
        const std::size_t size = from.writer ? std::min(room, from.source.size()) : 0;
        if (size == 0) return false;
        from.sent.append(static_cast<const char*>(from.source.data()), size);
        from.source += size;
        from.written += size;
        return true;
    }

    bool drain(Side side, End& from, End& to) {
        if (!to.reader || to.closed || broken_ || from.sent.empty()) return false;
        const bool to_client = other(side) == Side::client;
        std::size_t size = std::min(to.target.size(), from.sent.size());
        if (to_client) size = std::min(size, std::max<std::size_t>(shared_->read_limit(), 1));
        std::copy_n(from.sent.data(), size, static_cast<char*>(to.target.data()));
        from.sent.erase(0, size);
        complete_read(other(side), {}, size);
        if (to_client && shared_->strikes_after(size)) reset_locked();
        return true;
    }

    void reset_locked() {
        if (broken_) return;
        broken_ = true;
        for (End& end : ends_) end.sent.clear();
        transfer(Side::client);
        transfer(Side::server);
    }

    void complete_read(Side side, error_code ec, std::size_t size) {
        End& end = ends_[index(side)];
        if (end.reader) post(end, std::exchange(end.reader, nullptr), ec, size);
    }
    void complete_write(Side side, error_code ec) {
        End& end = ends_[index(side)];
        end.source = {};
        if (end.writer) post(end, std::exchange(end.writer, nullptr), ec, end.written);
    }
    static void post(End& end, ByteStream::IoHandler handler, error_code ec, std::size_t size) {
        asio::post(end.executor, [handler = std::move(handler), ec, size] { handler(ec, size); });
    }

    std::shared_ptr<MemoryConnector::Shared> shared_;
    std::mutex mutex_;
    std::array<End, 2> ends_;
    bool broken_ = false;
};

class ServerEnd final : public ByteStream {
 public:
    ServerEnd(asio::any_io_executor executor, std::shared_ptr<Pipe> pipe)
        : executor_(std::move(executor)), pipe_(std::move(pipe)) {}
    ~ServerEnd() override { pipe_->close(Side::server); }
    void async_connect(ConnectHandler handler) override {
        asio::post(executor_, [handler = std::move(handler)] { handler({}, {}); });
    }
    void async_read_some(asio::mutable_buffer target, IoHandler handler) override {
        pipe_->read(Side::server, target, std::move(handler));
    }
    void async_write(asio::const_buffer source, IoHandler handler) override {
        pipe_->write(Side::server, source, std::move(handler));
    }
    void close() noexcept override { pipe_->close(Side::server); }
    bool uses_http2() const override { return pipe_->http2; }

 private:
    asio::any_io_executor executor_;
    std::shared_ptr<Pipe> pipe_;
};

class ClientEnd final : public ByteStream {
 public:
    ClientEnd(asio::any_io_executor executor, std::shared_ptr<MemoryConnector::Shared> shared)
        : executor_(std::move(executor)), shared_(std::move(shared)) {}
    ~ClientEnd() override { close(); }

    void async_connect(ConnectHandler handler) override {
        error_code ec;
        if (closed_) {
            ec = asio::error::operation_aborted;
        } else if (shared_->strikes()) {
            ec = asio::error::connection_reset;
        } else {
            pipe_ = std::make_shared<Pipe>(shared_, executor_, shared_->server,
                                           offers_http2_ && shared_->http2);
            if (!shared_->accept(std::make_unique<ServerEnd>(shared_->server, pipe_))) {
                pipe_ = nullptr;
                ec = asio::error::connection_refused;
            }
        }
        asio::post(executor_, [handler = std::move(handler), ec] { handler(ec, ec.message()); });
    }
    void async_read_some(asio::mutable_buffer target, IoHandler handler) override {
        if (!usable(handler)) return;
        if (shared_->strikes()) pipe_->reset();
        pipe_->read(Side::client, target, std::move(handler));
    }
    void async_write(asio::const_buffer source, IoHandler handler) override {
        if (!usable(handler)) return;
        if (shared_->strikes()) pipe_->reset();
        pipe_->write(Side::client, source, std::move(handler));
    }
    void close() noexcept override {
        closed_ = true;
        if (pipe_) pipe_->close(Side::client);
    }
    void offer_http2() override { offers_http2_ = true; }
    bool uses_http2() const override { return pipe_ && pipe_->http2; }

 private:
    bool usable(IoHandler& handler) {
        if (pipe_ && !closed_) return true;
        const error_code ec = closed_ ? error_code(asio::error::operation_aborted)
                                      : error_code(asio::error::not_connected);
        asio::post(executor_, [handler = std::move(handler), ec] { handler(ec, 0); });
        return false;
    }

    asio::any_io_executor executor_;
    std::shared_ptr<MemoryConnector::Shared> shared_;
    std::shared_ptr<Pipe> pipe_;
    bool offers_http2_ = false;
    bool closed_ = false;
};

}  // namespace

MemoryConnector::MemoryConnector(asio::any_io_executor server, Accept accept,
                                 TransportFaults faults, bool http2)
    : shared_(std::make_shared<Shared>(std::move(server), std::move(accept), faults, http2)) {}

MemoryConnector::~MemoryConnector() = default;

std::unique_ptr<ByteStream> MemoryConnector::make_stream(asio::any_io_executor executor,
                                                         const ConnectTarget&) {
    return std::make_unique<ClientEnd>(std::move(executor), shared_);
}

std::size_t MemoryConnector::operations() const { return shared_->operations; }
bool MemoryConnector::failed() const { return shared_->failed; }

}  // namespace k8s_sd::inline v0::sim
