"""Carries out actions on a page of Playwright (its synchronous interface)."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any
from urllib.parse import quote_plus, urlsplit

from outspoken import Action
from outspoken.actions import ElementRef, Point, playwright_key


class RefusedError(Exception):
    """An action that was not carried out. The message names it and says what to do instead."""

    def __init__(self, action: Action, reason: str) -> None:
        self.action = action
        super().__init__(f"the action `{action.type}` was not carried out: {reason}")


def require_sound(action: Action) -> None:
    """Raises RefusedError for an action that is cut, damaged beyond use, or not in the format's vocabulary."""
    if action.status in ("truncated", "invalid") or action.type == "unknown":
        raise RefusedError(action, f"it is {action.status}, so ask the model again")


def pixels(action: Action, point: Point) -> tuple[int, int]:
    """A point of an action as whole pixels. Raises RefusedError for other units and for less than zero."""
    if point.space != "px":
        raise RefusedError(action, f"its point is in `{point.space}`, so give the parser a `screen`")
    if point.x < 0 or point.y < 0:
        raise RefusedError(action, f"({point.x:g}, {point.y:g}) is not on the screen")
    return int(point.x), int(point.y)


# carries out actions on a page of Playwright (its synchronous interface)


#: The pixels of one step of the wheel, and of a scroll without an amount.
STEP, SCROLL = 100, 500
_AXES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
#: Why an action is not carried out here, by its type.
_ELSEWHERE = {
    **dict.fromkeys(("complete", "answer", "fail", "ask_user"), "it is for the loop of your agent"),
    **dict.fromkeys(("extract", "find", "memorize", "quote", "call_llm"), "reading the page is up to your agent"),
    **dict.fromkeys(("run_code", "set_cells", "file_op"), "code and files of a model need a sandbox"),
    **dict.fromkeys(("solve_captcha", "verification_code"), "a person or your own service does it"),
    "open_app": "a browser opens no applications",
}


