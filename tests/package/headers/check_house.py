#!/usr/bin/env python3
"""Checks the layout of the library by reading its files; see `layers.txt` and CONTRIBUTING.md.

1. Path and namespace agree: include/k8s_sd/detail/ is k8s_sd::detail, the rest is k8s_sd, and each
   folder of src/ has the namespace in `SOURCES`.
2. A layer includes only the layers named in `layers.txt`, and no two files include each other.
3. Every .ipp is in the list of its layer, detail/<layer>/<layer>.ipp, once. Every list is in
   src.hpp (or scrape/src.hpp), and in one translation unit of src/lib/ once.
4. Names of .ipp files do not leak: no using-directive outside of a function.
5. A class of the layers in `SMALL_CLASSES` has at most `MAX_MEMBERS` data members of its own.

usage: check_house.py PROJECT_DIRECTORY [--draw]    --draw: print the includes of each layer
"""
import collections
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#include "(k8s_sd/[^"]+)"', re.MULTILINE)
NAMESPACE = re.compile(r"^namespace (k8s_sd[\w:]*(?: v0[\w:]*)?) \{", re.MULTILINE)
NAMED = re.compile(r"^(?:inline )?namespace ([\w:]+(?: v0[\w:]*)?) \{", re.MULTILINE)
USING = re.compile(r"^using namespace ", re.MULTILINE)
# Headers that only include others.
UMBRELLAS = {"k8s_sd/k8s_sd.hpp", "k8s_sd/fwd.hpp", "k8s_sd/src.hpp", "k8s_sd/scrape/scrape.hpp",
             "k8s_sd/scrape/fwd.hpp", "k8s_sd/scrape/src.hpp"}
# The layers of k8s_sd::scrape, with an umbrella of their own.
SCRAPING = ("relabel", "scrape", "monitors")

# Folders below src/ and their namespaces. The files of lib/ only include lists of bodies.
SOURCES = {"lib": None, "c": "k8s_sd_c", "json": "k8s_sd_json",
           "sim": "k8s_sd::inline v0::sim",
           "programs/http": "http", "programs/cli": "cli", "programs/discover": "discover",
           "programs/k8s-sd": "k8s_sd_program", "programs/kubectl-sd": "kubectl_sd"}
# The layers with a limit on the data members of a class.
SMALL_CLASSES = {"watch"}
MAX_MEMBERS = 15
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
CLASS = re.compile(r"\b(?:class|struct)\s+(?:K8S_SD_EXPORT\s+)?([\w:]+)[^;{}()=]*\{")
NO_MEMBER = re.compile(r"(?:using|typedef|friend|static|template|enum|class|struct|union|"
                       r"virtual|explicit)\b|.*\boperator\b", re.DOTALL)
# A forward declaration of the library's own classes.
FORWARD = {"k8s_sd::inline v0", "k8s_sd::inline v0::detail"}


class House:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.include = self.root / "include"
        self.allowed, self.public = {}, {}
        self._read_table(pathlib.Path(__file__).parent / "layers.txt")
        self.texts = {
            str(path.relative_to(self.include)): path.read_text(encoding="utf-8")
            for path in sorted(self.include.rglob("*.[hi]pp"))
        }
        self.sources = {
            str(path.relative_to(self.root / "src")): path.read_text(encoding="utf-8")
            for path in sorted((self.root / "src").rglob("*.[hc]pp"))
        }

    def _read_table(self, table):
        for line in table.read_text(encoding="utf-8").splitlines():
            line = line.split("#")[0].strip()
            if not line:
                continue
            layer, rest = line.split(":")
            below, _, headers = rest.partition("|")
            self.allowed[layer] = set(below.split())
            for header in headers.split():
                self.public[header] = layer

    def layer_of(self, file):
        """The layer of a file below include/; None if the table has no entry."""
        parts = file.split("/")[1:]
        if parts[0] == "detail":
            return parts[1] if parts[1] in self.allowed else None
        name = "/".join(parts).removesuffix(".hpp")
        return self.public.get(name, self.public.get(parts[0] + "/*"))

    def library_files(self):
        return [file for file in self.texts if file not in UMBRELLAS]

    def includes_of(self, file):
        return INCLUDE.findall(self.texts[file])


def table_problems(house):
    seen = set()
    for layer, below in house.allowed.items():
        for name in sorted(below - seen):
            yield f"layers.txt: {layer} names {name}, but {name} is not above it in the table"
        seen.add(layer)


def permission_problems(house):
    used = {(house.layer_of(file), house.layer_of(included))
            for file in house.library_files() for included in house.includes_of(file)}
    for layer, below in house.allowed.items():
        for name in sorted(below):
            if (layer, name) not in used:
                yield f"layers.txt: {layer} may include {name}, but does not"


def namespace_problems(house):
    for file in house.library_files():
        private = file.startswith("k8s_sd/detail/")
        for namespace in NAMESPACE.findall(house.texts[file]):
            if "inline v0" not in namespace:
                yield f"{file}: namespace {namespace} lacks the inline namespace v0"
            elif private and file.endswith(".hpp") and not re.search(r"v0::detail\b", namespace):
                yield f"{file}: a header in detail/ belongs to k8s_sd::detail, not to {namespace}"
            elif not private and re.search(r"v0::detail\b", namespace):
                yield f"{file}: a public header does not belong to {namespace}"


