#pragma once

#include "answer.hpp"
#include "cli/signals.hpp"
#include "config_map.hpp"
#include "plugin_options.hpp"
#include "session.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kubectl_sd {

/// The same question to each cluster, to several at the same time. A failing cluster does not hide
/// the answers of the others.
class Questions {
 public:
    /// Stores an answer. \return the next URL, or an empty text after the last answer
    using OnAnswer = std::function<std::string(ClusterAnswer&, const boost::json::object&)>;

    /// \param url  the first one, such as "/api/ui/object?q=web"
    /// \throws cli::UsageError, cli::Unusable, k8s_sd::ConfigError
    Questions(const Question&, const std::string& url, OnAnswer);

    /// Waits for all answers. With a single cluster a failure may be an exception.
    /// \throws std::exception  what a single cluster throws
    const std::vector<ClusterAnswer>& ask();
    bool has_answers() const;
    /// Whether the answers, or the errors in their place, can be printed.
    bool is_printable(Form) const;
    /// To standard error. \return whether each cluster has answered
    bool print_errors() const;

 private:
    struct Asked {
        Question question;
        ConfigMapText text{};
        std::unique_ptr<ConfigMapFile> file;
        std::unique_ptr<Session> session;
    };

    void add_clusters(Question);
    void add(const Question&, std::string cluster, std::string error = {});
    bool has_config_map() const;
    void ask(std::size_t begin, std::size_t end);
    void read_config_maps(std::size_t begin, std::size_t end);
    void start(std::size_t);
    void on_end();
    void stop_all();

    const std::string url_;
    const OnAnswer on_answer_;
    boost::asio::io_context io_{1};
    cli::Signals signals_{io_.get_executor()};
    std::vector<Asked> asked_;
    std::vector<ClusterAnswer> answers_;
    std::size_t running_ = 0;
};

}  // namespace kubectl_sd
