"""A user made of simulated events, for scripts that run inside a Blender with a window.

Blender must have been started with ``--enable-event-simulate``. A scenario is a generator function that takes a
`User`; it yields after each event, so that Blender handles the event and draws before the next one:

    def scenario(user):
        yield from user.open_sidebar("Two-Bone IK")
        yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake")))

    play(scenario)

`play` ends Blender: exit code 0 when the scenario came to its end, 1 when it raised.

Objects of `bpy.data` die with every undo and file load: keep names, and look them up again.
"""

import contextlib
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path

import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

from tests.gui.picture import Picture, save_png, seen_on_screen

# Blender draws and handles events between two calls of a timer. One call is not always enough for both.
SECONDS_BETWEEN_CALLS = 0.01
CALLS_BETWEEN_STEPS = 3
# Enough to find out what is under the mouse, which need not be drawn.
CALLS_TO_HOVER = 1
# The first frames of a new window belong to layout and shader compilation: it stands once this many calls drew nothing.
CALM_CALLS_BEFORE_START = 5
# What moves by itself, like a progress bar, is taken as it is after so many steps.
STEPS_PER_PICTURE = 10
MOST_PAGES, PAGES_AT_END = 20, 2
"""Pages turned at most, and those in vain that are the end: a panel that just grew is laid out only when it is drawn."""
ROW_STEP = 16
"""Pixels from one look to the next on the way down the sidebar: less than a button's height, 20."""

# Right of the labels that Blender's split layout puts in the left part of a row.
PLACE_IN_ROW, ICONS_IN_ROW, LEFT_IN_ROW = 0.6, 0.835, 0.27

PANEL_PARTS = {"group", "without", "draw", "draw_more", "_draw_limits", "_draw_found", "bl_label"}
"""What makes up a sub-panel, beside its place."""

Steps = Generator[int | None, None, None]
"""Each step says after how many calls of the timer the next one is due, or nothing for the usual number."""

Place = Generator[int | None, None, tuple[int, int]]


