"""Panels, menus and modal operators without a window: their code runs, what they draw is written down and looked up."""

import functools
from types import SimpleNamespace

import bpy

ICONS = {item.identifier for item in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items}


class Acting:
    """Stands in for an instance of a class that only Blender makes; what it is given are its attributes."""

    def __init__(self, cls, **attributes):
        self.__dict__.update(attributes, played=cls)

    def __getattr__(self, name):
        found = getattr(self.played, name)
        return functools.partial(found, self) if callable(found) and not isinstance(found, type) else found


class Layout:
    """Takes what `UILayout` takes, refuses what Blender would complain of, and remembers it in `calls`."""

    def __init__(self, calls=None):
        self.__dict__["calls"] = [] if calls is None else calls

    def __setattr__(self, name, value):
        assert name in bpy.types.UILayout.bl_rna.properties, name

    def __getattr__(self, name):
        function = bpy.types.UILayout.bl_rna.functions[name]
        known = {parameter.identifier for parameter in function.parameters}

        def call(*given, **named):
            assert set(named) <= known, (name, named)
            assert named.get("icon", "NONE") in ICONS, named
            self.calls.append((name, given, named))
            return self._answer(name, given)

        return call

    def _answer(self, name, given):
        if name in {"row", "column", "box", "split", "column_flow"}:
            return Layout(self.calls)
        if name in {"prop", "prop_search"}:
            assert given[1] in given[0].bl_rna.properties, given
        if name == "operator":
            button = Button(given[0])
            self.calls.append(("pressed", (button,), {}))
            return button
        if name == "menu":
            assert hasattr(bpy.types, given[0]), given
        return None

    def texts(self):
        """The labels' texts."""
        return [named["text"] for name, _, named in self.calls if name == "label" and named.get("text")]

    def buttons(self):
        """What the operators are called."""
        return [given[0] for name, given, _ in self.calls if name == "operator"]

    def values(self, idname, number=0):
        """What a button of an operator calls it with: the first one, or that of a number."""
        pressed = (given[0] for name, given, _ in self.calls if name == "pressed")
        return [button.values for button in pressed if button.idname == idname][number]

    def properties(self):
        """Names of the properties shown."""
        return [given[1] for name, given, _ in self.calls if name.startswith("prop")]


class Button:
    """Properties of an operator's button: only those that the operator has can be set."""

    def __init__(self, idname):
        module, name = idname.split(".")
        self.__dict__["known"] = getattr(getattr(bpy.ops, module), name).get_rna_type().properties
        self.__dict__.update(idname=idname, values={})

    def __setattr__(self, name, value):
        assert name in self.known, name
        self.values[name] = value


def drawn(cls, context=None, method="draw"):
    """What a panel or a menu draws now."""
    layout = Layout()
    getattr(cls, method)(Acting(cls, layout=layout), context or sidebar())
    return layout


def sidebar(**changes):
    """The context of a panel in a sidebar 280 pixels wide."""
    context = bpy.context
    given = {
        "scene": context.scene, "view_layer": context.view_layer, "mode": context.mode, "area": None, "window": None,
        "preferences": SimpleNamespace(system=SimpleNamespace(ui_scale=1.0), edit=context.preferences.edit),
        "workspace": Workspace(),
        "region": SimpleNamespace(width=280, height=600),
        "blend_data": context.blend_data, "window_manager": context.window_manager,
        "active_object": context.view_layer.objects.active, "object": context.view_layer.objects.active,
        "evaluated_depsgraph_get": context.evaluated_depsgraph_get,
    }  # fmt: skip
    return SimpleNamespace(**{**given, **changes})


class Windows:
    """Stands in for the window manager of a window: who runs on in it, and the timers that tick for them."""

    def __init__(self):
        self.running, self.timers = [], []
        self.redrawn = []
        viewport = SimpleNamespace(type="VIEW_3D", tag_redraw=lambda: self.redrawn.append("VIEW_3D"))
        self.windows = [SimpleNamespace(screen=SimpleNamespace(areas=[viewport]))]

    def modal_handler_add(self, operator):
        self.running.append(operator)

    def event_timer_add(self, seconds, **_window):
        self.timers.append(seconds)
        return seconds

    def event_timer_remove(self, timer):
        self.timers.remove(timer)


class Workspace:
    """Remembers what its status bar says."""

    def __init__(self):
        self.status = None

    def status_text_set(self, text):
        self.status = text


def event(kind, value="PRESS", **more):
    """What Blender hands to a modal operator."""
    return SimpleNamespace(type=kind, value=value, **more)
