#pragma once

#include "client.hpp"
#include "json_parts.hpp"
#include "list_model.hpp"

#include <boost/json/parse.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd_program::test {

/// A reader of /v1/watch that takes pieces on demand, and follows the events.
class StreamReader {
 public:
    struct Options {
        std::string url{};
        bool sse = false;
        bool forgets = false;  ///< reconnects without its previous state
        std::uint64_t connection = 0;
    };
    /// \param on_list  called for each list, including repeated ones
    /// \param complain  receives inconsistencies
    StreamReader(const http::HttpRoutes& routes, Options options,
                 std::function<void(const ListModel&)> on_list,
                 std::function<void(const std::string&)> complain)
        : routes_(routes),
          options_(std::move(options)),
          on_list_(std::move(on_list)),
          complain_(std::move(complain)) {}
    StreamReader(const StreamReader&) = delete;
    StreamReader& operator=(const StreamReader&) = delete;

    /// Takes the next piece, unless one is pending; reconnects after the end of the stream.
    void take() {
        if (waits_) return;
        if (std::exchange(ended_, false)) disconnect();
        if (!stream_) return connect();
        waits_ = true;
        stream_->next([this, weak = std::weak_ptr(alive_)](const auto& piece) {
            if (weak.expired()) return;
            waits_ = false;
            if (piece) {
                read(*piece);
            } else {
                ended_ = true;
            }
        });
    }
    /// Disconnects, at any position of the stream.
    void disconnect() {
        stream_.reset();
        alive_ = std::make_shared<int>(0);
        waits_ = false;
        ended_ = false;
        received_end_ = false;
        buffer_.clear();
    }

    const std::string& url() const { return options_.url; }
    bool connected() const { return stream_ != nullptr; }
    /// No further piece arrives until a list changes.
    bool waits() const { return waits_; }
    bool ended() const { return ended_; }
    const std::string& version() const { return version_; }
    const ListModel& list() const { return list_; }

 private:
    void connect() {
        if (options_.forgets) version_.clear();
        Ask what{.url = options_.url, .connection = options_.connection};
        if (options_.sse) {
            what.headers = {{"Accept", "text/event-stream"}, {"Last-Event-ID", version_}};
        } else if (!version_.empty()) {
            what.url += "&after=" + version_;
        }
        ask(routes_, what, [this](const Answered& answer) {
            const bool streams = answer.status == 200 && answer.stream;
            if (!streams && answer.status != 404 && answer.status != 503) {
                complain_("status " + std::to_string(answer.status) + ": " + answer.body);
            }
            stream_ = answer.stream;
        });
    }

    void read(const std::string& piece) {
        if (received_end_) complain_("something follows the end");
        buffer_ += piece;
        const std::string_view end_of_event = options_.sse ? "\n\n" : "\n";
        for (auto end = buffer_.find(end_of_event); end != std::string::npos;
             end = buffer_.find(end_of_event)) {
            const std::string event = buffer_.substr(0, end);
            buffer_.erase(0, end + end_of_event.size());
            options_.sse ? read_sse(event) : apply(event);
        }
    }
    void read_sse(std::string_view text) {
        std::string_view type;
        std::string_view id;
        std::string_view data;
        while (!text.empty()) {
            const auto end = std::min(text.find('\n'), text.size());
            const std::string_view line = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
            const auto colon = line.find(": ");
            const std::string_view value = line.substr(std::min(colon, line.size() - 2) + 2);
            if (line.starts_with("event: ")) type = value;
            if (line.starts_with("id: ")) id = value;
            if (line.starts_with("data: ")) data = value;
        }
        apply(data);
        if (type != type_) complain_("an event of the type " + type_ + " is called otherwise");
        if (!id.empty() && id != version_) complain_("an id that is not the version");
    }
    void apply(std::string_view json) {
        boost::json::parse({json.data(), json.size()});  // throws
        const auto event = JsonParts::members(json);
        const auto text = [&](const char* name) {
            const auto it = event.find(name);
            return it == event.end() ? std::string()
                                     : std::string(it->second.substr(1, it->second.size() - 2));
        };
        type_ = text("type");
        if (type_ == "end") {
            received_end_ = true;
            return;
        }
        if (type_ == "heartbeat" && event.contains("reason")) return;
        if (type_ == "full") {
            list_.replace(event.at("targets"));
        } else if (type_ == "diff") {
            if (text("from") != version_) complain_("a diff from another version");
            list_.remove(event.at("removed"));
            list_.add(event.at("added"));
        } else if (type_ != "heartbeat" || text("version") != version_) {
            complain_("is at " + version_ + " and is told " + std::string(json.substr(0, 100)));
        }
        version_ = text("version");
        if (list_.version() != version_) complain_("after " + type_ + " it has no version's list");
        if (const auto wrong = list_.take_wrong(); !wrong.empty()) complain_(type_ + ' ' + wrong);
        on_list_(list_);
    }

    const http::HttpRoutes& routes_;
    const Options options_;
    const std::function<void(const ListModel&)> on_list_;
    const std::function<void(const std::string&)> complain_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
    std::shared_ptr<http::HttpServer::Stream> stream_;
    bool waits_ = false;
    bool ended_ = false;
    bool received_end_ = false;
    std::string buffer_;
    std::string type_;  ///< of the last event
    std::string version_;
    ListModel list_;
};

}  // namespace k8s_sd_program::test
