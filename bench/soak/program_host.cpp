#include "soak/program_host.hpp"

#include "http/http_server.hpp"
#include "program.hpp"

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/fields.hpp>
#include <unistd.h>
#include <fstream>
#include <string_view>
#include <utility>

namespace bench::soak {

namespace {

const std::string jobs[] = {"pods", "slices", marker_name};

std::filesystem::path write_config(const std::string& server) {
    const auto file = std::filesystem::temp_directory_path() /
                      ("bench-soak-" + std::to_string(::getpid()) + ".yml");
    const auto job = [&](const std::string& name, const std::string& role) {
        return "- job_name: " + name + "\n  kubernetes_sd_configs: [{role: " + role +
               ", api_server: '" + server + "', attach_metadata: {node: true}}]\n";
    };
    const std::string labels =
        "  relabel_configs: [{regex: __meta_kubernetes_pod_label_(.+), action: labelmap}]\n";
    const std::string marker = "  relabel_configs:\n"
                               "  - {source_labels: [__meta_kubernetes_pod_name], regex: " +
                               marker_name +
                               ", action: keep}\n"
                               "  - {source_labels: [__meta_kubernetes_pod_label_step], "
                               "target_label: step}\n";
    std::ofstream(file) << "scrape_configs:\n"
                        << job("pods", "pod") << labels << job("slices", "endpointslice") << labels
                        << job(marker_name, "pod") << marker;
    return file;
}

/// The number of addresses in a list for `http_sd_configs`.
std::size_t count_targets(std::string_view list) {
    constexpr std::string_view start = "\"targets\":[";
    std::size_t quotes = 0;
    for (auto at = list.find(start); at != list.npos; at = list.find(start, at)) {
        at += start.size();
        for (; at < list.size() && list[at] != ']'; ++at) quotes += list[at] == '"';
    }
    return quotes / 2;
}

}  // namespace

ProgramHost::ProgramHost(const Server& server)
    : Host(server), file_(write_config(api_server_.url)) {
    k8s_sd_program::Options options;
    options.config_file = file_.string();
    options.listen = "127.0.0.1:0";
    options.one_question = true;  // prints no address
    options.log.level = k8s_sd::LogLevel::off;
    options.serve.clock = options.allocator.clock = clock_;
    options.file_worker = context_.get_executor();
    program_ = std::make_unique<k8s_sd_program::Program>(context_, std::move(options));
}

ProgramHost::~ProgramHost() {
    program_->stop("the benchmark ends");
    context_.restart();
    context_.poll();
    std::filesystem::remove(file_);
}

std::size_t ProgramHost::size() const {
    std::size_t size = 0;
    for (const auto& [job, list] : lists_) size += list.targets;
    return size;
}

void ProgramHost::ask() {
    if (!program_->is_configured()) return;
    for (const std::string& job : jobs) ask_for(job);
}

void ProgramHost::ask_for(const std::string& job) {
    namespace beast = boost::beast::http;
    using http::HttpServer;
    const std::string path = "/sd/" + job + "/targets";
    beast::fields headers;
    if (!lists_[job].tag.empty()) headers.insert(beast::field::if_none_match, lists_[job].tag);
    const HttpServer::Client client{.address = "127.0.0.1"};
    program_->routes()(HttpServer::Request{"GET", path, {}, {}, client, headers},
                       [this, job](const HttpServer::Reply& reply) {
                           if (reply.status != 200) return;
                           for (const auto& [name, value] : reply.headers) {
                               if (name == beast::field::etag) lists_[job].tag = value;
                           }
                           on_list(job, *reply.body);
                       });
}

void ProgramHost::on_list(const std::string& job, const std::string& body) {
    lists_[job].targets = count_targets(body);
    constexpr std::string_view step = "\"step\":\"";
    const auto at = body.find(step);
    if (job == marker_name && at != body.npos) on_marker(body.substr(at + step.size(), 20));
}

}  // namespace bench::soak
