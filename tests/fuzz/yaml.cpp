// Untrusted YAML: if the fast path for simple documents accepts one, its result must equal that of
// the full parser. Then reads every node.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_yaml -max_total_time=60 CORPUS

#include "k8s_sd/detail/config/yaml/simple_yaml.hpp"
#include "k8s_sd/detail/config/yaml/yaml_json.hpp"
#include "k8s_sd/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace k8s_sd;
using namespace k8s_sd::detail;

/// \param a  simple: without anchors, so a tree
bool same(const YamlNode* a, const YamlNode* b) {
    const auto is_null = [](const YamlNode* n) { return !n || n->kind == YamlNode::Kind::null; };
    if (is_null(a) || is_null(b)) return is_null(a) && is_null(b);
    if (a->kind != b->kind || a->text != b->text || a->line != b->line) return false;
    if (a->plain != b->plain || a->parts.size() != b->parts.size()) return false;
    for (std::size_t i = 0; i < a->parts.size(); ++i) {
        if (!same(a->parts[i], b->parts[i])) return false;
    }
    return true;
}

/// The fast path must not accept an invalid document, either.
void check_short_cut(std::string_view text) {
    YamlDocument simple(text, "f");
    if (!read_simple_yaml(simple)) return;
    try {
        if (!same(simple.root(), parse_any_yaml(text, "f")->root())) std::abort();
    } catch (const ConfigError&) {
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const YamlValue document = YamlValue::parse(text, "f");
        check_short_cut(text);
        (void)to_json(document);
    } catch (const ConfigError&) {
        // An error is the only acceptable failure.
    }
    return 0;
}
