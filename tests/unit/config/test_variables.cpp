#include "k8s_sd/config_yaml.hpp"
#include "k8s_sd/detail/config/variables.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <optional>
#include <string>

using namespace k8s_sd;
using k8s_sd::test::config_error;

namespace {

constexpr auto P = LabelDialect::prometheus;
constexpr auto V = LabelDialect::victoriametrics;

VariableLookup lookup(std::map<std::string, std::string, std::less<>> variables) {
    return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    };
}

std::string expand(const std::string& text, const VariableLookup& variables,
                   LabelDialect dialect = V, std::size_t max_bytes = 1000) {
    return detail::expand_variables(text, dialect, variables, "f.yml", max_bytes);
}

}  // namespace

TEST_CASE("Variables: values take the place of names, also within values") {
    const VariableLookup variables =
        lookup({{"A", "1"}, {"B", "<%{A}%{A}>"}, {"C", "%{B}"}, {"E", ""}});
    CHECK(expand("%{A} %{C}%{E}.", variables) == "1 <11>.");
    CHECK(expand("a %{ b", variables) == "a %{ b");
    CHECK(expand("%{A", variables) == "%{A");
    CHECK(expand("plain", variables) == "plain");
    CHECK(expand("", variables).empty());
    CHECK(expand("%{A}", variables, P) == "%{A}");
}

TEST_CASE("Variables: what has no value stays as it is") {
    CHECK(expand("%{NOPE} %{} %{a b}", lookup({})) == "%{NOPE} %{} %{a b}");
    CHECK(expand("%{A}", lookup({{"A", "%{NOPE}"}})) == "%{NOPE}");
}

TEST_CASE("Variables: text with a variable is refused if the program supplies none") {
    CHECK(config_error([] { expand("a\nb: %{NODE}", {}); }) ==
          "f.yml:2: the text contains %{NODE}, a variable of the environment, and this program "
          "passes none to configuration files");
    CHECK(config_error([] { expand("%{" + std::string(100, 'x'), {}); }) ==
          "f.yml:1: the text contains, a variable of the environment, and this program passes none "
          "to configuration files");
    CHECK(expand("%{NODE}", {}, P) == "%{NODE}");
}

TEST_CASE("Variables: values that contain one another end in an error") {
    CHECK(config_error([] {
              expand("%{A}", lookup({{"A", "%{B}"}, {"B", "%{A}"}}));
          }) == "f.yml:1: the values of variables refer to each other without end, or too deeply");
    std::map<std::string, std::string, std::less<>> laughs{{"X0", "0123456789"}};
    for (int i = 1; i < 30; ++i) {
        std::string value;
        for (int k = 0; k < 10; ++k) value += "%{X" + std::to_string(i - 1) + "}";
        laughs["X" + std::to_string(i)] = value;
    }
    CHECK(config_error([&] { expand("\n%{X29}", lookup(laughs)); }) ==
          "f.yml:2: the text is too large with the values of its variables");
    laughs["X0"] = "";
    CHECK(expand("%{X29}", lookup(laughs)).empty());
}

TEST_CASE("parse_sd_config: takes variables in vmagent's dialect") {
    const std::string yaml = "role: pod\nselectors: [{role: pod, field: spec.nodeName=%{NODE}}]\n";
    const auto config = parse_sd_config(yaml, V, "sd.yml", lookup({{"NODE", "n-1"}}));
    CHECK(config.selectors.at(0).field == "spec.nodeName=n-1");
    CHECK(config_error([&] { parse_sd_config(yaml, V, "sd.yml"); }).starts_with("sd.yml:2: "));
}
