#include "api/ui_live_routes.hpp"

#include "api/api_reply.hpp"
#include "api/ui_routes.hpp"
#include "table/json_writer.hpp"

#include <boost/asio/steady_timer.hpp>
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace k8s_sd_program {

namespace {

using boost::beast::http::field;
using http::HttpRoutes;
using http::HttpServer;
using Clock = std::chrono::steady_clock;

constexpr int max_readers = 100;
constexpr auto live_check_interval = std::chrono::milliseconds(250);
constexpr auto status_every = std::chrono::seconds(2);
constexpr auto heartbeat_every = std::chrono::seconds(15);
constexpr std::size_t changes_a_piece = 100;
constexpr std::size_t max_changes = 500;  // in a response

void write(JsonWriter& json, const ChangeHistory& history, const TargetChange& change) {
    json.begin('{').member("seq", history.id_of(change.seq)).member("time", change.time);
    json.member("job", change.job).member("kind", change.kind).member("id", change.id);
    json.member("address", change.address).member("object", change.object);
    json.member("what", change.what).member("reason", change.reason).end('}');
}

HttpServer::Reply other_epoch(const ChangeHistory& history) {
    return json_error(410, "before: belongs to an earlier process, whose changes are lost; "
                           "the changes of this one begin with " +
                               history.epoch());
}

void answer_history(const ServedJobs& jobs, const HttpRoutes::Asked& asked,
                    const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"job", "before", "limit"});
    const ChangeHistory& history = jobs.history();
    const std::string job = given.text_or("job", "");
    require_job(jobs, job);
    std::uint64_t before = std::numeric_limits<std::uint64_t>::max();
    if (const auto text = given.text("before")) {
        const auto id = read_change_id(*text);
        if (!id) throw BadRequest("before: must be the seq of a change");
        if (id->epoch != history.epoch()) return respond(other_epoch(history));
        before = id->seq;
    }
    const auto page = history.page(job, before, given.number("limit", 50, 1, max_changes));
    std::string text;
    JsonWriter json(text);
    json.begin('{').name("changes").begin('[');
    for (const TargetChangePtr& change : page.changes) write(json, history, *change);
    json.end(']').name("next");
    page.next ? json.value(history.id_of(*page.next)) : json.null();
    json.member("lost", page.lost).end('}');
    respond(ui_reply(std::move(text), asked.request.header(field::accept_encoding)));
}

/// Server-Sent Events. Nothing is queued for a slow reader: the stream stores the last change sent,
/// and continues with the known changes after it.
class Live final : public HttpServer::Stream, public std::enable_shared_from_this<Live> {
 public:
    Live(const ServedJobs& jobs, const boost::asio::any_io_executor& executor, std::uint64_t seq,
         Gate::Pass pass)
        : jobs_(jobs), timer_(executor), sent_(seq), pass_(std::move(pass)) {}

    void next(OnPiece on_piece) override {
        const auto now = Clock::now();
        std::string piece = hello() + changes();
        if (now >= status_at_) {
            status_at_ = now + status_every;
            const std::string status = status_json(jobs_);
            if (std::exchange(status_, status) != status) {
                piece += "event: status\ndata: " + with_now(status) + "\n\n";
            }
        }
        if (piece.empty() && now >= heartbeat_at_) piece = ": still there\n\n";
        if (piece.empty()) return check_later(std::move(on_piece));
        heartbeat_at_ = now + heartbeat_every;
        on_piece(std::make_shared<const std::string>(std::move(piece)));
    }

 private:
    /// The first event: the origin of the changes.
    std::string hello() {
        if (std::exchange(greeted_, true)) return {};
        std::string text;
        JsonWriter(text).begin('{').member("epoch", jobs_.history().epoch()).end('}');
        return "event: hello\ndata: " + with_now(text) + "\n\n";
    }

    std::string changes() {
        std::string text;
        for (const TargetChangePtr& change : jobs_.history().since(sent_, changes_a_piece)) {
            text += "id: " + jobs_.history().id_of(change->seq) + "\nevent: change\ndata: ";
            JsonWriter json(text);
            write(json, jobs_.history(), *change);
            text += "\n\n";
            sent_ = change->seq;
        }
        return text;
    }

    void check_later(OnPiece on_piece) {
        timer_.expires_after(live_check_interval);
        timer_.async_wait([weak = weak_from_this(), on_piece = std::move(on_piece)](auto ec) {
            const auto self = weak.lock();
            if (!ec && self) self->next(on_piece);
        });
    }

    const ServedJobs& jobs_;
    boost::asio::steady_timer timer_;
    std::uint64_t sent_;
    const Gate::Pass pass_;
    bool greeted_ = false;
    std::string status_;  ///< the last one sent, without the time
    Clock::time_point status_at_{}, heartbeat_at_ = Clock::now() + heartbeat_every;
};

/// The change to resume from: a reader may know changes of another process, but none of this one.
std::uint64_t first_change(const ChangeHistory& history, const HttpServer::Request& request) {
    const auto text = request.header("Last-Event-ID");
    if (text.empty()) return history.newest();
    const auto id = read_change_id(text);
    return id && id->epoch == history.epoch() ? std::min(id->seq, history.newest()) : 0;
}

}  // namespace

void add_live_routes(HttpRoutes& routes, const ServedJobs& jobs,
                     const boost::asio::any_io_executor& executor) {
    routes.on("GET", "/api/ui/history",
              reporting_mistakes([&jobs](const auto& asked, const auto& respond) {
                  answer_history(jobs, asked, respond);
              }));
    const Gate readers(max_readers);
    routes.get("/api/ui/live", [&jobs, executor, readers](const HttpRoutes::Asked& asked) {
        Gate::Pass pass = readers.enter();
        if (!pass) {
            return json_error(503, "100 readers already follow the changes, which is the limit");
        }
        HttpServer::Reply reply;
        reply.headers = {{field::content_type, "text/event-stream"},
                         {field::cache_control, "no-store"}};
        reply.stream = std::make_shared<Live>(
            jobs, executor, first_change(jobs.history(), asked.request), std::move(pass));
        return reply;
    });
}

}  // namespace k8s_sd_program
