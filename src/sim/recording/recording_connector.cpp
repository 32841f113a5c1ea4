#include "sim/recording/recording_format.hpp"
#include "sim/recording/recording_writer.hpp"
#include "sim/recording/response_filter.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::sim {

namespace {

/// A younger stream stays open when a file is full: it may still send a list, and the library
/// pauses after watches that end early.
constexpr Duration min_life = std::chrono::minutes(1);

/// The answer to a watch of a collection that is to be listed: its version has expired.
std::string gone() {
    constexpr std::string_view body =
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
        R"("message":"a new file of the recording begins","reason":"Expired","code":410})";
    return "HTTP/1.1 410 Gone\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace

/// Handlers of the inner stream may come after the end of this one, so they share the state.
class RecordingConnector::Stream final : public ByteStream {
 public:
    Stream(asio::any_io_executor executor, std::unique_ptr<ByteStream> inner,
           std::shared_ptr<RecordingWriter> writer, std::string server)
        : executor_(std::move(executor)),
          inner_(std::move(inner)),
          state_(std::make_shared<State>(std::move(writer), std::move(server))) {}
    ~Stream() override { state_->close(); }

    void async_connect(ConnectHandler handler) override {
        inner_->async_connect(
            [state = state_, handler = std::move(handler)](error_code ec, std::string text) {
                if (ec != asio::error::operation_aborted) {
                    state->add(RecordedPart::Kind::connect, ec ? ec.message() : "");
                }
                handler(ec, std::move(text));
            });
    }
    void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
        if (!answer_.empty()) {
            const std::size_t size = asio::buffer_copy(buffer, asio::buffer(answer_));
            answer_.erase(0, size);
            return complete(std::move(handler), {}, size);
        }
        // The reader closes the stream then.
        if (state_->must_end()) return complete(std::move(handler), asio::error::eof, 0);
        inner_->async_read_some(buffer, [state = state_, buffer, handler = std::move(handler)](
                                            error_code ec, std::size_t size) {
            if (size > 0) state->read({static_cast<const char*>(buffer.data()), size});
            if (ec && ec != asio::error::operation_aborted) state->end(ec);
            handler(ec, size);
        });
    }
    void async_write(asio::const_buffer buffer, IoHandler handler) override {
        const std::string_view request(static_cast<const char*>(buffer.data()), buffer.size());
        answer_.clear();
        switch (state_->begin(request)) {
            case Sending::as_it_is: return inner_->async_write(buffer, std::move(handler));
            case Sending::not_at_all:
                answer_ = gone();
                return complete(std::move(handler), {}, buffer.size());
            case Sending::for_json: break;
        }
        // Only JSON can be anonymised.
        auto sent = std::make_shared<const std::string>(request_for_json(request));
        inner_->async_write(asio::buffer(*sent),
                            [sent, size = buffer.size(),
                             handler = std::move(handler)](error_code ec, std::size_t written) {
                                handler(ec, ec ? std::min(written, size) : size);
                            });
    }
    void close() noexcept override {
        state_->close();
        inner_->close();
    }
    std::string waits_for() const override { return inner_->waits_for(); }

 private:
    /// What is sent in place of a request.
    enum class Sending : std::uint8_t { as_it_is, for_json, not_at_all };

    struct State {
        State(std::shared_ptr<RecordingWriter> w, std::string s)
            : writer(std::move(w)),
              server(std::move(s)),
              place{.file = writer->file(), .stream = writer->next_stream()} {}

        void add(RecordedPart::Kind kind, std::string_view text) {
            const bool is_compressed = response && response->is_compressed();
            writer->add(kind, place, text, is_compressed);
        }
        Sending begin(std::string_view request) {
            response.reset();
            is_watch = false;
            if (!is_recorded(request)) return Sending::as_it_is;
            const Sending sending = writer->is_anonymous() ? Sending::for_json : Sending::as_it_is;
            const CollectionRequest collection = collection_request(request);
            using Purpose = CollectionRequest::Purpose;
            is_watch = collection.purpose == Purpose::watch ||
                       collection.purpose == Purpose::streamed_list;
            began = writer->now();
            // If the file is full, the request is the first one of the next file.
            for (int attempt = 0; attempt < 2 && !writer->has_ended(); ++attempt) {
                const RecordingWriter::Request in_file =
                    writer->begin(place.stream, server, collection);
                place = in_file.place;
                if (in_file.expects_list) return Sending::not_at_all;
                add_request(request);
                if (place.file == writer->file()) break;
            }
            return sending;
        }
        void add_request(std::string_view request) {
            response.reset();
            if (!writer->takes(place)) return;
            const std::shared_ptr<Anonymiser> names = writer->names();
            std::string text = harmless_request(request);
            if (names) text = names->request(request_for_json(text));
            add(RecordedPart::Kind::request, text);
            response.emplace(names, request);
        }
        /// Whether this is a watch for an earlier file: the next one begins with a list.
        bool must_end() const {
            return is_watch && place.file != writer->file() && !writer->has_ended() &&
                   writer->now() - began >= min_life;
        }
        void read(std::string_view bytes) {
            // Otherwise text would add names to a file that does not get it.
            if (!response || !writer->takes(place)) return;
            if (response->keeps_bytes()) return add_bytes(bytes);
            add_bytes(response->feed(bytes));
        }
        void end(error_code ec) {
            if (response && writer->takes(place)) add_bytes(response->end());
            add(RecordedPart::Kind::end, ec == asio::error::eof ? "" : ec.message());
        }
        void add_bytes(std::string_view bytes) {
            if (!bytes.empty()) add(RecordedPart::Kind::bytes, bytes);
        }
        void close() noexcept {
            if (std::exchange(closed, true)) return;
            try {
                add(RecordedPart::Kind::close, {});
            } catch (const std::exception&) {
                closed = true;  // without memory the recording lacks this part
            }
        }

        const std::shared_ptr<RecordingWriter> writer;
        const std::string server;
        RecordingWriter::Place place;            ///< of the present exchange
        std::optional<ResponseFilter> response;  ///< the present one, if it is recorded
        TimePoint began{};                       ///< the present exchange
        bool is_watch = false;
        bool closed = false;
    };

    void complete(IoHandler handler, error_code ec, std::size_t size) {
        asio::post(executor_, [handler = std::move(handler), ec, size] { handler(ec, size); });
    }

    const asio::any_io_executor executor_;
    const std::unique_ptr<ByteStream> inner_;
    const std::shared_ptr<State> state_;
    std::string answer_;  ///< to be read in place of a response
};

RecordingConnector::RecordingConnector(std::shared_ptr<Connector> inner,
                                       std::shared_ptr<Clock> clock, const std::string& file,
                                       RecordingOptions options)
    : inner_(std::move(inner)),
      writer_(std::make_shared<RecordingWriter>(std::move(clock), file, std::move(options))) {}

RecordingConnector::~RecordingConnector() { writer_->end(); }

std::unique_ptr<ByteStream> RecordingConnector::make_stream(asio::any_io_executor executor,
                                                            const ConnectTarget& target) {
    std::unique_ptr<ByteStream> stream = inner_->make_stream(executor, target);
    if (!stream) return stream;
    return std::make_unique<Stream>(std::move(executor), std::move(stream), writer_,
                                    target.host + ':' + target.port);
}

}  // namespace k8s_sd::inline v0::sim
