"""Validators of the files that the command reads and writes: made once each, for checking a schema takes longest."""

import functools

import jsonschema

from twobone_addon.command_line.schemas import schema


@functools.cache
def validator(name):
    return jsonschema.Draft202012Validator(schema(name))