def source_problems(house):
    for file, text in house.sources.items():
        folder = next((name for name in SOURCES if file.startswith(name + "/")), None)
        if folder is None:
            yield f"src/{file}: check_house.py names no namespace for its folder"
            continue
        own = SOURCES[folder]
        found = [name for name in NAMED.findall(text) if name not in FORWARD]
        # A namespace inside another one, such as a table's, is not at the top of its file.
        if found and (own is None or not (found[0] == own or found[0].startswith(own + "::"))):
            yield f"src/{file}: belongs to {own or 'no namespace'}, not to {found[0]}"
        if not found and own is not None and not file.endswith("/main.cpp"):
            yield f"src/{file}: belongs to namespace {own}, but declares nothing there"


def layer_problems(house):
    for file in house.library_files():
        layer = house.layer_of(file)
        if layer is None:
            yield f"{file}: belongs to no layer in layers.txt"
            continue
        for included in house.includes_of(file):
            if included not in house.texts:
                yield f"{file}: includes {included}, a missing file"
            elif included in UMBRELLAS:
                yield f"{file}: includes {included}, a header for hosts only"
            else:
                below = house.layer_of(included)
                if below is not None and below != layer and below not in house.allowed[layer]:
                    yield f"{file}: {layer} must not include {below} ({included})"


def circle_problems(house):
    state = {}

    def visit(file, path):
        state[file] = "open"
        for included in house.includes_of(file):
            if state.get(included) == "open":
                circle = path[path.index(included):] if included in path else [included]
                yield "a circle of includes: " + " -> ".join([*circle, included])
            elif included in house.texts and included not in state:
                yield from visit(included, [*path, included])
        state[file] = "done"

    for file in house.library_files():
        if file not in state:
            yield from visit(file, [file])


def list_of(layer):
    """The list of a layer's bodies."""
    return f"k8s_sd/detail/{layer}/{layer}.ipp"


def body_problems(house):
    bodies = [file for file in house.texts if file.endswith(".ipp")]
    listed = collections.Counter(included for file in bodies
                                 for included in house.includes_of(file))
    for body in bodies:
        name = list_of(house.layer_of(body))
        if body != name and (listed[body] != 1 or body not in house.includes_of(name)):
            yield f"{body}: {name} must include it, and no other .ipp"
        if USING.search(house.texts[body]):
            yield f"{body}: a using-directive outside of a function reaches other files"


def list_problems(house):
    units = collections.Counter(
        included for unit in sorted(house.root.glob("src/lib/*.cpp"))
        for included in INCLUDE.findall(unit.read_text(encoding="utf-8")))
    for layer in house.allowed:
        name = list_of(layer)
        if name not in house.texts:
            continue
        umbrella = f"k8s_sd/{'scrape/' if layer in SCRAPING else ''}src.hpp"
        if name not in house.includes_of(umbrella):
            yield f"{name}: include/{umbrella} must include it"
        if units.pop(name, 0) != 1:
            yield f"{name}: one file of src/lib/ must include it"
    for other in units:
        yield f"{other}: files of src/lib/ include only lists of bodies"


def block_end(code, begin):
    """The position behind the brace that closes the block."""
    depth = 1
    for place in re.finditer(r"[{}]", code[begin:]):
        depth += 1 if place[0] == "{" else -1
        if depth == 0:
            return begin + place.end()
    return len(code)


def statements_of(block):
    """The statements of a block, each with \"{}\" in place of an inner block."""
    statement, place = "", 0
    while place < len(block):
        character = block[place]
        place += 1
        if character == "{":
            place = block_end(block, place)
            statement += "{}"
            # A body of a function, not an initializer, needs no semicolon.
            if re.match(r"\s*;", block[place:]) or re.match(r"\s*,", block[place:]):
                continue
        elif character != ";":
            statement += character
            continue
        yield re.sub(r"\b(?:public|protected|private)\s*:", "", statement).strip()
        statement = ""
    yield statement.strip()


def without_template_arguments(text):
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text


def members_of(block):
    """The number of data members that the block of a class declares."""
    count = 0
    for statement in statements_of(block):
        declaration = without_template_arguments(re.split(r"=|\{\}", statement)[0]).strip()
        if " " in declaration and "(" not in declaration and not NO_MEMBER.match(declaration):
            count += 1 + declaration.count(",")
    return count


def member_problems(house):
    for file in house.library_files():
        if house.layer_of(file) not in SMALL_CLASSES:
            continue
        code = COMMENT.sub("", house.texts[file])
        for found in CLASS.finditer(code):
            count = members_of(code[found.end():block_end(code, found.end()) - 1])
            if count > MAX_MEMBERS:
                yield (f"{file}: {found[1]} has {count} data members, more than {MAX_MEMBERS}: "
                       "group them")


CHECKS = (table_problems, permission_problems, namespace_problems, source_problems,
          layer_problems, circle_problems, body_problems, list_problems, member_problems)


def draw(house):
    arrows = collections.Counter()
    for file in house.library_files():
        layer = house.layer_of(file)
        for included in house.includes_of(file):
            below = house.layer_of(included)
            if included not in UMBRELLAS and below != layer:
                arrows[layer, below] += 1
    order = list(house.allowed)
    for layer in reversed(order):
        below = [f"{name} {arrows[layer, name]}" for name in order if arrows[layer, name]]
        print(f"{layer:>9} -> {', '.join(below) or '(the ground)'}")


def main(root, *options):
    house = House(root)
    problems = [problem for check in CHECKS for problem in check(house)]
    if "--draw" in options:
        draw(house)
    print(*problems, f"{len(house.texts)} files, {len(problems)} problems", sep="\n")
    return 1 if problems or len(house.texts) < 50 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
