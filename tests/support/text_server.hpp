#pragma once

#include "k8s_sd/environment.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// An in-memory connector to a server that answers each request, sent in one write, with a text.
/// For one thread.
class TextServer final : public Connector {
 public:
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor executor,
                                            const ConnectTarget& target) override {
        targets.push_back(target);
        return std::make_unique<Stream>(*this, std::move(executor));
    }
    static std::string http(int status, const std::string& body,
                            const std::string& type = "application/json") {
        return "HTTP/1.1 " + std::to_string(status) + " x\r\nContent-Type: " + type +
               "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    }

    /// The responses to the next requests; the last one repeats. Empty: no response.
    std::vector<std::string> answers;
    std::vector<std::string> requests;
    std::vector<ConnectTarget> targets;

 private:
    class Stream final : public ByteStream {
     public:
        Stream(TextServer& server, asio::any_io_executor executor)
            : server_(server), executor_(std::move(executor)) {}
        ~Stream() override { close(); }
        void async_connect(ConnectHandler handler) override {
            asio::post(executor_, [handler] { handler({}, {}); });
        }
        void async_write(asio::const_buffer data, IoHandler handler) override {
            server_.requests.emplace_back(static_cast<const char*>(data.data()), data.size());
            pending_ = server_.answers.front();
            if (server_.answers.size() > 1) server_.answers.erase(server_.answers.begin());
            asio::post(executor_, [handler, size = data.size()] { handler({}, size); });
        }
        void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
            reader_ = std::move(handler);
            if (pending_.empty()) return;
            const std::size_t n = std::min(buffer.size(), pending_.size());
            std::memcpy(buffer.data(), pending_.data(), n);
            pending_.erase(0, n);
            asio::post(executor_,
                       [handler = std::exchange(reader_, nullptr), n] { handler({}, n); });
        }
        void close() noexcept override {
            if (!reader_) return;
            asio::post(executor_, [handler = std::exchange(reader_, nullptr)] {
                handler(asio::error::operation_aborted, 0);
            });
        }

     private:
        TextServer& server_;
        asio::any_io_executor executor_;
        std::string pending_;
        IoHandler reader_;
    };
};

}  // namespace k8s_sd::test
