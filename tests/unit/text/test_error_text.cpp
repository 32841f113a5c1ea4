#include "k8s_sd/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

using namespace k8s_sd;

namespace {

template <class Call>
std::string words_of_thrown(Call call) {
    try {
        call();
    } catch (const std::exception& e) {
        return in_words(e);
    }
    return "nothing was thrown";
}

}  // namespace

TEST_CASE("in_words: exceptions of Asio show no function and no source file") {
    namespace asio = boost::asio;
    asio::io_context io;
    const asio::ip::tcp::endpoint free_port(asio::ip::address_v4::loopback(), 0);
    const asio::ip::tcp::acceptor first(io, free_port);
    CHECK(words_of_thrown([&] { asio::ip::tcp::acceptor(io, first.local_endpoint()); }) ==
          "address already in use");
    static constexpr boost::source_location here = BOOST_CURRENT_LOCATION;
    const boost::system::error_code located(ENOENT, boost::system::system_category(), &here);
    CHECK(in_words(boost::system::system_error(located)) == "no such file or directory");
    CHECK(in_words(boost::system::system_error(located, "open")) == "no such file or directory");
    CHECK(in_words(boost::system::system_error(located, "cannot read the list")) ==
          "cannot read the list: no such file or directory");
}

TEST_CASE("in_words: a limit of open files comes with its remedy") {
    CHECK(in_words(boost::system::error_code(EMFILE, boost::system::system_category())) ==
          "too many open files; raise the limit (ulimit -n)");
}

TEST_CASE("in_words: exceptions of files and of memory are put into words") {
    CHECK(words_of_thrown([] { std::filesystem::directory_iterator("/nonexistent"); }) ==
          "/nonexistent: no such file or directory");
    CHECK(in_words(std::system_error(ENOSPC, std::generic_category(), "cannot write a.json")) ==
          "cannot write a.json: no space left on device");
    CHECK(in_words(std::bad_alloc()) == "there is not enough memory");
    CHECK(in_words(std::runtime_error("RPC failed")) == "RPC failed");
}
