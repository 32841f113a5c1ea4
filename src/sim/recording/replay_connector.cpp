#include "sim/recording/recording_format.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// The exchanges and connections that have not been used yet.
class ReplayConnector::Player {
 public:
    /// The parts of a response: bytes, and at most one end.
    using Response = std::vector<RecordedPart>;
    using Purpose = CollectionRequest::Purpose;

    Player(Recording recording, std::shared_ptr<Clock> clock)
        : clock_(std::move(clock)), start_(clock_->now()) {
        std::map<std::uint64_t, std::shared_ptr<Response>> current;
        Duration last{-1};
        for (RecordedPart& part : recording.parts) {
            // Parts of the same moment keep their order.
            last = part.time = std::max(part.time, last + Duration(1));
            const std::uint64_t stream = part.stream;
            switch (part.kind) {
                case RecordedPart::Kind::connect: connects_.push_back(std::move(part)); break;
                case RecordedPart::Kind::request: {
                    auto response = std::make_shared<Response>();
                    add_request(part, response);
                    current[stream] = std::move(response);
                    break;
                }
                case RecordedPart::Kind::bytes:
                case RecordedPart::Kind::end:
                    if (const auto found = current.find(stream); found != current.end()) {
                        found->second->push_back(std::move(part));
                    }
                    break;
                case RecordedPart::Kind::close: current.erase(stream); break;
            }
        }
    }

    Clock& clock() const noexcept { return *clock_; }
    TimePoint time_of(const RecordedPart& part) const noexcept { return start_ + part.time; }

    /// The next attempt to connect; nullopt: the recording has none.
    std::optional<RecordedPart> take_connect() {
        const std::lock_guard lock(mutex_);
        // The recorded program was connected before.
        if (connects_.empty() || begins_midway_) return std::nullopt;
        RecordedPart connect = std::move(connects_.front());
        connects_.pop_front();
        return connect;
    }
    /// The response to such a request; null: the recording has none.
    std::shared_ptr<const Response> take_response(std::string_view request) {
        const CollectionRequest collection = collection_request(request);
        const std::lock_guard lock(mutex_);
        if (auto response = take(request_key(request))) {
            if (collection.lists()) listed_.insert(collection.collection);
            return response;
        }
        if (auto response = take_first_list(collection)) return response;
        // The recorded program knew the server's APIs already, and its watches broke at other
        // times, after which it asked for the server's version.
        const bool differs = is_for_documents(request) || collection.purpose == Purpose::other;
        if (!begins_midway_ || !differs) ++unknown_requests;
        return nullptr;
    }

    std::atomic<std::size_t> unknown_requests{0};

 private:
    /// A recorded request for a collection.
    struct Request {
        Purpose purpose = Purpose::list;
        std::string key{};
        Duration time{};
        std::shared_ptr<const Response> response{};
    };

    void add_request(const RecordedPart& request, const std::shared_ptr<const Response>& response) {
        std::string key = request_key(request.text);
        responses_[key].push_back(response);
        if (is_for_documents(request.text)) return;
        CollectionRequest collection = collection_request(request.text);
        if (collections_.empty()) begins_midway_ = !collection.lists() || collection.has_version;
        collections_[std::move(collection.collection)].push_back(
            {collection.purpose, std::move(key), request.time, response});
    }
    /// The next response to the requests of this key, or null.
    std::shared_ptr<const Response> take(const std::string& key) {
        const auto found = responses_.find(key);
        if (found == responses_.end() || found->second.empty()) return nullptr;
        std::shared_ptr<const Response> response = std::move(found->second.front());
        found->second.pop_front();
        return response;
    }
    /// A file after the first one begins in the middle of a run. The recorded program knew versions
    /// and supported forms of lists already, so its lists there are not those of a new program.
    std::shared_ptr<const Response> take_first_list(const CollectionRequest& request) {
        const auto found = collections_.find(request.collection);
        if (!request.lists() || request.has_version || found == collections_.end() ||
            listed_.contains(request.collection)) {
            return nullptr;
        }
        const std::vector<Request>& all = found->second;
        const auto list = std::find_if(all.begin(), all.end(), [&](const Request& recorded) {
            return recorded.purpose == request.purpose;
        });
        if (list == all.end()) {
            return request.purpose == Purpose::streamed_list ? refusal_to_stream() : nullptr;
        }
        listed_.insert(request.collection);
        // What the recorded program has requested before: the versions in the responses are older.
        for (auto earlier = all.begin(); earlier != list; ++earlier) drop(*earlier);
        drop(*list);
        return at_once(*list);
    }
    void drop(const Request& request) {
        auto& responses = responses_[request.key];
        if (!responses.empty() && responses.front() == request.response) responses.pop_front();
    }
    /// The program waits for its list from the beginning, and not for as long as the recorded
    /// program waited with its request. Later events of a streamed list keep their times.
    static std::shared_ptr<const Response> at_once(const Request& list) {
        constexpr Duration max_list = std::chrono::seconds(10);
        Response response = *list.response;
        for (RecordedPart& part : response) {
            const Duration after = part.time - list.time;
            if (list.purpose == Purpose::list || after <= max_list) part.time = after;
        }
        return std::make_shared<const Response>(std::move(response));
    }
    /// As of a server before watch-lists.
    std::shared_ptr<const Response> refusal_to_stream() const {
        return std::make_shared<const Response>(
            Response{{.kind = RecordedPart::Kind::bytes,
                      .time = clock_->now() - start_,
                      .text = "HTTP/1.1 422 Unprocessable Entity\r\nContent-Length: 0\r\n\r\n"}});
    }