class PlaywrightExecutor:
    """Carries out actions on `page`, a `playwright.sync_api.Page`.

    `find` returns the `Locator` of an element that the model names. `files` are the files that the model may upload, by
    the names that it knows. `search` is the URL of a search engine with `{}` for the query, `home` the first page.
    """

    def __init__(
        self,
        page: Any,
        *,
        find: Callable[[ElementRef], Any] | None = None,
        files: Mapping[str, str] | None = None,
        search: str | None = None,
        home: str | None = None,
    ) -> None:
        self.page = page
        self.pointer: tuple[int, ...] = (0, 0)
        self._find, self._files, self._search, self._home = find, files or {}, search, home

    def run(self, action: Action) -> Any:
        """Carry out an action; returns what a screenshot or the like results in. Raises RefusedError."""
        require_sound(action)
        method = getattr(self, f"_{action.type}", None)
        if method is None:
            raise RefusedError(action, _ELSEWHERE.get(action.type, "a browser has no such thing"))
        return method(action)

    # targets

    def _place(self, action: Any, point: Point | None, element: ElementRef | None) -> tuple[int, ...]:
        """The place of a target; without one, where the pointer is."""
        if point is not None:
            self.pointer = pixels(action, point)
        elif element is not None:
            box = self._locator(action, element).bounding_box()
            if box is None:
                raise RefusedError(action, "its element is not visible")
            self.pointer = int(box["x"] + box["width"] / 2), int(box["y"] + box["height"] / 2)
        return self.pointer

    def _locator(self, action: Any, element: ElementRef | None) -> Any:
        if element is None:
            raise RefusedError(action, "it names no element")
        found = self._find(element) if self._find is not None else None
        if found is None:
            raise RefusedError(action, "its element was not found, so pass `find`")
        return found

    def _button(self, action: Any) -> str:
        if action.button not in ("left", "right", "middle"):
            raise RefusedError(action, f"Playwright has no button `{action.button}`")
        return action.button

    def _keys(self, action: Any, names: list[str]) -> list[str]:
        try:
            return [playwright_key(name) for name in names]
        except ValueError as error:
            raise RefusedError(action, str(error)) from None

    @contextmanager
    def _held(self, action: Any) -> Generator[None, None, None]:
        """The modifiers of an action are down."""
        keys = self._keys(action, action.modifiers)
        for key in keys:
            self.page.keyboard.down(key)
        try:
            yield
        finally:
            for key in reversed(keys):
                self.page.keyboard.up(key)

    # the mouse

    def _click(self, action: Any) -> Any:
        if action.file_url is not None or action.desired_state is not None:
            raise RefusedError(action, "it says more than a click: a file, or the state of a switch")
        button, place = self._button(action), self._place(action, action.point, action.element)
        delay = 1000 * (action.hold_seconds or 0)
        awaited: Any = self.page.expect_download() if action.download else nullcontext()
        with awaited as pending, self._held(action):
            self.page.mouse.click(*place, button=button, click_count=action.clicks, delay=delay)
        return pending.value if action.download else None

    def _long_press(self, action: Any) -> None:
        place = self._place(action, action.point, action.element)
        self.page.mouse.click(*place, button="left", click_count=1, delay=1000 * (action.seconds or 1))

    def _move(self, action: Any) -> None:
        self.page.mouse.move(*self._place(action, action.point, action.element))
        if action.hold_seconds:
            self.page.wait_for_timeout(1000 * action.hold_seconds)

    def _mouse_down(self, action: Any) -> None:
        button = self._button(action)
        self.page.mouse.move(*self._place(action, action.point, None))
        self.page.mouse.down(button=button)

    def _mouse_up(self, action: Any) -> None:
        button = self._button(action)
        self.page.mouse.move(*self._place(action, action.point, None))
        self.page.mouse.up(button=button)

    def _drag(self, action: Any) -> None:
        if action.end is None and action.end_element is None:
            raise RefusedError(action, "it has no end")
        button = self._button(action)
        start = self._place(action, action.start, action.start_element)
        path = [*(pixels(action, point) for point in action.via), self._place(action, action.end, action.end_element)]
        with self._held(action):
            self.page.mouse.move(*start)
            self.page.mouse.down(button=button)
            for place in path:
                self.page.mouse.move(*place, steps=10)
            self.page.mouse.up(button=button)

    def _scroll(self, action: Any) -> None:
        if action.element is not None and action.direction is None and action.dx is None and action.dy is None:
            self._locator(action, action.element).scroll_into_view_if_needed()
            return
        scale = self._scale(action)
        across, down = _AXES[action.direction or "down"]
        if action.dx is not None or action.dy is not None:
            by = (action.dx or 0) * scale[0], (action.dy or 0) * scale[1]
        elif action.amount is None:
            by = across * SCROLL, down * SCROLL
        else:
            by = across * action.amount * scale[0], down * action.amount * scale[1]
        if action.point is None and action.element is None:
            self.pointer = self._middle()
        self.page.mouse.move(*self._place(action, action.point, action.element))
        with self._held(action):
            self.page.mouse.wheel(round(by[0]), round(by[1]))

    def _scale(self, action: Any) -> tuple[int, int]:
        """The pixels of a unit of scrolling, across and down."""
        size = self._size()
        return {"steps": (STEP, STEP), "pages": size, "screen": size}.get(action.unit, (1, 1))

    def _swipe(self, action: Any) -> None:
        """A page moves with the finger: it scrolls the other way."""
        if action.start is None and action.element is None:
            self.pointer = self._middle()
        start = self._place(action, action.start, action.element)
        if action.end is not None:
            end = pixels(action, action.end)
            by = start[0] - end[0], start[1] - end[1]
        else:
            across, down = _AXES[action.direction or "up"]
            by = -across * SCROLL, -down * SCROLL
        self.page.mouse.move(*start)
        self.page.mouse.wheel(*by)

    def _middle(self) -> tuple[int, ...]:
        wide, high = self._size()
        return wide // 2, high // 2

    def _size(self) -> tuple[int, int]:
        size = self.page.viewport_size or {"width": 1280, "height": 720}
        return size["width"], size["height"]

    # the keyboard

    def _type_text(self, action: Any) -> None:
        if action.point is not None or action.element is not None:
            self.page.mouse.click(*self._place(action, action.point, action.element))
        if action.clear:
            self.page.keyboard.press("ControlOrMeta+A")
            self.page.keyboard.press("Backspace")
        if action.paste:
            self.page.keyboard.insert_text(action.text)
        else:
            self.page.keyboard.type(action.text)
        if action.submit:
            self.page.keyboard.press("Enter")

    def _press_keys(self, action: Any) -> None:
        keys, held = self._keys(action, action.keys), self._keys(action, action.modifiers)
        if action.point is not None:
            self.page.mouse.click(*self._place(action, action.point, None))
        if action.mode == "hold":
            for key in [*held, *keys]:
                self.page.keyboard.down(key)
            self.page.wait_for_timeout(1000 * (action.seconds or 0))
            for key in reversed([*held, *keys]):
                self.page.keyboard.up(key)
            return
        for _ in range(max(action.repeat, 1)):
            for together in [[key] for key in keys] if action.mode == "sequence" else [keys]:
                self.page.keyboard.press("+".join(dict.fromkeys([*held, *together])))

    def _key_down(self, action: Any) -> None:
        self.page.keyboard.down(self._keys(action, [action.key])[0])

    def _key_up(self, action: Any) -> None:
        self.page.keyboard.up(self._keys(action, [action.key])[0])

    # forms

    def _select_option(self, action: Any) -> None:
        chosen = {key: getattr(action, key) for key in ("label", "value", "index") if getattr(action, key) is not None}
        if not chosen:
            raise RefusedError(action, "it names no option")
        self._locator(action, action.element).select_option(**chosen)

    def _set_checked(self, action: Any) -> None:
        self._locator(action, action.element).set_checked(action.checked)

    def _set_value(self, action: Any) -> None:
        self._locator(action, action.element).fill(action.value)

    def _list_options(self, action: Any) -> Any:
        return self._locator(action, action.element).locator("option").all_inner_texts()

    def _upload_file(self, action: Any) -> None:
        if action.source not in self._files:
            raise RefusedError(action, f"the model may not upload `{action.source}`, so add it to `files`")
        self._locator(action, action.element).set_input_files(self._files[action.source])

    def _download_file(self, action: Any) -> Any:
        locator = self._locator(action, action.element)
        with self.page.expect_download() as pending:
            locator.click()
        return pending.value

    # pages and tabs

    def _navigate(self, action: Any) -> None:
        url = self._url(action, action.url)
        if action.new_tab:
            self.page = self.page.context.new_page()
        self.page.goto(url)

    def _url(self, action: Any, url: str) -> str:
        url = url if "://" in url or url.startswith(("about:", "javascript:", "data:")) else f"https://{url}"
        if urlsplit(url).scheme not in ("http", "https") and url != "about:blank":
            raise RefusedError(action, f"`{url[:80]}` is no page of the web")
        return url

    def _go_back(self, _: Any) -> None:
        self.page.go_back()

    def _go_forward(self, _: Any) -> None:
        self.page.go_forward()

    def _reload(self, _: Any) -> None:
        self.page.reload()

    def _web_search(self, action: Any) -> None:
        if self._search is None:
            raise RefusedError(action, "no engine is known, so pass `search`")
        self.page.goto(self._search.format(quote_plus(action.query or "")))

    def _new_tab(self, action: Any) -> None:
        url = self._url(action, action.url) if action.url else None
        self.page = self.page.context.new_page()
        if url is not None:
            self.page.goto(url)

    def _tab(self, action: Any) -> Any:
        pages = self.page.context.pages
        if action.tab_id is not None or action.index is None or not 0 <= action.index < len(pages):
            raise RefusedError(action, f"there is no such tab: tabs are counted from 0 to {len(pages) - 1}")
        return pages[action.index]

    def _switch_tab(self, action: Any) -> None:
        self.page = self._tab(action)
        self.page.bring_to_front()

    def _close_tab(self, action: Any) -> None:
        closed = self.page if action.index is None and action.tab_id is None else self._tab(action)
        others = [page for page in self.page.context.pages if page is not closed]
        closed.close()
        if closed is self.page and others:
            self.page = others[-1]

    def _restart(self, action: Any) -> None:
        if self._home is None:
            raise RefusedError(action, "the first page is not known, so pass `home`")
        self.page.goto(self._home)

    # the rest

    def _device_button(self, action: Any) -> None:
        if action.button == "back":
            self.page.go_back()
        elif action.button == "enter":
            self.page.keyboard.press("Enter")
        elif action.button == "home":
            self._restart(action)
        else:
            raise RefusedError(action, f"a browser has no button `{action.button}`")

    def _screenshot(self, action: Any) -> bytes:
        region: Point | None = action.region
        if region is None or region.box is None:
            return self.page.screenshot()
        pixels(action, region)
        box = region.box
        size = {"width": box.right - box.left, "height": box.bottom - box.top}
        return self.page.screenshot(clip={"x": box.left, "y": box.top, **size})

    def _cursor_position(self, _: Any) -> Any:
        return self.pointer

    def _wait(self, action: Any) -> None:
        self.page.wait_for_timeout(1000 * (action.seconds if action.seconds is not None else 2))

    def _no_op(self, _: Any) -> None:
        """Nothing to do; so is `open_device`."""

    _open_device = _no_op

    def _batch(self, action: Any) -> list[Any]:
        for part in action.actions:
            require_sound(part)
        return [self.run(part) for part in action.actions]