class User:
    """What a person does at the window: moves, clicks, types, looks."""

    def __init__(self, pictures: Path) -> None:
        self.pictures = pictures
        self.place = (0, 0)
        self.found: dict[str, int] = {}
        self.window = bpy.context.window_manager.windows[0]

    def wait(self, steps: int = 5) -> Steps:
        """Let Blender handle events and draw a few times."""
        for _ in range(steps):
            yield

    def area(self, kind: str = "VIEW_3D") -> bpy.types.Area:
        return next(area for area in self.window.screen.areas if area.type == kind)

    def region(self, kind: str, area_kind: str = "VIEW_3D") -> bpy.types.Region:
        return next(region for region in self.area(area_kind).regions if region.type == kind)

    def move(self, x: float, y: float) -> Steps:
        """Move the mouse to window pixels, counted from the bottom left."""
        self.place = (int(x), int(y))
        self.window.event_simulate("MOUSEMOVE", "NOTHING", x=self.place[0], y=self.place[1])
        yield

    def hover(self, region_kind: str) -> Steps:
        """Move the mouse to the middle of a region of the 3D viewport: WINDOW, UI, TOOLS, HEADER, HUD."""
        region = self.region(region_kind)
        yield from self.move(region.x + region.width // 2, region.y + region.height // 2)

    def look_from(self, side: str) -> Steps:
        """Turn the 3D viewport to FRONT, RIGHT, TOP ... and frame everything in it."""
        with bpy.context.temp_override(window=self.window, area=self.area(), region=self.region("WINDOW")):
            bpy.ops.view3d.view_axis(type=side)
            bpy.ops.view3d.view_all()
        yield from self.wait()

    def place_of(self, point: tuple[float, float, float]) -> tuple[int, int]:
        """Where in the window a point of the world is seen in the 3D viewport."""
        region, view = self.region("WINDOW"), self.area().spaces.active.region_3d
        seen = location_3d_to_region_2d(region, view, point)
        return region.x + int(seen.x), region.y + int(seen.y)

    def press(self, key: str, **modifiers: bool) -> Steps:
        """Press and release a key or a mouse button where the mouse is."""
        for value in ("PRESS", "RELEASE"):
            self.window.event_simulate(key, value, x=self.place[0], y=self.place[1], **modifiers)
            yield

    def click(self, x: float, y: float) -> Steps:
        yield from self.move(x, y)
        yield from self.press("LEFTMOUSE")

    def click_go_on(self, before: Picture | None, opened: Picture | None) -> Steps:
        """Click the button with which an open dialog goes on, which is drawn as the chosen one; `before`: without the dialog."""
        if before is None or opened is None:  # Nobody can look for it: Enter presses it, too.
            yield from self.press("RET")
            return
        chosen = bpy.context.preferences.themes[0].user_interface.wcol_regular.inner_sel
        place = opened.new_patch(tuple(chosen)[:3], before)
        assert place is not None, "no dialog has opened"
        # It lights up under the mouse, and is pressed thereafter.
        yield from self.move(*place)
        yield from self.click(*place)

    def drag(self, start: tuple[float, float], end: tuple[float, float], stops: int = 4) -> Steps:
        """Hold the left button from one place to another, with some stops between."""
        yield from self.move(*start)
        self.window.event_simulate("LEFTMOUSE", "PRESS", x=self.place[0], y=self.place[1])
        yield
        for stop in range(1, stops + 1):
            yield from self.move(*(a + (b - a) * stop / stops for a, b in zip(start, end, strict=True)))
        self.window.event_simulate("LEFTMOUSE", "RELEASE", x=self.place[0], y=self.place[1])
        yield

    def open_sidebar(self, category: str) -> Steps:
        """Show the 3D viewport's sidebar with the tab of that name in front."""
        self.area().spaces.active.show_region_ui = True
        yield  # the tabs exist only once the region was drawn
        self.region("UI").active_panel_category = category
        self.area().tag_redraw()
        yield

    @contextlib.contextmanager
    def panel_alone(self, name: str) -> Iterator[str]:
        """The tab that has a sub-panel, open, to itself in a block."""
        original = getattr(bpy.types, name)
        drawing = {key: value for key, value in vars(original).items() if key in PANEL_PARTS}
        alone = {"bl_idname": f"{name}_alone", "bl_category": "Look", "bl_parent_id": "", "bl_options": set()}
        shown = type(f"{name}_alone", original.__bases__, drawing | alone)
        bpy.utils.register_class(shown)
        try:
            yield alone["bl_category"]
        finally:
            bpy.utils.unregister_class(shown)

    def find_button(self, command: str, part: float = PLACE_IN_ROW) -> Place:
        """Where in the sidebar the button is whose operator call begins with `command`; `part`: of the row's width."""
        return (yield from self._find(command, str.startswith, bpy.ops.ui.copy_python_command_button, part))

    def buttons(self) -> Generator[int | None, None, dict[str, float]]:
        """The operator calls of all buttons in the sidebar, each with the part of the row's width where it is."""
        found: dict[str, float] = {}
        copy = bpy.ops.ui.copy_python_command_button
        for page in ("PAGE_UP", "PAGE_DOWN"):
            yield from self.scroll("UI", page)
            for part in (PLACE_IN_ROW, ICONS_IN_ROW, LEFT_IN_ROW):
                for y in self._rows():
                    command = yield from self._copied(y, copy, part)
                    if command and command not in found:
                        found[command], self.found[command] = part, y
        return found

    def find_property(self, path: str) -> Place:
        """Where in the sidebar the property is whose full data path ends with `path`."""
        copy = partial(bpy.ops.ui.copy_data_path_button, full_path=True)
        return (yield from self._find(path, str.endswith, copy))

    def _find(
        self, name: str, is_it: Callable[[str, str], bool], copy: Callable[[], object], part: float = PLACE_IN_ROW
    ) -> Place:
        """Look as a person can: hover from row to row, and let Blender copy what the thing under the mouse is.

        What was found before is looked for where it was, then around; what is new, from the top down. What is not there as the
        sidebar stands may be further down, or further up.
        """
        seen: set[str] = set()
        for page in (None, "PAGE_DOWN", "PAGE_UP"):
            if page is not None:
                yield from self.scroll("UI", page)
            known = self.found.get(name)
            rows = self._rows() if known is None else sorted([known, *self._rows()], key=lambda y: abs(y - known))
            for y in rows:
                copied = yield from self._copied(y, copy, part)
                if is_it(copied, name):
                    self.found[name] = y
                    return self.place
                seen.add(copied)
        raise AssertionError(f"not in the sidebar; what is there: {sorted(seen)}")

    def _rows(self) -> range:
        region = self.region("UI")
        return range(region.y + region.height - ROW_STEP, region.y, -ROW_STEP)

    def _copied(self, y: int, copy: Callable[[], object], part: float) -> Generator[int | None, None, str]:
        """What Blender copies of the thing in a row of the sidebar."""
        region, manager = self.region("UI"), bpy.context.window_manager
        manager.clipboard = ""
        self.place = (region.x + int(part * region.width), y)
        self.window.event_simulate("MOUSEMOVE", "NOTHING", x=self.place[0], y=y)
        yield CALLS_TO_HOVER
        with (
            bpy.context.temp_override(window=self.window, area=self.area(), region=region),
            contextlib.suppress(RuntimeError),  # nothing to copy here
        ):
            copy()
        return manager.clipboard

    def scroll(self, region_kind: str, page: str) -> Steps:
        """Press PAGE_UP or PAGE_DOWN over a region of the 3D viewport until it goes no further."""
        yield from self.hover(region_kind)
        at_end = 0
        for _ in range(MOST_PAGES):
            top = self.region(region_kind).view2d.region_to_view(0, 0)
            yield from self.press(page)
            at_end = at_end + 1 if self.region(region_kind).view2d.region_to_view(0, 0) == top else 0
            if at_end == PAGES_AT_END:
                return

    def told(self) -> Generator[int | None, None, list[str]]:
        """What Blender has reported so far, as its Info editor lists it, which stands in for the timeline meanwhile."""
        area = self.area("DOPESHEET_EDITOR")
        kind, area.ui_type = area.ui_type, "INFO"
        yield
        with bpy.context.temp_override(window=self.window, area=area, region=self.region("WINDOW", "INFO")):
            bpy.ops.info.select_all(action="SELECT")
            bpy.ops.info.report_copy()
        area.ui_type = kind
        yield
        return bpy.context.window_manager.clipboard.splitlines()

    def picture(self, name: str) -> Steps:
        """Take the window's picture once two looks at it are the same, as ``name.png``."""
        yield from self.look(name)

    def look(self, name: str) -> Generator[int | None, None, Picture | None]:
        """The picture of the window, to look at what it shows; `None` where no pictures are taken."""
        yield
        shown = seen_on_screen()
        if shown is None:
            return None
        for _ in range(STEPS_PER_PICTURE):
            before = shown
            yield
            shown = seen_on_screen()
            if np.array_equal(before, shown):
                break
        save_png(self.pictures / f"{name}.png", shown)
        return Picture(shown, (self.window.x, self.window.y))


def install_zip() -> None:
    """Install and enable the zip named after ``--``."""
    archive = sys.argv[sys.argv.index("--") + 1]
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)


