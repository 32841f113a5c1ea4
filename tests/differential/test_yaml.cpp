// Compares the YAML documents accepted by this library, and their values, with those of kubectl and
// Prometheus (promtool): recorded and random ones. $K8S_SD_DIFFERENTIAL_DOCUMENTS and
// $K8S_SD_DIFFERENTIAL_SEED change their number and seed.

#include "differential/command.hpp"
#include "differential/promtool.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/error.hpp"
#include "support/config_fixtures.hpp"
#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::test {

namespace {

namespace json = boost::json;
using detail::YamlValue;

/// The value of a document; nullopt: it is refused.
using Reading = std::optional<json::value>;

std::string text_of(const Reading& reading) {
    return reading ? json::serialize(*reading) : "refused";
}

/// A program of Kubernetes or Prometheus, and the document in which it reads a value.
struct Peer {
    /// The whole document with the lines of a text as the value.
    std::string (*document)(const std::string& text);
    /// Runs the program.
    Reading (*ask)(const std::string& document);
    /// The value in the whole document.
    Reading (*ours)(const YamlValue& document);
};

std::string indented(const std::string& text, const std::string& indent) {
    std::string result = indent;
    for (const char c : text) {
        result += c;
        if (c == '\n') result += indent;
    }
    return result + "\n";
}

// --- kubectl: the extension of a cluster is any value --------------------------------------------

std::string kubeconfig_of(const std::string& text) {
    return "clusters:\n- name: k\n  cluster:\n    server: https://h\n    extensions:\n"
           "    - name: e\n      extension:\n" +
           indented(text, "        ");
}

Reading ask_kubectl(const std::string& document) {
    const TemporaryDirectory directory;
    const CommandOutput output = run_command("kubectl config view --raw -o json --kubeconfig=" +
                                             directory.write("kc", document) + " 2>/dev/null");
    if (!output.success) return std::nullopt;
    return json::parse(output.text).at_pointer("/clusters/0/cluster/extensions/0/extension");
}

Reading extension_of(const YamlValue& document) {
    const YamlValue cluster = document["clusters"].items().at(0)["cluster"];
    return json::parse(to_json(cluster["extensions"].items().at(0)["extension"]));
}

constexpr Peer kubectl{kubeconfig_of, ask_kubectl, extension_of};

// --- promtool: the labels of a target are texts --------------------------------------------------

std::string scrape_config_of(const std::string& text) {
    return "scrape_configs:\n- job_name: j\n  static_configs:\n  - targets: [h:1]\n    labels:\n" +
           indented(text, "      ");
}

Reading ask_promtool(const std::string& document) {
    const TemporaryDirectory directory;
    const std::string file = directory.write("p.yml", document);
    if (!Promtool::accepts(file)) return std::nullopt;
    const json::array targets = Promtool::targets(file, "j", 1).value();
    json::object labels;
    for (const auto& [name, value] : targets.at(0).at("discoveredLabels").as_object()) {
        if (name.size() == 1) labels[name] = value;
    }
    return labels;
}

Reading labels_of(const YamlValue& document) {
    const YamlValue job = document["scrape_configs"].items().at(0);
    json::object labels;
    for (const auto& [name, value] : job["static_configs"].items().at(0)["labels"].entries()) {
        // Prometheus deletes labels without a value.
        if (const std::string text = value.string(); !text.empty()) labels[name] = text;
    }
    return labels;
}

constexpr Peer promtool{scrape_config_of, ask_promtool, labels_of};

// --- documents -----------------------------------------------------------------------------------

class DocumentGenerator {
 public:
    explicit DocumentGenerator(std::uint64_t seed) : random_(seed) {}

    /// Pieces of YAML in any order. Excludes differences in the meaning of scalars (numbers, y and
    /// n), and what libyaml accepts but Go does not: question marks in brackets.
    std::string pieces() {
        static const std::vector<std::string> all{
            "a",        "b",           ": ",        ":",     "\n",    "\n  ", "- ",    "-",
            "\n- ",     "[",           "]",         "{",     "}",     ", ",   ",",     "\"",
            "'",        "#",           " #",        " ",     "null",  "~",    " *x",   "&x ",
            "! ",       "!!str ",      "|\n  ",     ">\n  ", "\\n",   "''",   "$1",    "(.+)",
            "@",        "<<: ",        "c: b\n",    "d:\n",  "- d\n", "e: ",  "[f]",   "{g: h}",
            "\t",       " 12\n",       "=",         ";",     "\nh: ", "'x'",  "\"y\"", "true\n",
            "\xc3\xa4", "i: &x [b]\n", "\nj: *x\n", "!own "};
        std::string text;
        for (std::size_t n = 1 + below(9); n > 0; --n) text += all[below(all.size())];
        return text;
    }

    /// A mapping with a few scalars in any style. Excludes line separators such as U+2028, after
    /// which Go's YAML can miss the end of a scalar, and brackets in tags, which only Go accepts.
    std::string labels() {
        std::string text;
        for (const char* name : {"a", "b", "c"}) text += name + (": " + scalar()) + "\n";
        return text;
    }

