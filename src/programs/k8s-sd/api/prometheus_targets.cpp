#include "api/prometheus_targets.hpp"

#include "api/api_reply.hpp"
#include "table/json_writer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace k8s_sd_program {

namespace {

using Clock = std::chrono::steady_clock;
using http::HttpServer;

constexpr std::size_t rows_a_piece = 300;  // rows written to a piece
constexpr std::size_t bytes_a_piece = std::size_t{256} << 10;
constexpr std::size_t bytes_a_page = std::size_t{1}
                                     << 20;  // a page with less rows if they are large

void write_active(JsonWriter& json, const TargetTable& table, const TargetRow& row) {
    const k8s_sd::ScrapeTarget& target = *row.target;
    const std::string url = target.url();
    json.begin('{');
    json.member("discoveredLabels", table.builder().discovered(*row.group, row.index));
    json.member("labels", target.public_labels()).member("scrapePool", table.config().job_name);
    json.member("scrapeUrl", url).member("globalUrl", url).member("lastError", "");
    json.member("lastScrape", "0001-01-01T00:00:00Z").member("lastScrapeDuration", 0);
    json.member("health", "unknown");
    json.member("scrapeInterval", target.get("__scrape_interval__"));
    json.member("scrapeTimeout", target.get("__scrape_timeout__")).end('}');
}

void write_dropped(JsonWriter& json, const TargetTable& table, const TargetRow& row) {
    json.begin('{');
    json.member("discoveredLabels", table.builder().discovered(*row.group, row.index));
    json.member("scrapePool", table.config().job_name).end('}');
}

/// Whether the response includes the row.
bool is_wanted(const PrometheusRequest& request, const TargetTable& table, const TargetRow& row) {
    const bool state = (request.active && row.state == TargetState::active) ||
                       (request.dropped && row.state == TargetState::dropped);
    return state && (request.match.empty() ||
                     std::any_of(request.match.begin(), request.match.end(),
                                 [&](const auto& query) { return query.matches(row, table); }));
}

void write_counts(JsonWriter& json, const std::vector<PrometheusPool>& pools, bool dropped) {
    json.name("droppedTargetCounts");
    if (!dropped) {
        json.null();
        return;
    }
    json.begin('{');
    for (const PrometheusPool& pool : pools) {
        json.member(pool.job.first, pool.job.second->counts().dropped);
    }
    json.end('}');
}

bool is_of(const PrometheusPool& pool, const PrometheusRequest& request) {
    return request.pool.empty() || pool.job.first == request.pool;
}

/// First all active targets, then all dropped ones, then the counts. A job's table is read on the
/// job's strand; the next piece is made once the client has received the last one.
class Stream final : public HttpServer::Stream, public std::enable_shared_from_this<Stream> {
 public:
    Stream(std::vector<PrometheusPool> pools, PrometheusRequest request, Gate::Pass pass)
        : pools_(std::move(pools)), request_(std::move(request)), pass_(std::move(pass)) {
        json_.begin('{').member("status", "success").name("data").begin('{');
        json_.name("activeTargets").begin('[');
    }

    void next(OnPiece on_piece) override {
        if (part_ == Part::end) return on_piece(nullptr);
        std::vector<NamedJob> jobs;
        for (std::size_t i = pool_; i < pools_.size(); ++i) {
            if (is_of(pools_[i], request_)) jobs.push_back(pools_[i].job);
        }
        written_ = 0;
        full_ = false;
        walk(
            std::move(jobs),
            [self = shared_from_this()](const std::string& job, JobTargets& targets) {
                return self->visit(job, targets.table(Clock::now()));
            },
            [self = shared_from_this(), on_piece](bool complete) {
                if (complete && !self->full_) self->end_part();
                // Without a result in this time, a blank keeps the connection active.
                if (self->piece_.empty()) self->piece_ = " ";
                on_piece(std::make_shared<const std::string>(std::exchange(self->piece_, {})));
            },
            // Truncated JSON is invalid, so it cannot be mistaken for the complete response.
            [on_piece](const std::exception_ptr&) { on_piece(nullptr); });
    }

 private:
    enum class Part : std::uint8_t { active, dropped, end };

    Walk visit(const std::string& job, TargetTable& table) {
        if (part_ == Part::active ? !request_.active : !request_.dropped) return Walk::end;
        if (!read_on(table)) return Walk::again;
        for (; pools_[pool_].job.first != job; ++pool_) begin_pool();
        const bool more =
            reader_.read(table, for_a_time_slice(), [&](const TargetRow& row, std::size_t) {
                write(table, row);
                return written_ < rows_a_piece && piece_.size() < bytes_a_piece;
            });
        full_ = written_ == rows_a_piece || piece_.size() >= bytes_a_piece;
        if (full_) return Walk::end;
        return more ? Walk::again : Walk::next;
    }