def play(scenario: Callable[[User], Steps], *, is_documented: bool = False) -> None:
    """Run the scenario step by step once the window stands; the folder for pictures is the last argument.

    Only what is documented looks as it does for everybody.
    """
    view = bpy.context.preferences.view
    view.show_splash, view.smooth_view = False, 0
    if not is_documented:
        draw_little()
    steps = _steps(scenario)
    waiting = 0

    def call() -> float:
        nonlocal waiting
        if waiting:
            waiting -= 1
            return SECONDS_BETWEEN_CALLS
        try:
            waiting = next(steps) or CALLS_BETWEEN_STEPS
        except StopIteration:
            print("every step was played")
            sys.exit(0)
        except BaseException:  # noqa: BLE001 - a timer swallows what it raises, and Blender would wait for ever
            traceback.print_exc()
            sys.exit(1)
        return SECONDS_BETWEEN_CALLS

    bpy.app.timers.register(call, persistent=True)


def draw_little() -> None:
    """Leave out what no scenario looks at: without a GPU, two thirds of the time go into grid, outlines and smooth edges."""
    system = bpy.context.preferences.system
    system.viewport_aa, system.use_overlay_smooth_wire = "OFF", False
    for area in bpy.context.window_manager.windows[0].screen.areas:
        if area.type == "VIEW_3D":
            space = area.spaces.active
            space.shading.show_object_outline = space.overlay.show_outline_selected = False
            for name in ("show_floor", "show_axis_x", "show_axis_y", "show_ortho_grid"):
                setattr(space.overlay, name, False)
        elif area.type in {"OUTLINER", "PROPERTIES"}:
            area.type = "TEXT_EDITOR"


def _steps(scenario: Callable[[User], Steps]) -> Steps:
    yield from _window_stands()
    yield from scenario(User(Path(sys.argv[-1])))


def _window_stands() -> Steps:
    drawn: list[None] = []
    handle = bpy.types.SpaceView3D.draw_handler_add(drawn.append, (None,), "WINDOW", "POST_PIXEL")
    calm = 0
    while calm < CALM_CALLS_BEFORE_START:
        before = len(drawn)
        yield 1
        calm = calm + 1 if drawn and len(drawn) == before else 0
    bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
