#pragma once

#include "client.hpp"
#include "list_model.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd_program::test {

/// The list of a response with status 200. \param complain  receives inconsistencies
inline ListModel list_of(const Answered& answer,
                         const std::function<void(const std::string&)>& complain) {
    ListModel list;
    list.replace(answer.body);
    if (list.bytes() != answer.body) complain("a list in another order: " + answer.body);
    if (ListBody(answer.body).tag() != answer.tag) complain("a list with the tag of another one");
    return list;
}

/// A reader that waits for a list different from its own: by long poll, or held on one connection.
class PollReader {
 public:
    struct Options {
        std::string url{};
        unsigned wait = 0;             ///< of the long poll, in seconds; 0: held
        std::uint64_t connection = 0;  ///< of a held request
    };
    PollReader(const http::HttpRoutes& routes, Options options,
               std::function<void(const ListModel&)> on_list,
               std::function<void(const std::string&)> complain)
        : routes_(routes),
          options_(std::move(options)),
          on_list_(std::move(on_list)),
          complain_(std::move(complain)) {}
    PollReader(const PollReader&) = delete;
    PollReader& operator=(const PollReader&) = delete;

    /// Sends a request, unless one is pending.
    void ask_again() {
        if (std::exchange(waits_, true)) return;
        Ask what{.url = options_.url, .connection = options_.connection};
        if (options_.wait > 0) {
            what.headers = {{"Prefer", "wait=" + std::to_string(options_.wait)}};
            if (!known_.empty()) what.headers.emplace_back("If-None-Match", known_);
        }
        ask(routes_, what, [this](const Answered& answer) { on_answer(answer); });
    }

    const std::string& url() const { return options_.url; }
    bool waits() const { return waits_; }
    /// The tag of its current list.
    const std::string& known() const { return known_; }

 private:
    void on_answer(const Answered& answer) {
        if (!std::exchange(waits_, false)) complain_("is answered twice");
        if (answer.status == 304) {
            if (answer.tag != known_ || known_.empty()) complain_("304 for what it does not know");
        } else if (answer.status == 200) {
            if (options_.wait > 0 && answer.tag == known_) complain_("200 for what it knows");
            known_ = answer.tag;
            on_list_(list_of(answer, complain_));
        } else if (answer.status != 503 && answer.status != 404) {
            complain_("status " + std::to_string(answer.status) + ": " + answer.body);
        }
    }

    const http::HttpRoutes& routes_;
    const Options options_;
    const std::function<void(const ListModel&)> on_list_;
    const std::function<void(const std::string&)> complain_;
    bool waits_ = false;
    std::string known_;
};

}  // namespace k8s_sd_program::test
