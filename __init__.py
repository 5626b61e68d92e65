"""Two-Bone IK: what Blender loads beside the manifest."""


def register() -> None:
    """Add everything to Blender. Imports wait until now, so that this file can be read where there is no Blender."""
    from .twobone_addon import registration

    registration.register()


def unregister() -> None:
    """Take everything away again."""
    from .twobone_addon import registration

    registration.unregister()
