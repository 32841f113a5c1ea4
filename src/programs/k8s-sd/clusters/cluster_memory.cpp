#include "clusters/cluster_memory.hpp"

#include "k8s_sd/error.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace k8s_sd_program {

namespace {

namespace json = boost::json;

constexpr std::size_t max_bytes = std::size_t{64} << 20;

class Descriptor {
 public:
    explicit Descriptor(int number) : number_(number) {
        if (number_ < 0) throw std::system_error(errno, std::generic_category());
    }
    ~Descriptor() { ::close(number_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const noexcept { return number_; }

 private:
    const int number_;
};

/// \throws std::exception
std::string read(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct ::stat status {};
    if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != ::geteuid() || (status.st_mode & 077) != 0) {
        throw std::runtime_error("it is not a regular file of this user alone");
    }
    std::string text;
    char buffer[16384];
    for (ssize_t size = 0; (size = ::read(file.number(), buffer, sizeof buffer)) != 0;) {
        if (size < 0) throw std::system_error(errno, std::generic_category());
        text.append(buffer, static_cast<std::size_t>(size));
        if (text.size() > max_bytes) throw std::runtime_error("it is too large");
    }
    return text;
}

/// Replaces the file as a whole. \throws std::system_error
void write(const std::string& path, const std::string& text) {
    const std::string draft = path + ".new";
    {
        const Descriptor file(
            ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t size = ::write(file.number(), text.data() + done, text.size() - done);
            if (size < 0) throw std::system_error(errno, std::generic_category());
            done += static_cast<std::size_t>(size);
        }
        if (::fsync(file.number()) != 0) throw std::system_error(errno, std::generic_category());
    }
    if (std::rename(draft.c_str(), path.c_str()) != 0)
        throw std::system_error(errno, std::generic_category());
}

std::chrono::seconds now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::system_clock::now().time_since_epoch());
}

std::string text_at(const json::object& object, const char* key) {
    return json::value_to<std::string>(object.at(key));
}

k8s_sd::InventoryCluster cluster_of(const json::object& object) {
    k8s_sd::InventoryCluster cluster;
    cluster.ns = text_at(object, "namespace");
    cluster.name = text_at(object, "name");
    cluster.uid = text_at(object, "uid");
    cluster.api_server.url = text_at(object, "server");
    cluster.api_server.tls.ca = text_at(object, "ca");
    cluster.api_server.tls.server_name = text_at(object, "tls_server_name");
    return cluster;
}

}  // namespace

ClusterMemory::ClusterMemory(const std::string& directory, k8s_sd::Duration max_age)
    : file_(directory + "/clusters.json"), max_age_(max_age) {}

ClusterMemory::Loaded ClusterMemory::load(const std::string& hub) const {
    Loaded loaded;
    try {
        const json::value content = json::parse(read(file_));
        const json::object& all = content.as_object();
        loaded.age = now() - std::chrono::seconds(json::value_to<std::int64_t>(all.at("time")));
        if (text_at(all, "hub") != hub) throw std::runtime_error("it is of another hub");
        if (loaded.age > max_age_ || loaded.age < std::chrono::seconds(-1))
            throw std::runtime_error("it is too old, or from the future");
        for (const json::value& cluster : all.at("clusters").as_array())
            loaded.clusters.push_back(cluster_of(cluster.as_object()));
    } catch (const std::exception& error) {
        loaded.clusters.clear();
        loaded.problem = file_ + ": " + k8s_sd::in_words(error);
    }
    return loaded;
}

std::string ClusterMemory::save(const std::string& hub,
                                const std::vector<k8s_sd::InventoryCluster>& clusters) const {
    json::array list;
    for (const k8s_sd::InventoryCluster& cluster : clusters) {
        if (cluster.api_server.url.empty()) continue;
        list.push_back(json::object{{"namespace", cluster.ns},
                                    {"name", cluster.name},
                                    {"uid", cluster.uid},
                                    {"server", cluster.api_server.url},
                                    {"ca", cluster.api_server.tls.ca},
                                    {"tls_server_name", cluster.api_server.tls.server_name}});
    }
    try {
        write(file_, json::serialize(json::object{
                         {"hub", hub}, {"time", now().count()}, {"clusters", std::move(list)}}));
    } catch (const std::exception& error) {
        return file_ + " cannot be written: " + k8s_sd::in_words(error);
    }
    return {};
}

std::string hub_in_words(const k8s_sd::InventoryConfig& config) {
    json::array namespaces;
    for (const std::string& ns : config.namespaces) namespaces.emplace_back(ns);
    return json::serialize(json::array{config.api_server.url, config.kubeconfig_file,
                                       config.kubeconfig_context, config.label_selector,
                                       namespaces});
}

}  // namespace k8s_sd_program
