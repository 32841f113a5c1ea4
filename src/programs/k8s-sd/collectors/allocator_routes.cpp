#include "collectors/allocator_routes.hpp"

#include "cli/json_text.hpp"
#include "cli/option_values.hpp"
#include "collectors/all_targets.hpp"
#include "http/http_message.hpp"
#include "serve/list_routes.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace {

using boost::beast::http::field;
using http::HttpRoutes;
using http::HttpServer;
using http::text_reply;

HttpServer::Reply json_reply(std::string text) {
    HttpServer::Reply reply = text_reply(200, std::move(text));
    reply.headers = {{field::content_type, "application/json"}};
    return reply;
}

/// Empty: all collectors.
/// \throws BadRequest
std::string collector_in(const http::Query& query) {
    std::string id;
    for (const auto& [name, value] : query) {
        if (name != "collector_id")
            throw BadRequest("there is no parameter " + name + "; there is collector_id");
        if (!id.empty()) throw BadRequest("collector_id is there twice");
        if (value.empty()) throw BadRequest("collector_id: must be the name of a collector");
        id = value;
    }
    return id;
}

class AllocatorRoutes {
 public:
    AllocatorRoutes(const TargetAllocator& allocator, const ServedJobs& jobs, ServeMetrics& metrics)
        : allocator_(allocator), jobs_(jobs), metrics_(metrics) {}

    /// A collector reads a response of any status as its configuration if it is a YAML mapping, and
    /// an empty one as no jobs. Texts of error responses must therefore be neither.
    HttpServer::Reply scrape_configs(const HttpRoutes::Asked& asked) const {
        const ListBodyPtr& configs = allocator_.scrape_configs(asked.request.client.verified);
        if (!configs) return off();
        // Collectors would drop the targets of a job missing here.
        if (!jobs_.left_out().empty()) {
            return later_reply("a mistake leaves out a job of the configuration, see /readyz");
        }
        return list_reply(*configs, reader_of(asked.request));
    }

    HttpServer::Reply jobs() const {
        if (!allocator_.options().enabled()) return off();
        std::string out = "{";
        for (const auto& [name, job] : jobs_.metrics()) {
            if (job.targets.active == 0) continue;
            out += (out.size() == 1 ? "" : ",") + cli::json_string(name) + R"(:{"_link":)" +
                   cli::json_string(link_of(name)) + '}';
        }
        return json_reply(out + "}\n");
    }

    void targets(const HttpRoutes::Asked& asked, const HttpServer::Respond& respond) const {
        if (!allocator_.options().enabled()) return respond(off());
        const std::string& name = asked.names[0];
        const auto job = jobs_.find(name);
        if (!job) {
            ++metrics_.unknown_jobs;
            return respond(missing_job_reply(jobs_, name));
        }
        std::string collector;
        try {
            collector = collector_in(asked.query);
        } catch (const BadRequest& e) {
            return respond(refusal(400, std::string(e.what())));
        }
        const AllocationViewPtr view = allocator_.view();
        if (!view) return respond(refusal(503, allocator_.trouble()));
        if (collector.empty()) return all(name, *job, view, asked.request, respond);
        if (!allocator_.knows(collector)) {
            // It may be new; with an empty list it would have no targets until its next poll.
            return respond(refusal(503, "there is no collector " + collector));
        }
        one(name, *job, view, collector, asked.request, respond);
    }

 private:
    static HttpServer::Reply off() {
        return text_reply(404, "no collectors are configured, see k8s-sd --help\n");
    }

    HttpServer::Reply refusal(unsigned code, const std::string& reason) const {
        metrics_.count_poll(ListForm::collector, code, 0);
        return code == 503 ? later_reply(reason) : text_reply(code, reason + "\n");
    }

    static Reader reader_of(const HttpServer::Request& request) {
        return {std::string(request.header(field::if_none_match)),
                std::string(request.header(field::accept_encoding))};
    }

