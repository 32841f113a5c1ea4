"""Renders a chart as `helm template` does, for the part of the language of templates that the chart
of this project uses. Anything else is an error."""

import json
import pathlib
import re

try:
    import yaml
except ImportError:
    yaml = None

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\$|\.[\w.]*|\(|\)|\||-?\d+|\w+)')


class TemplateError(Exception):
    """The template uses something that this renderer does not know."""


def pieces(text):
    """Texts and actions, with the white space trimmed as the actions ask for."""
    end = 0
    trims = False
    for match in re.finditer(r"\{\{(-?)\s(.*?)\s(-?)\}\}", text, re.DOTALL):
        before = text[end:match.start()]
        before = before.lstrip() if trims else before
        yield "text", before.rstrip() if match[1] else before
        yield "action", match[2].strip()
        end, trims = match.end(), bool(match[3])
    yield "text", text[end:].lstrip() if trims else text[end:]


class Parser:
    """Makes a tree of the pieces: a list of nodes, each a tuple with its kind."""

    def __init__(self, text):
        self.pieces = list(pieces(text))
        self.defines = {}

    def parse(self):
        nodes, ending = self.nodes()
        if ending:
            raise TemplateError(ending + " without a beginning")
        return nodes

    def nodes(self):
        nodes = []
        while self.pieces:
            kind, text = self.pieces.pop(0)
            word = text.split(" ", 1)[0]
            if kind == "text":
                nodes.append(("text", text))
            elif word in ("end", "else"):
                return nodes, text
            elif word in ("if", "with", "range"):
                nodes.append((word, text[len(word):], *self.branches()))
            elif word == "define":
                body, ending = self.nodes()
                if ending != "end":
                    raise TemplateError(text)
                self.defines[json.loads(text[len(word):])] = body
            elif not text.startswith("/*"):
                nodes.append(("output", text))
        return nodes, ""

    def branches(self):
        yes, ending = self.nodes()
        no = []
        if ending == "else":
            no, ending = self.nodes()
        if ending != "end":
            raise TemplateError(ending or "no end")
        return yes, no


def to_yaml(value):
    return yaml.safe_dump(value, default_flow_style=False, width=10_000).rstrip("\n")


def version_matches(range_text, version):
    def numbers(text):
        return [int(number) for number in re.findall(r"\d+", text.partition("-")[0])]
    if not range_text.startswith(">="):
        raise TemplateError("semverCompare " + range_text)
    return numbers(version) >= numbers(range_text)


def text_of(value):
    return json.dumps(value) if isinstance(value, bool) else "" if value is None else str(value)


class Renderer:
    def __init__(self, defines):
        self.defines = defines
        self.functions = {
            "include": lambda name, data: self.render(self.defines[name], data),
            "toYaml": to_yaml,
            "nindent": lambda width, text: "\n" + self.indent(width, text),
            "indent": self.indent,
            "quote": lambda value: json.dumps(text_of(value)),
            "default": lambda fallback, value: value or fallback,
            "not": lambda value: not value,
            "printf": lambda form, *values: form % values,
            "semverCompare": version_matches,
        }

    @staticmethod
    def indent(width, text):
        return "\n".join(" " * width + line for line in text.split("\n"))

    def render(self, nodes, data):
        return "".join(self.node(node, data) for node in nodes)

    def node(self, node, data):
        if node[0] == "text":
            return node[1]
        value = self.evaluate(node[1], data)
        if node[0] == "output":
            return text_of(value)
        if node[0] == "range":
            return "".join(self.render(node[2], item) for item in value or [])
        if node[0] == "with":
            return self.render(node[2], value) if value else self.render(node[3], data)
        return self.render(node[2] if value else node[3], data)

    def evaluate(self, text, data):
        tokens = []
        while text.strip():
            match = TOKEN.match(text)
            if not match:
                raise TemplateError(text)
            tokens.append(match[1])
            text = text[match.end():]
        value = self.pipeline(tokens, data)
        if tokens:
            raise TemplateError(" ".join(tokens))
        return value

    def pipeline(self, tokens, data):
        value = self.command(tokens, data, [])
        while tokens and tokens[0] == "|":
            tokens.pop(0)
            value = self.command(tokens, data, [value])
        return value

    def command(self, tokens, data, last):
        function = None
        if re.match(r"[A-Za-z]", tokens[0]):
            name = tokens.pop(0)
            if name not in self.functions:
                raise TemplateError("function " + name)
            function = self.functions[name]
        arguments = []
        while tokens and tokens[0] not in ("|", ")"):
            arguments.append(self.argument(tokens, data))
        if function:
            return function(*arguments, *last)
        if len(arguments) != 1 or last:
            raise TemplateError("no function")
        return arguments[0]

    def argument(self, tokens, data):
        token = tokens.pop(0)
        if token == "(":
            value = self.pipeline(tokens, data)
            tokens.pop(0)
            return value
        if token.startswith('"'):
            return json.loads(token)
        if token.startswith("."):
            # A missing key is an error: a misspelt value must not be empty text.
            for key in filter(None, token.split(".")):
                data = data[key]
            return data
        return int(token)


def merged(values, changes):
    """The values with these changes; maps are merged, as by helm."""
    if not isinstance(values, dict) or not isinstance(changes, dict):
        return changes
    return {**values, **{key: merged(values.get(key), change)
                         for key, change in changes.items()}}


def render(folder, release, namespace, changes=None, kube_version="v1.34.0"):
    """The text of each template of the chart, by its file name."""
    folder = pathlib.Path(folder)
    chart = yaml.safe_load((folder / "Chart.yaml").read_text(encoding="utf-8"))
    values = yaml.safe_load((folder / "values.yaml").read_text(encoding="utf-8"))
    data = {"Values": merged(values, changes or {}),
            "Release": {"Name": release, "Namespace": namespace, "Service": "Helm"},
            "Chart": {"AppVersion": chart["appVersion"]},
            "Capabilities": {"KubeVersion": {"Version": kube_version}}}
    defines, trees = {}, {}
    for path in sorted((folder / "templates").iterdir()):
        parser = Parser(path.read_text(encoding="utf-8"))
        trees[path.name] = parser.parse()
        defines |= parser.defines
    return {name: Renderer(defines).render(tree, data) for name, tree in trees.items()
            if not name.startswith("_")}