    void write(const TargetTable& table, const TargetRow& row) {
        const bool dropped = part_ == Part::dropped;
        if ((row.state == TargetState::dropped) != dropped) return;
        if (!is_wanted(request_, table, row)) return;
        const std::size_t max_dropped = pools_[pool_].keep_dropped;
        if (dropped && max_dropped != 0 && of_pool_ >= max_dropped) return;
        dropped ? write_dropped(json_, table, row) : write_active(json_, table, row);
        ++written_;
        ++of_pool_;
    }

    void begin_pool() {
        reader_ = {};
        of_pool_ = 0;
    }

    void end_part() {
        json_.end(']');
        pool_ = 0;
        begin_pool();
        if (part_ == Part::active) {
            part_ = Part::dropped;
            json_.name("droppedTargets").begin('[');
        } else {
            part_ = Part::end;
            write_counts(json_, pools_, request_.dropped);
            json_.end('}').end('}');
        }
    }

    const std::vector<PrometheusPool> pools_;
    const PrometheusRequest request_;
    const Gate::Pass pass_;
    std::string piece_;
    JsonWriter json_{piece_};
    Part part_ = Part::active;
    std::size_t pool_ = 0;     ///< index of the present pool
    RowReader reader_{};       ///< reads its rows
    std::size_t of_pool_ = 0;  ///< rows written of it, in this part
    std::size_t written_ = 0;  ///< rows in this piece
    bool full_ = false;        ///< the piece is full
};

/// One page of targets, in the order of the jobs and their rows.
class Page {
 public:
    Page(std::vector<PrometheusPool> pools, PrometheusRequest request)
        : pools_(std::move(pools)), request_(std::move(request)) {}

    std::vector<NamedJob> jobs() const {
        std::vector<NamedJob> jobs;
        for (const PrometheusPool& pool : pools_) {
            const bool behind = !request_.after || pool.job.first >= request_.after->job;
            if (behind && is_of(pool, request_)) jobs.push_back(pool.job);
        }
        return jobs;
    }

    Walk visit(const std::string& job, TargetTable& table) {
        if (!read_on(table)) return Walk::again;
        if (std::exchange(reading_, job) != job) {
            const bool resumes = request_.after && request_.after->job == job;
            reader_ =
                resumes ? RowReader(request_.after->position, request_.after->equal) : RowReader();
        }
        const bool more =
            reader_.read(table, for_a_time_slice(), [&](const TargetRow& row, std::size_t number) {
                return take(job, table, row, number);
            });
        if (more_) return Walk::end;
        return more ? Walk::again : Walk::next;
    }

    std::string text() const {
        std::string text;
        JsonWriter json(text);
        json.begin('{').member("status", "success").name("data").begin('{');
        json.name("activeTargets").begin('[').raw(active_).end(']');
        json.name("droppedTargets").begin('[').raw(dropped_).end(']');
        write_counts(json, pools_, request_.dropped);
        if (more_) json.member("next", last_.text());
        json.end('}').end('}');
        return text;
    }

 private:
    bool take(const std::string& job, const TargetTable& table, const TargetRow& row,
              std::size_t number) {
        if (!is_wanted(request_, table, row)) return true;
        more_ = written_ == *request_.limit || active_.size() + dropped_.size() >= bytes_a_page;
        if (more_) return false;
        row.state == TargetState::active ? write_active(active_json_, table, row)
                                         : write_dropped(dropped_json_, table, row);
        ++written_;
        last_ = {job, {std::string(row.address), row.id}, static_cast<std::uint32_t>(number)};
        return true;
    }

    const std::vector<PrometheusPool> pools_;
    const PrometheusRequest request_;
    std::string active_, dropped_, reading_;
    JsonWriter active_json_{active_}, dropped_json_{dropped_};
    RowReader reader_{};
    std::size_t written_ = 0;
    TargetCursor last_{};
    bool more_ = false;
};

}  // namespace

void answer_prometheus_targets(std::vector<PrometheusPool> pools, PrometheusRequest request,
                               Gate::Pass pass, HttpServer::Reply slow,
                               const HttpServer::Respond& respond, OnFailure failed) {
    if (!request.limit) {
        HttpServer::Reply reply = json_reply({});
        reply.stream =
            std::make_shared<Stream>(std::move(pools), std::move(request), std::move(pass));
        return respond(std::move(reply));
    }
    const auto page = std::make_shared<Page>(std::move(pools), std::move(request));
    walk(
        page->jobs(),
        [page](const std::string& job, JobTargets& targets) {
            return page->visit(job, targets.table(Clock::now()));
        },
        [page, respond, slow = std::move(slow)](bool complete) {
            respond(complete ? json_reply(page->text()) : slow);
        },
        std::move(failed));
}

}  // namespace k8s_sd_program