    static ListRequest request_of(const ServedJob& job, const AllocationViewPtr& view,
                                  const std::string& collector,
                                  const HttpServer::Request& request) {
        ListRequest wanted;
        wanted.content.form = ListForm::collector;
        wanted.first_list_timeout = std::min(job.options().hold, timeout_of(request));
        wanted.gone = request.client.gone;
        wanted.selection.division.collectors = view;
        wanted.selection.collector = collector;
        return wanted;
    }

    void one(const std::string& name, ServedJob& job, const AllocationViewPtr& view,
             const std::string& collector, const HttpServer::Request& request,
             const HttpServer::Respond& respond) const {
        ListPoll poll = poll_of(request, name, {ListForm::collector});
        poll.kind = ReaderKind::collector;
        poll.selection.emplace().collector = collector;
        poll.member = collector;
        job.get(request_of(job, view, collector, request),
                guarded(respond, [&metrics = metrics_, reader = reader_of(request), poll,
                                  respond](const ListAnswer& answer) {
                    HttpServer::Reply reply = answer.body ? list_reply(*answer.body, reader)
                                                          : later_reply(answer.refusal);
                    const bool sends_list = reply.status == 200;
                    metrics.count_poll(ListForm::collector, reply.status,
                                       sends_list ? reply.body->size() : 0);
                    ListPoll answered = poll;
                    answered.status = reply.status;
                    if (sends_list) answered.bytes = reply.body->size();
                    if (answer.body) answered.tag = answer.body->tag();
                    metrics.consumers.saw(std::move(answered), std::chrono::system_clock::now());
                    respond(std::move(reply));
                }));
    }

    /// Requests the lists one after the other.
    void all(const std::string& name, ServedJob& job, const AllocationViewPtr& view,
             const HttpServer::Request& request, const HttpServer::Respond& respond) const {
        struct Gathering {
            std::string job;
            std::shared_ptr<ServedJob> served;
            std::shared_ptr<AllTargets> bodies;
            Reader reader;
            AllocationViewPtr view;
            ListRequest request;
            HttpServer::Respond respond;
            std::vector<ListBodyPtr> lists;

            static void next(const std::shared_ptr<Gathering>& self) {
                const auto& members = self->view->present().members();
                if (self->lists.size() == members.size()) {
                    return self->respond(self->reply());
                }
                self->request.selection.collector = members[self->lists.size()].name;
                self->served->get(self->request,
                                  guarded(self->respond, [self](const ListAnswer& answer) {
                                      if (!answer.body)
                                          return self->respond(later_reply(answer.refusal));
                                      self->lists.push_back(answer.body);
                                      next(self);
                                  }));
            }
            HttpServer::Reply reply() const {
                const ListBodyPtr body = bodies->body(job, *view, lists);
                if (!body) return later_reply("too many lists of all collectors are being read");
                HttpServer::Reply reply = list_reply(*body, reader);
                // While it is being read, other readers share it.
                if (reply.body) reply.body = {body, reply.body.get()};
                return reply;
            }
        };
        const auto gathering = std::make_shared<Gathering>();
        gathering->job = name;
        gathering->served = job.shared_from_this();
        gathering->bodies = bodies_;
        gathering->reader = reader_of(request);
        gathering->view = view;
        gathering->request = request_of(job, view, {}, request);
        gathering->respond = respond;
        Gathering::next(gathering);
    }

    const TargetAllocator& allocator_;
    const ServedJobs& jobs_;
    ServeMetrics& metrics_;
    std::shared_ptr<AllTargets> bodies_ = std::make_shared<AllTargets>();
};

}  // namespace

void add_allocator_routes(HttpRoutes& routes, const TargetAllocator& allocator,
                          const ServedJobs& jobs, ServeMetrics& metrics) {
    const AllocatorRoutes answers(allocator, jobs, metrics);
    routes.get("/scrape_configs",
               [answers](const auto& asked) { return answers.scrape_configs(asked); });
    routes.get("/jobs", [answers](const auto&) { return answers.jobs(); });
    routes.on("GET", "/jobs/{+job}/targets", [answers](const auto& asked, const auto& respond) {
        answers.targets(asked, respond);
    });
}

}  // namespace k8s_sd_program
