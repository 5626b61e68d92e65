"""The panels of the sidebar, their menus and presets."""
