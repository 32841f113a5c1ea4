#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/watch/short_verdict.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Discards the decoded objects.
struct NoObjects final : EventSink {
    void on_object(EventType, const DecodedObject&) override {}
    void on_bookmark(std::string_view, bool) override {}
    void on_error_event(const ServerStatus&) override {}
    void on_bad_object(const BadObject&) override {}
};

Exchange exchange_of(const ShortRequest::Answer& answer, const WatchQuery& query, Purpose purpose) {
    Exchange exchange;
    exchange.kind = query.kind;
    exchange.ns = query.ns;
    exchange.purpose = purpose;
    exchange.credentials_problem = answer.credentials_problem;
    exchange.status = answer.head.status;
    exchange.fields.emplace() = answer.head;
    exchange.readable = answer.head.status == 200 && answer.head.content_encoding.empty() &&
                        answer.head.content_type == "application/json";
    exchange.error_text = answer.body;
    return exchange;
}

Failure failure_of(const ShortRequest::Answer& answer) {
    return {answer.ec, answer.problem.empty() ? answer.ec.message() : answer.problem};
}

}  // namespace

Verdict verdict_on_head(const ShortRequest::Answer& answer, const WatchQuery& query,
                        Purpose purpose) {
    return judge(exchange_of(answer, query, purpose), {.failure = failure_of(answer)});
}

Verdict verdict_on_list(const ShortRequest::Answer& answer, const WatchQuery& query) {
    Exchange exchange = exchange_of(answer, query, Purpose::list);
    ExchangeEnd end{.failure = failure_of(answer)};
    if (exchange.readable && !answer.ec) {
        NoObjects ignored;
        ListWatchReader reader(schema_of(query.kind), WatchOptions().max_object_bytes, ignored);
        reader.expect(Document::list);
        reader.choose_decoder(answer.head.content_type);
        error_code ec = reader.feed(answer.body);
        if (!ec && !answer.cut) ec = reader.finish();
        end.failure = {ec, reader.problem().empty() ? ec.message() : reader.problem()};
    }
    return judge(exchange, std::move(end));
}

}  // namespace k8s_sd::inline v0::detail
