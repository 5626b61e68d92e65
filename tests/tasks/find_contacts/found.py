"""Contacts as the operator finds them."""

import json

import bpy
import numpy as np


def find(**settings):
    assert bpy.ops.twobone.find_contacts(**settings) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def states_in(report, number, frames):
    states = np.zeros(len(frames), int)
    for first, last, point in report["chains"][number]["contacts"]:
        states[(frames >= first) & (frames <= last)] = ["NONE", "HEEL", "BALL", "BOTH"].index(point)
    return states


def f1(found, true):
    both = np.count_nonzero(found & true)
    return 2 * both / (np.count_nonzero(found) + np.count_nonzero(true))


def frames_of(feet):
    return np.arange(1, feet.points.shape[-2] + 1)
