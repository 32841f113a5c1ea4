#pragma once

#include "jobs/gate.hpp"
#include "jobs/served_jobs.hpp"
#include "lists/selection.hpp"
#include "support/http_message.hpp"
#include "support/http_routes.hpp"
#include "support/http_server.hpp"

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// An answer in JSON.
/// \param accept_encoding  the header; long answers are compressed for who accepts it
support::HttpServer::Reply json_reply(std::string json, std::string_view accept_encoding = {});
/// An answer of the page's API: says what time it is.
/// \param json  an object that is not empty
support::HttpServer::Reply ui_reply(std::string json, std::string_view accept_encoding = {});
/// The same object, with the time: `now`, Unix time in milliseconds.
std::string with_now(std::string json);
/// A mistake, in words.
support::HttpServer::Reply json_error(unsigned status, std::string_view words);

/// The same handler; what is wrong with a request is answered as the page's API does.
support::HttpRoutes::Handler telling_mistakes(support::HttpRoutes::Handler);

/// The same handler, for questions that are some work: those who do not get through the gate are
/// told to come again, by `refuse`.
support::HttpRoutes::Handler through(
    const Gate&, support::HttpRoutes::Handler,
    std::function<support::HttpServer::Reply(std::string_view words)> refuse);
/// The same, with telling_mistakes().
support::HttpRoutes::Handler question(const Gate&, support::HttpRoutes::Handler);

/// What is asked for is not there; the text says what there is.
class NotFound : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};
/// It is not known yet; the text says what is waited for.
class NotYet : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};
/// \throws NotFound where the name is not empty and no job has it
/// \throws NotYet   where the job is left out because of a mistake
void require_job(const ServedJobs&, const std::string& name);

/// 503: there was no time for the whole answer, which a part would not be.
support::HttpServer::Reply too_long();

/// What a URL says behind its '?'.
class Parameters {
 public:
    /// \throws BadRequest where it names something else
    Parameters(const support::Query&, std::initializer_list<std::string_view> known);

    /// nullopt: it is not there, or is empty.
    std::optional<std::string> text(std::string_view name) const;
    /// Of a parameter that may be there several times.
    std::vector<std::string> texts(std::string_view name) const;
    std::string text_or(std::string_view name, std::string_view usual) const;
    /// \throws BadRequest where it is none in the bounds
    std::size_t number(std::string_view name, std::size_t usual, std::size_t least,
                       std::size_t greatest) const;
    bool flag(std::string_view name) const { return text_or(name, "0") != "0"; }

 private:
    const support::Query& query_;
};

}  // namespace bridge
