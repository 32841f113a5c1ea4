#!/usr/bin/env python3
"""Checks that exit() destroys no static object of the library: its detached threads are still
running. It destroys the thread_local objects of its thread, too, before the static objects of the
host, which may still use the library.

The code that constructs such an object registers its destructor with __cxa_atexit() or
__cxa_thread_atexit(). The relocations of the object files name the destructor just before the call.
Static objects must be detail::Immortal, and thread_local objects have no destructor.

usage: check_statics.py OBJDUMP ARCHIVE...
"""
import re
import subprocess
import sys

# Boost.Asio registers these in each source file that includes it: destructors without effect, and
# the one that frees OpenSSL's data of threads started by Asio.
ALLOWED = re.compile(r"boost::asio::(detail::(tss_ptr<.*>|service_id<.*>|service_base<.*>::id)"
                     r"|execution_context::id|ssl::detail::openssl_init.*"
                     r"|detail::execution_context_service_base<.*>::id"
                     r"|detail::posix_global_impl<.*>|detail::global<.*>)"
                     r"|shared_ptr<boost::asio::ssl::detail::openssl_init_base::do_init>"
                     r"|std::ios_base::Init")
FILE = re.compile(r"^(\S+):\s+file format")
RELOCATION = re.compile(r"^[0-9a-f]+ R_\w+\s+(.*?)(?:[-+]0x[0-9a-f]+)?$")
REGISTRATIONS = ("__cxa_atexit", "__cxa_thread_atexit")
# The object, its destructor and the handle of the program or shared object.
ARGUMENTS = 3


def mistakes_in(relocations):
    """The forbidden registrations in the output of `objdump --reloc --demangle`."""
    mistakes, file, before, destructor = [], "", [], ""
    for line in relocations.splitlines():
        if match := FILE.match(line):
            file = match[1]
        if line.startswith("RELOCATION RECORDS"):
            before, destructor = [], ""
        match = RELOCATION.match(line)
        if not match:
            continue
        if match[1] in REGISTRATIONS:
            arguments = [a for a in before[-ARGUMENTS:] if a != "__dso_handle"]
            # An optimised function loads a destructor once for several objects.
            named = [a for a in arguments if "~" in a]
            destructor = named[-1] if named else destructor
            if not any(ALLOWED.search(a) for a in [*arguments, *([] if named else [destructor])]):
                mistakes.append(f"{file}: exit() destroys {' by '.join(arguments)}")
            before = []
            continue
        before.append(match[1])
    return mistakes


def main():
    objdump, archives = sys.argv[1], sys.argv[2:]
    mistakes, registers = [], False
    for archive in archives:
        relocations = subprocess.run([objdump, "--reloc", "--demangle", archive], text=True,
                                     capture_output=True, check=True).stdout
        if not any(map(RELOCATION.match, relocations.splitlines())):
            sys.exit(f"{archive} has no relocations that could be checked")
        registers |= "__cxa_atexit" in relocations
        mistakes += mistakes_in(relocations)
    # Asio registers some, with clang in the first archive alone.
    if not registers:
        sys.exit("the archives register no destructors, not even those of Asio")
    for mistake in mistakes:
        print(mistake)
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
