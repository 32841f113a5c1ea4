#include "k8s_sd/detail/relabel/case_map.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>

using namespace k8s_sd::detail;

namespace {

struct Summary {
    std::size_t changed = 0;
    std::uint64_t hash = 0xcbf29ce484222325;  ///< FNV-1a of each pair, as little-endian words
    friend bool operator==(const Summary&, const Summary&) = default;
};

/// The hash of the mappings of every code point. Checks that mapping twice changes nothing.
template <class Append>
Summary summarise(Append append) {
    Summary summary;
    // No code point above has a mapping.
    constexpr std::uint32_t last = k8s_sd::test::is_sanitized ? 0x1ffff : 0x10ffff;
    for (std::uint32_t code = 0; code <= last; ++code) {
        if (code == 0xd800) code = 0xe000;  // no surrogates
        std::string before, after, again;
        append_utf8(before, code);
        append(after, before);
        append(again, after);
        if (utf8_length(after) != after.size() || again != after) FAIL(code);
        if (after == before) continue;
        ++summary.changed;
        for (const std::uint64_t word : {std::uint64_t{code}, std::uint64_t{decode_utf8(after)}}) {
            for (int shift = 0; shift < 32; shift += 8) {
                summary.hash = (summary.hash ^ (word >> shift & 0xff)) * 0x100000001b3;
            }
        }
    }
    return summary;
}

}  // namespace

// The numbers come from Unicode 14's Simple_Uppercase_Mapping and Simple_Lowercase_Mapping in Perl
// (Unicode::UCD), independently of the source of the table.
TEST_CASE("Case mapping: every code point has the simple mapping of Unicode") {
    CHECK(summarise(append_upper) == Summary{1450, 0xdd8aa8920e74fe15});
    CHECK(summarise(append_lower) == Summary{1433, 0x7d0c429f29debbca});
}

TEST_CASE("Case mapping: appends, and replaces each byte that is not UTF-8") {
    std::string text = "x";
    append_upper(text, "a\xc3\xa9\xff\xe2\x82z");
    CHECK(text == "xA\xc3\x89\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdZ");
    append_lower(text, "");
    CHECK(text.size() == 14);
}
