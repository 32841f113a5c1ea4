// Compares the library's JSON parser with that of Boost.JSON.

#include "support/json_documents.hpp"
#include "support/json_oracle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>
#include <string_view>

namespace k8s_sd::test::json_documents::json_oracle_tests {

namespace {

/// The document with this text before and after each bracket, comma and colon outside of strings.
std::string spread(std::string_view document, std::string_view space) {
    std::string text;
    bool in_string = false;
    for (std::size_t i = 0; i < document.size(); ++i) {
        const char c = document[i];
        const bool token = !in_string && std::string_view("{}[],:").find(c) != std::string::npos;
        if (token) text += space;
        text += c;
        if (token) text += space;
        if (in_string && c == '\\') text += document[++i];
        if (c == '"') in_string = !in_string;
    }
    return text;
}

}  // namespace

TEST_CASE("JsonDecoder: reads what Boost.JSON's parser reads") {
    for (const auto& [kind, name] :
         {std::pair(Kind::pod, "pods.json"), std::pair(Kind::endpointslice, "endpointslices.json"),
          std::pair(Kind::ingress, "ingresses.json"), std::pair(Kind::node, "nodes.json")}) {
        const std::string text = decoder_data(name);
        for (const std::size_t piece : {1U, 7U, 64U, 1000U, 1'000'000U}) {
            CAPTURE(name, piece);
            CHECK(json_disagreement(Document::list, kind, text, piece) == "");
        }
    }
}

TEST_CASE("JsonDecoder: agrees with Boost.JSON's parser about each value of a wanted member") {
    for (const char* value : {"0",
                              "-0",
                              "01",
                              "-",
                              "--1",
                              "+1",
                              "1.",
                              ".5",
                              "1.5",
                              "1e",
                              "1e+",
                              "1e5",
                              "1E-5",
                              "1.5e",
                              "9223372036854775807",
                              "9223372036854775808",
                              "18446744073709551616",
                              "-9223372036854775808",
                              "123456789012345678901234567890",
                              "1 ",
                              "1x",
                              "tru",
                              "truE",
                              "true",
                              "false",
                              "fals",
                              "null",
                              "nul",
                              "nulll",
                              "NaN",
                              "Infinity",
                              "\"\"",
                              "\"\\\"\"",
                              R"("\u0041\u00e9\u4e2d\ud83d\ude00")",
                              R"("\u00G0")",
                              R"("\ud83d")",
                              R"("\ude00")",
                              R"("\ud83d\u0041")",
                              R"("\ud83dx")",
                              R"("\ud83d\n")",
                              R"("\a")",
                              R"("\)",
                              "\"\t\"",
                              "\"\x7f\"",
                              "\"\xff\"",
                              "[",
                              "{",
                              "[]",
                              "{}",
                              "[1]",
                              "[1,]",
                              "[,1]",
                              "[1 2]",
                              "{\"a\"}",
                              "{\"a\":}",
                              "{\"a\":1,}",
                              "{,}",
                              "{1:2}",
                              "{\"a\":1 \"b\":2}",
                              "{]",
                              "[}",
                              "",
                              ",",
                              ":",
                              "// c",
                              "/* c */ 1",
                              "\xEF\xBB\xBF\"\""}) {
        for (const std::string& member :
             {std::string(R"("status":{"podIP":)"),
              std::string(R"("spec":{"containers":[{"ports":[{"containerPort":)"),
              std::string(R"("skipped":{"x":)"), std::string(R"("spec":{"unknown":)"),
              std::string(R"("metadata":)")}) {
            const auto brackets = member.find('[') == member.npos ? "}" : "}]}]}";
            const std::string object =
                pod("p", member + value + (member == "\"metadata\":" ? "" : brackets));
            const std::string body = list(pod("a") + "," + object + "," + pod("b"));
            const std::string stream = event("ADDED", object) + event("ADDED", pod("b"));
            for (const std::size_t piece : {1U, 5U, 10'000U}) {
                CAPTURE(member, value, piece);
                CHECK(json_disagreement(Document::list, Kind::pod, body, piece) == "");
                CHECK(json_disagreement(Document::watch, Kind::pod, stream, piece) == "");
                CHECK(json_disagreement(Document::list, Kind::pod, value, piece) == "");
                CHECK(json_disagreement(Document::watch, Kind::pod, value, piece) == "");
            }
        }
    }
}

TEST_CASE("JsonDecoder: agrees with Boost.JSON's parser about spaces between tokens") {
    const std::string body = decoder_data("endpointslices.json");
    const std::string object = pod("a", R"("spec":{"containers":[{"ports":[]}],"x":[ ]})");
    for (const std::string_view space : {" ", "\n", "\r\n\t ", "\f", "\v", "\xC2\xA0"}) {
        for (const std::size_t piece : {1U, 3U, 64U, 1'000'000U}) {
            CAPTURE(space, piece);
            const std::string stream =
                spread(event("ADDED", object) + event("ADDED", object), space);
            CHECK(json_disagreement(Document::list, Kind::endpointslice, spread(body, space),
                                    piece) == "");
            CHECK(json_disagreement(Document::watch, Kind::pod, stream, piece) == "");
        }
    }
}

TEST_CASE("JsonDecoder: agrees with Boost.JSON's parser about random damage") {
    std::mt19937 random(23);
    const std::string body = decoder_data("endpointslices.json"),
                      stream = decoder_data("pods.watch.ndjson");
    for (int round = 0; round < 3000; ++round) {
        const bool is_list = round % 2 == 0;
        std::string text = is_list ? body : stream;
        for (auto n = 1 + random() % 3; n > 0; --n) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0: text[at] = static_cast<char>(random()); break;
                case 1: text.erase(at, 1 + random() % 30); break;
                case 2: text.insert(at, std::string(1, "{}[]\",:\\0tn"[random() % 11])); break;
                default: text.insert(at, text.substr(random() % text.size(), random() % 60)); break;
            }
        }
        const std::string disagreement = json_disagreement(
            is_list ? Document::list : Document::watch, is_list ? Kind::endpointslice : Kind::pod,
            text, 1 + random() % 300, {.max_object_bytes = 1000 + random() % 3000});
        if (!disagreement.empty()) FAIL(disagreement << " in round " << round);
    }
}

}  // namespace k8s_sd::test::json_documents::json_oracle_tests
