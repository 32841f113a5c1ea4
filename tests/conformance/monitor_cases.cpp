#include "conformance/monitor_cases.hpp"

#include "k8s_sd/detail/config/yaml/yaml_value.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace k8s_sd::test {

namespace {

namespace json = boost::json;

std::string unpack(const std::string& path) {
    struct Close {
        void operator()(gzFile file) const noexcept { gzclose(file); }
    };
    const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
    if (!file) throw std::runtime_error("cannot read " + path);
    std::string text;
    std::array<char, 1 << 16> block{};
    for (;;) {
        const int size = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()));
        if (size < 0) throw std::runtime_error("cannot unpack " + path);
        if (size == 0) return text;
        text.append(block.data(), static_cast<std::size_t>(size));
    }
}

json::object parse_yaml_config(const json::value& text) {
    const auto yaml = detail::YamlValue::parse(std::string(text.as_string()), "expected");
    const std::string as_json =
        detail::to_json(yaml, {.max_values = 1'000'000, .max_bytes = std::size_t{64} << 20});
    json::object config = json::parse(as_json).as_object();
    json::object compared;
    compared["global"] = config["global"];
    compared["global"].as_object().erase("evaluation_interval");
    const bool none = config["scrape_configs"].is_null();
    compared["scrape_configs"] = none ? json::value(json::array()) : config["scrape_configs"];
    return compared;
}

/// Collects differences, each with its path.
class Comparison {
 public:
    void compare(const json::value& recorded, const json::value& generated,
                 const std::string& path) {
        if (differences_.size() == max_differences) return;
        if (recorded.is_object() && generated.is_object()) {
            compare_objects(recorded.get_object(), generated.get_object(), path);
        } else if (recorded.is_array() && generated.is_array()) {
            compare_lists(recorded.get_array(), generated.get_array(), path);
        } else if (!is_equal(recorded, generated, path)) {
            add(path, json::serialize(recorded), json::serialize(generated));
        }
    }
    void add(const std::string& path, const std::string& recorded, const std::string& generated) {
        differences_.push_back(path + ": recorded " + recorded + ", generated " + generated);
    }
    std::string text() const {
        std::string all;
        for (const std::string& difference : differences_) all += difference + "\n";
        return all;
    }

 private:
    static constexpr std::size_t max_differences = 5;

    /// A numeric port is a number in YAML.
    static bool is_equal(const json::value& recorded, const json::value& generated,
                         const std::string& path) {
        if (path.ends_with(".regex") && generated.is_string() && recorded.is_number()) {
            return json::serialize(recorded) == std::string_view(generated.get_string());
        }
        if (recorded.is_double() || generated.is_double()) {
            if (!recorded.is_number() || !generated.is_number()) return false;
            const auto expected = recorded.to_number<double>();
            const auto found = generated.to_number<double>();
            return std::abs(expected - found) <= 1e-9 * std::abs(expected);
        }
        return recorded == generated;
    }

    void compare_objects(const json::object& recorded, const json::object& generated,
                         const std::string& path) {
        for (const auto& [key, value] : recorded) {
            const json::value* other = generated.if_contains(key);
            compare(value, other ? *other : json::value("(absent)"), path + "." + std::string(key));
        }
        for (const auto& [key, value] : generated) {
            if (recorded.contains(key)) continue;
            add(path + "." + std::string(key), "(absent)", json::serialize(value));
        }
    }
    void compare_lists(const json::array& recorded, const json::array& generated,
                       const std::string& path) {
        if (recorded.size() != generated.size()) {
            add(path + ".length", std::to_string(recorded.size()),
                std::to_string(generated.size()));
        }
        const std::size_t size = std::min(recorded.size(), generated.size());
        for (std::size_t i = 0; i < size; ++i) {
            compare(recorded[i], generated[i], path + "[" + std::to_string(i) + "]");
        }
    }

    std::vector<std::string> differences_;
};

/// The objects of a list of refusals, in a set: reasons are for people.
json::value refused_objects(const json::object& answer) {
    std::set<std::string> objects;
    if (const json::value* refused = answer.if_contains("refused")) {
        for (const json::value& entry : refused->as_array()) {
            objects.emplace(entry.as_object().at("object").as_string());
        }
    }
    return json::array(objects.begin(), objects.end());
}

}  // namespace

std::vector<std::string> monitor_cases(const std::string& group) {
    std::istringstream text(
        unpack(std::string(K8S_SD_TEST_DATA) + "/operator/" + group + ".jsonl.gz"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        if (!line.empty()) lines.push_back(line);
    }
    return lines;
}

std::string monitor_differences(const json::object& recorded, const json::object& generated) {
    const json::object& expected = recorded.at("expected").as_object();
    Comparison comparison;
    const bool refused = expected.contains("error");
    if (refused != generated.contains("error")) {
        comparison.add("error", json::serialize(expected), json::serialize(generated));
        return comparison.text();
    }
    if (refused) return {};
    comparison.compare(expected.at("accepted"), generated.at("accepted"), "accepted");
    comparison.compare(refused_objects(expected), refused_objects(generated), "refused");
    comparison.compare(parse_yaml_config(expected.at("config")), generated.at("config"), "config");
    return comparison.text();
}

}  // namespace k8s_sd::test
