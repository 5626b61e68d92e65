"""Notes that the page of messages adds to messages; inserted values in messages are written as "…"."""

HEADINGS = {
    "SelectionError": ("Which bones are meant", "The selection does not identify a limb. Nothing was changed."),
    "ChainError": ("The bones of the chain", "These bones do not form a usable chain."),
    "ObjectError": ("Armature, target, pole", "An object is missing or is not what it should be."),
    "DependencyError": ("Chains that follow themselves", "A target must not depend on the chain that follows it."),
    "SettingError": ("Settings", "A number or a choice has no meaning. Ranges are in [Options](options.md)."),
    "OverlapError": ("Chains that share bones", "Two chains would write the same keys. Nothing was changed."),
    "RangeError": ("Frames", "The frame range cannot be determined."),
    "WriteError": (
        "Where keys cannot be written",
        "Found before anything is written. Keys there would be lost or have no visible effect.",
    ),
    "Poll": ("Greyed-out buttons", "The tooltip of a button says why it cannot be pressed."),
    "UsageError": ("Command line: how it was called", "Exit code 2; nothing was opened or written."),
    "AgainError": ("Command line: try again", "Exit code 6. Nothing was saved; the same command may succeed later."),
    "FileError": ("Command line: files", "Exit code 1. A shot is either the old file or the whole new one, never half of one."),
    "StoppedError": ("Command line: stopped", "After Ctrl-C or a signal."),
}

NOTES = {
    'Bone "…" has no parent or child bone. Select the upper and the lower bone of a limb.': (
        "Imported rigs sometimes have loose bones that are not parented. Parent them in Edit Mode first."
    ),
    'Bone "…" is not a descendant of "…". Choose an upper bone and a lower bone of the same limb.': (
        "Any number of bones may lie between the two (twist bones); they ride along. But the lower one has to be a descendant."
    ),
    'Bone "…" between the joints does not inherit scale, so the chain cannot stretch evenly. '
    "Set its Inherit Scale to Full, or choose another reach.": (
        "Only the reach Stretch needs it. Inherit Scale is in the bone's properties, under Relations."
    ),
    'Armature "…" shows its rest position. Switch it to Pose Position in its data properties.': (
        "In rest position Blender evaluates no pose, so nothing that is baked would be visible or could be measured."
    ),
    '… "…" depends on bone "…" of the chain that should follow it. Choose an object that does not move with the chain.': (
        "Parents, constraints and drivers count. An IK control of the same limb often depends on it through another bone."
    ),
    "Channel … is driven, so keys would have no effect. Remove the driver first.": (
        "Rigs often drive their FK bones while IK is on. Bake to those meant for FK, such as Rigify's `thigh_fk.L`."
    ),
    '… "…" is in NLA tweak mode. Leave tweak mode (Tab in the NLA editor) first.': (
        "In tweak mode keys live in the strip's own time."
    ),
    '… "…" is linked from another file. Make it local or override it first.': (
        "Bakes and stored chains work on a library override, but chains cannot be removed or reordered there. If its action "
        "is linked too, choose New Action as the destination."
    ),
    "A batch needs the installed extension, because it starts more Blenders. Install the zip first.": (
        "Run from the source tree, `bake` and `report` work, `batch` does not."
    ),
}
