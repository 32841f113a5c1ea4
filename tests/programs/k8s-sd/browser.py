"""A headless Chromium under a test's control: the DevTools protocol over a pipe, without other
dependencies."""

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from harness import TIMEOUT

PROGRAM = next((path for name in ("chromium-headless-shell", "chromium", "google-chrome")
                if (path := shutil.which(name))), None)
WHY_NOT = "needs a browser: apt-get install chromium-headless-shell"


class Browser:
    """One browser page. Records the page's requests and complaints."""

    def __init__(self, width=1280, height=800, dark=False):
        self.folder = tempfile.mkdtemp(prefix="browser")
        to_read, self.to = os.pipe()
        self.come, to_write = os.pipe()
        # The browser reads from 3 and writes to 4.
        script = f'exec 3<&{to_read} 4>&{to_write}; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "browser", PROGRAM, "--headless", "--no-sandbox",
             "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.numbers = itertools.count(1)
        self.rest = b""
        self.requests = []    # URLs
        self.complaints = []  # of the console, of scripts, of the security policy
        target = next(one for one in self.send("Target.getTargets")["targetInfos"]
                      if one["type"] == "page")
        self.session = None
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.send(domain + ".enable")
        self.size(width, height)
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def size(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def send(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive(TIMEOUT)
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.come], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError("the browser does not answer")
            piece = os.read(self.come, 1 << 20)
            if not piece:
                raise AssertionError("the browser has ended")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(text)
        self.note(message.get("method"), message.get("params"))
        return message

    def note(self, method, parameters):
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.complaints.append(parameters["args"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"])

    def open(self, url):
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def reload(self):
        self.js("window.isOld = true")
        self.send("Page.reload")
        self.wait("!window.isOld && document.readyState === 'complete'")

    def js(self, expression):
        """The value of an expression, or of its promise."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression):
        """Waits until the expression is true."""
        end = time.monotonic() + TIMEOUT
        while not self.js(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise AssertionError(f"still not {expression}: " +
                                     str(self.js("document.body.innerText"))[:2000])
            time.sleep(0.02)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def press(self, key):
        """Presses a key, e.g. "j" or "Enter"."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9}
        event = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        if key == "Enter":
            event["text"] = "\r"
        elif len(key) == 1:
            event["text"] = key
        self.send("Input.dispatchKeyEvent", type="keyDown", **event)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def click(self, selector):
        self.wait(f"document.querySelector({json.dumps(selector)}) !== null")
        self.js(f"document.querySelector({json.dumps(selector)}).click()")

    def forgive(self, path, status):
        """Excuses an expected error status, about which the browser complains."""
        def wanted(entry):
            return (isinstance(entry, dict) and f"/{path}" in entry.get("url", "") and
                    f"status of {status} " in entry.get("text", ""))
        self.complaints = [one for one in self.complaints if not wanted(one)]

    def measure_cpu(self):
        """Starts cpu_seconds()."""
        self.send("Performance.enable", timeDomain="threadTicks")

    def cpu_seconds(self):
        """The CPU time of the page's main thread, for scripts, style and layout."""
        metrics = self.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    def heap(self):
        """The heap size of the page's script in bytes."""
        self.send("HeapProfiler.collectGarbage")
        return self.send("Runtime.getHeapUsage")["usedSize"]

    def tree(self):
        """The accessibility tree: role, name and whether the element can have the focus."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        for node in nodes:
            if node.get("ignored"):
                continue
            focusable = any(one["name"] == "focusable" for one in node.get("properties", []))
            yield node["role"]["value"], node.get("name", {}).get("value", ""), focusable

    def screenshot(self, path):
        picture = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.come)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def browser(**options):
    instance = Browser(**options)
    try:
        yield instance
    finally:
        instance.close()