    const std::shared_ptr<Clock> clock_;
    const TimePoint start_;
    std::mutex mutex_;
    std::deque<RecordedPart> connects_;
    bool begins_midway_ = false;  ///< the file is not the first one of a run
    std::map<std::string, std::deque<std::shared_ptr<const Response>>> responses_;  ///< by key
    std::map<std::string, std::vector<Request>> collections_;  ///< their requests, in order
    std::set<std::string> listed_;                             ///< collections, in this replay
};

/// The state is shared with posted handlers, which may come after the end of the stream.
class ReplayConnector::Stream final : public ByteStream {
 public:
    Stream(asio::any_io_executor executor, std::shared_ptr<Player> player)
        : executor_(std::move(executor)),
          player_(std::move(player)),
          timer_(player_->clock().make_timer(executor_)) {}
    ~Stream() override { Stream::close(); }

    void async_connect(ConnectHandler handler) override {
        const auto connect = player_->take_connect();
        connect_ = std::move(handler);
        const std::string problem = connect ? connect->text : "";
        const TimePoint due = connect ? player_->time_of(*connect) : player_->clock().now();
        timer_->expires_at(due, [this, problem] {
            const error_code ec = problem.empty() ? error_code() : asio::error::connection_refused;
            std::exchange(connect_, nullptr)(ec, problem);
        });
    }
    void async_write(asio::const_buffer buffer, IoHandler handler) override {
        timer_->cancel();  // of the previous response
        response_ = player_->take_response(
            std::string_view(static_cast<const char*>(buffer.data()), buffer.size()));
        next_ = done_ = 0;
        asio::post(executor_,
                   [handler = std::move(handler), size = buffer.size()] { handler({}, size); });
        if (reader_) wait_for_part();
    }
    void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
        buffer_ = buffer;
        reader_ = std::move(handler);
        wait_for_part();
    }
    void close() noexcept override {
        timer_->cancel();
        response_.reset();
        abort(std::exchange(reader_, nullptr), std::size_t{0});
        abort(std::exchange(connect_, nullptr), std::string());
    }

 private:
    template <class Handler, class Value>
    void abort(Handler handler, Value value) noexcept {
        if (!handler) return;
        asio::post(executor_, [handler = std::move(handler), value = std::move(value)] {
            handler(asio::error::operation_aborted, value);
        });
    }
    void wait_for_part() {
        // Without a further part the server keeps silent.
        if (!response_ || next_ == response_->size()) return;
        timer_->expires_at(player_->time_of((*response_)[next_]), [this] { deliver(); });
    }
    void deliver() {
        const RecordedPart& part = (*response_)[next_];
        error_code ec;
        std::size_t size = 0;
        if (part.kind == RecordedPart::Kind::end) {
            ec = asio::error::connection_reset;
            if (part.text.empty()) ec = asio::error::eof;
            ++next_;
        } else {
            size = std::min(part.text.size() - done_, buffer_.size());
            std::memcpy(buffer_.data(), part.text.data() + done_, size);
            done_ += size;
            if (done_ == part.text.size()) {
                ++next_;
                done_ = 0;
            }
        }
        std::exchange(reader_, nullptr)(ec, size);
    }

    const asio::any_io_executor executor_;
    const std::shared_ptr<Player> player_;
    const std::unique_ptr<Timer> timer_;
    ConnectHandler connect_;
    IoHandler reader_;
    asio::mutable_buffer buffer_;
    std::shared_ptr<const Player::Response> response_;
    std::size_t next_ = 0;  ///< part of the response
    std::size_t done_ = 0;  ///< delivered bytes of it
};

ReplayConnector::ReplayConnector(Recording recording, std::shared_ptr<Clock> clock)
    : player_(std::make_shared<Player>(std::move(recording), std::move(clock))) {}

ReplayConnector::~ReplayConnector() = default;

std::unique_ptr<ByteStream> ReplayConnector::make_stream(asio::any_io_executor executor,
                                                         const ConnectTarget&) {
    return std::make_unique<Stream>(std::move(executor), player_);
}

std::size_t ReplayConnector::unknown_requests() const noexcept { return player_->unknown_requests; }

}  // namespace k8s_sd::inline v0::sim
