"""A headless Chromium with the dashboard, and the words of the tests for it.

A missing browser or a missing Selenium skips the tests: skip_reason() says which one is missing.
"""
import shutil
import sys
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
PATIENCE = 20  # seconds for something to appear


def skip_reason():
    if not CHROMIUM or not DRIVER:
        return "chromium and chromium-driver are not installed"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "python3-selenium is not installed"
    return ""


if skip_reason():
    print("skipped:", skip_reason())
    sys.exit(77)

from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402


class Browser:
    """One window. `wide` and `high` are pixels of CSS."""

    def __init__(self, folder):
        options = Options()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                         "--no-proxy-server", "--disable-background-networking", f"--user-data-dir={folder}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.size(1440, 900)

    def close(self):
        self.driver.quit()

    def size(self, wide, high):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": wide, "height": high, "deviceScaleFactor": 1, "mobile": False})

    def prefer(self, **features):
        """Media features, as prefer(prefers_color_scheme='dark')."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})

    def open(self, url, panel="cluster"):
        self.driver.get("about:blank")
        self.driver.get(f"{url}#{panel}")
        self.until(lambda: "up to date" in self.text("#freshness") or " old" in self.text("#freshness"))

    def panel(self, name):
        self.driver.find_element(By.CSS_SELECTOR, f'nav a[href="#{name}"]').click()
        self.until(lambda: self.script(f"return !document.getElementById('panel-{name}').hidden"))

    def until(self, holds, what="", patience=PATIENCE):
        """Waits until `holds` returns something true, and returns that."""
        end = time.monotonic() + patience
        while True:
            found = holds()
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"not within {patience} s: {what or holds}\n{self.text('body')[:3000]}")
            time.sleep(0.05)

    def script(self, text, *values):
        return self.driver.execute_script(text, *values)

    def text(self, selector):
        return self.script("const e = document.querySelector(arguments[0]); return e ? e.innerText : '';", selector)

    def shows(self, selector, *words):
        self.until(lambda: all(word in self.text(selector) for word in words), f"{selector} with {words}")

    def row(self, table, name):
        """The cells of the row of that name, by the name of the column."""
        return self.script("""
            for (const row of document.querySelectorAll(arguments[0] + ' tbody tr'))
                if (row.querySelector('th').innerText.split(' (')[0].trim() === arguments[1])
                    return Object.fromEntries([...row.children].map((cell) => [cell.dataset.name, cell.innerText.trim()]));
            return null;""", table, name)

    def click(self, selector):
        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def type(self, selector, text):
        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        element.clear()
        element.send_keys(text)

    def give_token(self, token, refused=False):
        is_open = "return document.getElementById('token-dialog').open"
        self.until(lambda: self.script("return !document.getElementById('token-button').hidden"), "the node tells that it has a token")
        if not self.script(is_open):
            self.click("#token-button")
        self.type("#token-input", token)
        self.click("#token-form .main")
        if refused:
            self.shows("#token-why", "The node refuses this token.")
            self.click("#token-form [data-act=close-dialog]")
        else:
            self.until(lambda: not self.script(is_open), "the dialog closes")

    def confirm(self):
        self.until(lambda: self.script("return document.getElementById('confirm-dialog').open"))
        self.click("#confirm-go")

    def complaints(self):
        """What the page logged, violations of the policy among it. Answers of a refusal are no complaint."""
        return [line["message"] for line in self.driver.get_log("browser")
                if "Failed to load resource" not in line["message"]]

    def asked(self):
        """The URLs of all requests since the last call."""
        import json
        urls = []
        for line in self.driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return urls

    def picture(self, file):
        self.driver.save_screenshot(file)
