// The compressor of recordings: zlib reads all that it writes.

#include "sim/recording/fast_gzip.hpp"
#include "sim/recording/recording_format.hpp"

#include <catch2/catch_test_macros.hpp>
#include <zlib.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>

using k8s_sd::sim::FastGzip;

namespace {

/// The text of a whole file whose checksum and size are right; otherwise an error.
std::string unpacked(std::string_view file) {
    ::z_stream stream{};
    if (::inflateInit2(&stream, 15 + 16) != Z_OK) return "no zlib";
    std::string input(file);
    stream.next_in = reinterpret_cast<::Bytef*>(input.data());
    stream.avail_in = static_cast<::uInt>(input.size());
    std::string text;
    std::array<char, 16384> buffer{};
    int result = Z_OK;
    while (result == Z_OK) {
        stream.next_out = reinterpret_cast<::Bytef*>(buffer.data());
        stream.avail_out = static_cast<::uInt>(buffer.size());
        result = ::inflate(&stream, Z_NO_FLUSH);
        text.append(buffer.data(), buffer.size() - stream.avail_out);
    }
    ::inflateEnd(&stream);
    if (result != Z_STREAM_END) return "zlib's result is " + std::to_string(result);
    return text;
}

/// Texts of few or many different bytes, with runs and repetitions near and far.
class Texts {
 public:
    explicit Texts(std::mt19937& random) : random_(random) {}

    std::string next(std::string_view before) {
        const std::size_t size = below(10) == 0 ? below(FastGzip::max_text + 1) : below(300);
        std::string text;
        while (text.size() < size) {
            const unsigned choice = below(4);
            if (choice < 2 && !before.empty()) {
                text += before.substr(below(before.size()), below(900));
            } else if (choice == 2) {
                text += std::string(below(700), 'a');
            } else {
                for (std::size_t i = below(20); i > 0; --i) text += character();
            }
        }
        text.resize(size);
        return text;
    }

 private:
    unsigned below(std::size_t bound) { return static_cast<unsigned>(random_() % bound); }
    char character() { return static_cast<char>(below(different_)); }

    std::mt19937& random_;
    std::size_t different_ = 1 + random_() % (random_() % 2 == 0 ? 4 : 256);
};

}  // namespace

TEST_CASE("FastGzip: zlib reads the text of random files, and to each flush") {
    FastGzip gzip;
    std::mt19937 random(1);
    for (int file = 0; file < 300; ++file) {
        CAPTURE(file);
        Texts texts(random);
        std::string text;
        std::string bytes(gzip.begin());
        for (auto left = random() % 30; left > 0; --left) {
            const std::string more = texts.next(text);
            const std::string_view block = random() % 5 == 0 ? gzip.store(more) : gzip.add(more);
            CHECK(block.size() <= more.size() + FastGzip::max_overhead);
            bytes += block;
            text += more;
            if (random() % 4 != 0) continue;
            bytes += gzip.flush();
            REQUIRE(k8s_sd::sim::recorded_text(bytes) == text);
        }
        bytes += gzip.finish();
        REQUIRE(unpacked(bytes) == text);
    }
}

TEST_CASE("FastGzip: what repeats itself becomes small, and other text hardly larger") {
    FastGzip gzip;
    std::mt19937 random(2);
    std::string noise(FastGzip::max_text, ' ');
    for (char& c : noise) c = static_cast<char>(random());
    std::string file(gzip.begin());
    const std::string first(gzip.add(noise));
    CHECK(first.size() <= noise.size() + FastGzip::max_overhead);
    // The distance is the largest possible one.
    const std::string second(gzip.add(noise));
    CHECK(second.size() < noise.size() / 50);
    file += first + second;
    file += gzip.finish();
    CHECK(unpacked(file) == noise + noise);
}

TEST_CASE("FastGzip: a new file does not refer to the former one") {
    FastGzip gzip;
    const std::string text = "the same text in both files";
    std::array<std::string, 2> files;
    for (std::string& file : files) {
        file += gzip.begin();
        file += gzip.add(text);
        file += gzip.finish();
        CHECK(unpacked(file) == text);
    }
    CHECK(files[0] == files[1]);
}

TEST_CASE("FastGzip: a file without text is one") {
    FastGzip gzip;
    std::string file(gzip.begin());
    file += gzip.finish();
    CHECK(unpacked(file).empty());
}
