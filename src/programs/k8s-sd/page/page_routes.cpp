#include "page/page_routes.hpp"

#include "cli/terminal_text.hpp"
#include "lists/list_body.hpp"
#include "page/page_files.hpp"
#include "serve/list_routes.hpp"

#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

namespace {

using boost::beast::http::field;
using http::HttpRoutes;
using http::HttpServer;
using http::text_reply;

/// Only content of this server, and no framing: labels are untrusted.
constexpr const char* security_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A file of the page, with its type.
class PageFile {
 public:
    PageFile(std::string name, const char* type, const std::string& directory)
        : type_(type),
          path_(directory.empty() ? "" : directory + "/" + name),
          built_in_(std::make_shared<const ListBody>(std::string(page_file(name)))) {}

    HttpServer::Reply reply(const HttpServer::Request& request) const {
        const ListBodyPtr body = path_.empty() ? built_in_ : read();
        if (!body) return text_reply(500, "cannot read " + path_ + "\n");
        HttpServer::Reply reply =
            list_reply(*body, {std::string(request.header(field::if_none_match)),
                               std::string(request.header(field::accept_encoding))});
        for (auto& [name, value] : reply.headers) {
            if (name == field::content_type) value = type_;
        }
        reply.other_headers = {{"Content-Security-Policy", security_policy},
                               {"Referrer-Policy", "no-referrer"}};
        return reply;
    }

 private:
    ListBodyPtr read() const {
        std::ifstream file(path_, std::ios::binary);
        std::ostringstream text;
        if (!(text << file.rdbuf())) return nullptr;
        return std::make_shared<const ListBody>(std::move(text).str());
    }

    const char* type_;
    std::string path_;
    ListBodyPtr built_in_;
};

std::string in_words(const ServedJobs& jobs) {
    std::string text = "k8s-sd\n\n";
    for (const auto& [name, job] : jobs.metrics()) {
        text += name + ": " + cli::counted(job.targets.active, "target") + ", " +
                std::to_string(job.targets.dropped) + " dropped, " +
                std::to_string(job.targets.failed) + " failed" +
                (job.complete ? "" : "; not complete yet") + "\n";
    }
    return text + "\nlists: /sd/JOB, /sd/JOB/targets   targets: /api/v1/targets   "
                  "more: /readyz, /metrics\nin a browser this is a page\n";
}

bool asks_for_html(const HttpServer::Request& request) {
    return request.header(field::accept).find("text/html") != std::string_view::npos;
}

}  // namespace

void add_page_routes(HttpRoutes& routes, const ServedJobs& jobs, const std::string& directory) {
    const PageFile index("index.html", "text/html; charset=utf-8", directory);
    const PageFile script("app.js", "text/javascript; charset=utf-8", directory);
    const PageFile style("app.css", "text/css; charset=utf-8", directory);
    routes.get("/", [index, &jobs](const auto& asked) {
        HttpServer::Reply reply = asks_for_html(asked.request) ? index.reply(asked.request)
                                                               : text_reply(200, in_words(jobs));
        if (!asks_for_html(asked.request)) reply.headers.emplace_back(field::vary, "Accept");
        return reply;
    });
    routes.get("/ui/app.js", [script](const auto& asked) { return script.reply(asked.request); });
    routes.get("/ui/app.css", [style](const auto& asked) { return style.reply(asked.request); });
}

}  // namespace k8s_sd_program
