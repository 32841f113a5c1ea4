#include "serve/watch_stream.hpp"

#include "cli/json_text.hpp"
#include "jobs/slow_work.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

namespace {

using http::HttpServer;

/// The size of one piece, copied for a reader at a time.
constexpr std::size_t piece_bytes = std::size_t{256} << 10;
/// A reader too slow for this limit must reconnect.
constexpr std::chrono::minutes max_event_time{5};

}  // namespace

WatchStream::WatchStream(Watch watch, std::shared_ptr<ListVersions> versions, ServeMetrics& metrics)
    : watch_(std::move(watch)),
      versions_(std::move(versions)),
      metrics_(metrics),
      version_(watch_.after),
      sent_(versions_->find(version_)) {
    ++metrics_.watch_readers;
}

void WatchStream::next(OnPiece on_piece) {
    if (auto next = piece()) return on_piece(std::move(next));
    if (end_) return on_piece(nullptr);
    watch_.job->get(request(),
                    [weak = weak_from_this(), on_piece = std::move(on_piece)](const auto& answer) {
                        const auto self = weak.lock();
                        if (!self) return;
                        // Without memory for an event the stream ends; the reader reconnects.
                        attempt([&](const auto&) { on_piece(nullptr); },
                                [&] {
                                    self->on_answer(answer);
                                    on_piece(self->piece());
                                });
                    });
}

ListRequest WatchStream::request() const {
    // The first event confirms the reader's version, even if nothing has changed.
    return {watch_.content,   watch_.selection,
            watch_.heartbeat, begun_ ? '"' + version_ + '"' : std::string(),
            watch_.heartbeat, watch_.gone};
}

void WatchStream::on_answer(const ListAnswer& answer) {
    if (answer.body && version_of(*answer.body) != version_) return send_list(answer.body);
    if (answer.why == Refusal::limit || answer.why == Refusal::ended) {
        return send_end(answer.refusal);
    }
    send_heartbeat(answer);
}

void WatchStream::send_list(const ListBodyPtr& list) {
    const SharedText diff = sent_ ? versions_->diff(*sent_, *list) : nullptr;
    version_ = version_of(*list);
    sent_ = list;
    versions_->keep(list);
    if (diff && diff->size() < list->bytes()->size()) {
        ++metrics_.watch_diffs;
        begin("diff", R"({"type":"diff",)", diff, "}");
    } else {
        ++metrics_.watch_fulls;
        begin("full", R"({"type":"full","version":)" + list->tag() + R"(,"targets":)",
              list->bytes(), "}");
    }
}

/// Without a complete list, the heartbeat contains the reason instead of a version.
void WatchStream::send_heartbeat(const ListAnswer& answer) {
    const std::string more = answer.body ? R"("version":)" + answer.body->tag()
                                         : R"("reason":)" + cli::json_string(answer.refusal);
    begin("heartbeat", R"({"type":"heartbeat",)" + more + "}", nullptr, {});
}

void WatchStream::send_end(const std::string& reason) {
    end_ = true;
    begin("end", R"({"type":"end","reason":)" + cli::json_string(reason) + "}", nullptr, {});
}

/// \param text  goes between `json` and `rest`, without its line breaks
void WatchStream::begin(std::string_view type, std::string json, SharedText text,
                        std::string rest) {
    event_ = {std::move(json), std::move(text), 0, std::move(rest) + "\n", now()};
    ListPoll poll = watch_.poll;
    poll.status = 200;
    if (event_.text) poll.tag = sent_->tag();
    poll.bytes = event_.before.size() + (event_.text ? event_.text->size() : 0);
    metrics_.consumers.saw(std::move(poll), std::chrono::system_clock::now());
    const bool first = !std::exchange(begun_, true);
    if (watch_.format == EventFormat::ndjson) return;
    std::string head;
    if (first) head = "retry: " + std::to_string(watch_.retry.count()) + "\n";
    head.append("event: ").append(type) += '\n';
    if (event_.text) head += "id: " + version_ + "\n";
    event_.before = head + "data: " + event_.before;
    event_.after += '\n';
}

/// The next piece of the event; null: none left.
HttpServer::Text WatchStream::piece() {
    if (event_.after.empty()) return nullptr;
    if (now() - event_.begun > max_event_time) {
        event_ = {};
        end_ = true;
        return nullptr;
    }
    std::string piece = std::exchange(event_.before, {});
    if (event_.text) {
        const std::string_view part =
            std::string_view(*event_.text).substr(event_.taken, piece_bytes);
        event_.taken += part.size();
        piece.reserve(piece.size() + part.size() + event_.after.size());
        std::copy_if(part.begin(), part.end(), std::back_inserter(piece),
                     [](char c) { return c != '\n'; });
        if (event_.taken < event_.text->size()) {
            return std::make_shared<const std::string>(std::move(piece));
        }
    }
    piece += event_.after;
    event_ = {};
    return std::make_shared<const std::string>(std::move(piece));
}

}  // namespace k8s_sd_program
