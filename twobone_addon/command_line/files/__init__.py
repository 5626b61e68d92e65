"""The command's own files: checks of its flags, and .blend files. What they open goes through the door, `twobone_addon.files`."""