 private:
    std::size_t below(std::size_t n) { return random_() % n; }
    template <class... T>
    std::string one_of(const T&... choices) {
        const std::string_view all[] = {choices...};
        return std::string(all[below(sizeof...(choices))]);
    }

    std::string scalar() {
        const std::string properties = one_of("", "", "", "", "&x ", "! ", "!!str ", "!own ");
        switch (below(6)) {
            case 0: return one_of("*x", "~", "null", "true", "012", "1_0", "2001-01-01", "1e3");
            case 1: return properties + "'" + characters("''", "\"") + "'";
            case 2: return properties + "\"" + characters("\\\"", "'") + "\"";
            case 3: {
                std::string text = properties + one_of("|", ">") + one_of("", "-", "+", "2", "2-");
                text += one_of("", " # comment", " ");
                for (std::size_t n = below(5); n > 0; --n) {
                    text += "\n  " + one_of("", "", " ", "  ", "\t") + characters("\"", "'");
                }
                return text;
            }
            default: return properties + characters("\"", "'");
        }
    }

    std::string characters(std::string_view first, std::string_view second) {
        std::string text;
        for (std::size_t n = below(8); n > 0; --n) {
            text += one_of("a", "b", " ", "  ", ": ", " #", "#", "-", "- ", ",", "[", "]", "{", "}",
                           "\n  ", "\n\n  ", "\t", "\\n", "\\x41", "\\u00e4", "\\_", "\\N", "\\L",
                           "\\e", "\\\n  ", "\\y", "\xc3\xa4", "&x", "*x", "|", "@", "%", "`",
                           first, second);
        }
        return text;
    }

    std::mt19937_64 random_;
};

std::vector<std::string> recorded_documents() {
    std::vector<std::string> documents;
    for (const char* folder : {"yaml", "scrape_configs", "kubeconfig", "relabelling"}) {
        const std::string path = K8S_SD_TEST_DATA "/../fuzz/corpus/";
        for (const auto& file : std::filesystem::directory_iterator(path + folder)) {
            std::ifstream stream(file.path(), std::ios::binary);
            documents.emplace_back(std::istreambuf_iterator<char>(stream),
                                   std::istreambuf_iterator<char>());
        }
    }
    // Go's YAML does not know this escape of JSON, and to_json() knows decimal numbers only.
    std::erase_if(documents, [](const std::string& text) {
        return text.find("\\/") != text.npos || text.find("0x") != text.npos;
    });
    return documents;
}

// --- the comparison ------------------------------------------------------------------------------

struct Tally {
    std::size_t read = 0;
    std::size_t refused = 0;
};

/// Compares the readings of one document.
void compare(const Peer& peer, const std::string& document, const Reading& theirs, Tally& tally) {
    INFO(document);
    Reading ours;
    std::string problem;
    try {
        ours = peer.ours(YamlValue::parse(document, "f"));
    } catch (const ConfigError& e) {
        problem = e.problem();
    }
    // kubectl reads the last value of a key that is there twice.
    if (problem == "is there twice") return;
    INFO("k8s_sd:  " << text_of(ours) << problem);
    INFO("program: " << text_of(theirs));
    CHECK(ours == theirs);
    ++(theirs ? tally.read : tally.refused);
}

Tally compare(const Peer& peer, const std::vector<std::string>& texts) {
    Tally tally;
    constexpr std::size_t processes = 4;
    for (std::size_t begin = 0; begin < texts.size(); begin += processes) {
        std::vector<std::string> documents;
        std::vector<std::future<Reading>> answers;
        for (std::size_t i = begin; i < std::min(begin + processes, texts.size()); ++i) {
            documents.push_back(peer.document(texts[i]));
            answers.push_back(std::async(std::launch::async, peer.ask, documents.back()));
        }
        for (std::size_t i = 0; i < documents.size(); ++i) {
            compare(peer, documents[i], answers[i].get(), tally);
        }
    }
    return tally;
}

template <class Make>
std::vector<std::string> random_texts(Make make) {
    DocumentGenerator generator(setting("K8S_SD_DIFFERENTIAL_SEED", 1));
    std::vector<std::string> texts;
    for (std::uint64_t n = setting("K8S_SD_DIFFERENTIAL_DOCUMENTS", rounds(200)); n > 0; --n) {
        texts.push_back(make(generator));
    }
    return texts;
}

}  // namespace

TEST_CASE("YAML: kubectl accepts the same documents and finds the same values in them") {
    if (!run_command("command -v kubectl").success) SKIP("kubectl is not installed");
    compare(kubectl, recorded_documents());
    const Tally tally =
        compare(kubectl, random_texts([](DocumentGenerator& random) { return random.pieces(); }));
    CHECK(tally.read > rounds(std::size_t{20}));
    CHECK(tally.refused > rounds(std::size_t{20}));
}

TEST_CASE("YAML: Prometheus accepts the same scalars and reads the same texts") {
    if (!Promtool::is_installed()) SKIP(Promtool::missing);
    const Tally tally =
        compare(promtool, random_texts([](DocumentGenerator& random) { return random.labels(); }));
    CHECK(tally.read > rounds(std::size_t{20}));
    CHECK(tally.refused > rounds(std::size_t{20}));
}

}  // namespace k8s_sd::test
