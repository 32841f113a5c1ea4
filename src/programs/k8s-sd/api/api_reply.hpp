#pragma once

#include "http/http_message.hpp"
#include "http/http_routes.hpp"
#include "http/http_server.hpp"
#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "jobs/slow_work.hpp"
#include "lists/list_selection.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// A response in JSON.
/// \param accept_encoding  the header; long responses are compressed if accepted
http::HttpServer::Reply json_reply(std::string json, std::string_view accept_encoding = {});
/// A response of the page's API, with the present time.
/// \param json  an object with members
http::HttpServer::Reply ui_reply(std::string json, std::string_view accept_encoding = {});
/// Adds the time to an object: `now`, Unix time in milliseconds.
std::string with_now(std::string json);
/// An error message.
http::HttpServer::Reply json_error(unsigned status, std::string_view words);

/// The response to a failed request: an error of the client, or of the program.
http::HttpServer::Reply failure_reply(const std::exception_ptr&);
/// Responds with failure_reply().
OnFailure failing(const http::HttpServer::Respond&);

/// Wraps a handler: errors in a request get a response of the page's API.
http::HttpRoutes::Handler reporting_mistakes(http::HttpRoutes::Handler);

/// Wraps a handler for expensive requests: beyond the limit of the gate, `refuse` makes a response
/// to retry later. Only the first response counts, because a failure after it may try to respond,
/// too.
http::HttpRoutes::Handler through(
    const Gate&, http::HttpRoutes::Handler,
    std::function<http::HttpServer::Reply(std::string_view words)> refuse);
/// through(), with reporting_mistakes().
http::HttpRoutes::Handler question(const Gate&, http::HttpRoutes::Handler);

/// The requested object does not exist; the text lists existing ones.
class NotFound : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};
/// The result is not known yet; the text contains the reason.
class NotYet : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};
/// \throws NotFound if the name is not empty and no job has it
/// \throws NotYet   if the job is left out because of a mistake
void require_job(const ServedJobs&, const std::string& name);

/// 503: the time was over, and a part of the response would be misleading.
http::HttpServer::Reply too_long();

/// The query of a URL.
class Parameters {
 public:
    /// \throws BadRequest for an unknown parameter
    Parameters(const http::Query&, std::initializer_list<std::string_view> known);

    /// nullopt: missing or empty.
    std::optional<std::string> text(std::string_view name) const;
    /// All values of a repeatable parameter.
    std::vector<std::string> texts(std::string_view name) const;
    std::string text_or(std::string_view name, std::string_view usual) const;
    /// \throws BadRequest if it is not a number within the bounds
    std::size_t number(std::string_view name, std::size_t usual, std::size_t min,
                       std::size_t max) const;
    bool flag(std::string_view name) const { return text_or(name, "0") != "0"; }

 private:
    const http::Query& query_;
};

}  // namespace k8s_sd_program
