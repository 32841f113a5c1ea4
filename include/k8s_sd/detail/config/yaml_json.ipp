#include "k8s_sd/detail/config/yaml_json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr int deepest_yaml = 32;
constexpr int most_yaml_values = 10'000;
constexpr std::size_t most_json_bytes = std::size_t{1} << 20;

class JsonMaker {
 public:
    boost::json::value make(const YamlValue& yaml, int depth = 1) {
        if (depth > deepest_yaml) yaml.fail("is nested too deep");
        if (++values_ > most_yaml_values) yaml.fail("has too many values");
        if (yaml.is_null()) return nullptr;
        if (yaml.is_sequence()) {
            boost::json::array array;
            for (const YamlValue& item : yaml.items()) array.push_back(make(item, depth + 1));
            return array;
        }
        if (yaml.is_scalar()) return scalar(yaml);
        boost::json::object object;
        for (const auto& [key, value] : yaml.entries()) object[key] = make(value, depth + 1);
        return object;
    }

 private:
    boost::json::value scalar(const YamlValue& yaml) {
        const std::string text = yaml.string();
        // Anchors can repeat a long text, too.
        bytes_ += text.size();
        if (bytes_ > most_json_bytes) yaml.fail("is larger than 1 MiB");
        if (!yaml.is_plain()) return boost::json::value(text);
        if (const std::optional<bool> truth = yaml.as_boolean()) return *truth;
        boost::system::error_code error;
        boost::json::value number = boost::json::parse(text, error);
        if (!error && number.is_number()) return number;
        return boost::json::value(text);
    }

    int values_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace

std::string to_json(const YamlValue& yaml) {
    return boost::json::serialize(JsonMaker().make(yaml));
}

}  // namespace k8s_sd::inline v0::detail
