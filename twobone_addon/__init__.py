"""Two-Bone IK: bake analytic two-bone inverse kinematics to keyframes.

    import twobone_addon

    report = twobone_addon.bake(armature="rig", upper="thigh", lower="shin", target="Ankle")

Each task is a function with the name of its operator; it returns the report or raises `TwoBoneError`. They are made when they
are first used, so that Blender starts quickly. The packages in `core` need NumPy only, so they can be imported and tested
without Blender. `registration` lists the modules that are registered with Blender.
"""


def __getattr__(name: str) -> object:
    """Import the error or the version, or make the function of a task, when it is first used."""
    value: object
    if name == "TwoBoneError":
        from .errors import TwoBoneError

        value = TwoBoneError
    elif name == "__version__":
        from .version import addon_version

        value = addon_version()
    elif name.startswith("_") or name not in __dir__():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        from .calls import call_named

        value = call_named(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from .settings.tasks import tables_by_call

    return sorted({*globals(), "TwoBoneError", "__version__", *tables_by_call()})
