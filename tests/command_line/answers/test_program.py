"""The command in Blender's own program, from the installed zip: what is only true there."""

import json
import shutil

import pytest

from tests.blender_program import find_blender, run
from tests.command_line.shots import LEG, make_shot, save, store_chain

EXTENSION = "bl_ext.user_default.twobone"


@pytest.fixture
def folder(tmp_path, registered_addon):
    rig, target = make_shot()
    store_chain(rig, target)
    save(tmp_path / "shot.blend")
    return tmp_path


def blender(user_folder, *words):
    return run([find_blender(), *map(str, words)], user_folder)


def test_every_sub_command_on_a_shot_that_blender_was_started_with(user_folder, folder):
    """There is no window in context then."""
    baked, report = folder / "baked.blend", folder / "report.json"
    command = ["--command", "twobone"]
    done = blender(user_folder, folder / "shot.blend", *command, "bake", "--stored", "--save", baked, "--report", report)
    assert done.returncode == 0, done.stdout
    told = json.loads(report.read_text())
    assert (told["frames"], told["reached"]) == (24, 24)
    done = blender(user_folder, baked, *command, "report", "--stored", "--max-error", "1e-5", "--report", report)
    assert done.returncode == 0, done.stdout
    assert json.loads(report.read_text())["max_error"] == pytest.approx(told["max_error"], abs=1e-6)
    assert "leg" in blender(user_folder, baked, *command, "chains").stdout
    done = blender(user_folder, baked, *command, "clear", "--stored", "--save")
    assert "192 baked keys removed" in done.stdout, done.stdout
    done = blender(user_folder, baked, *command, "report", "--stored", "--strict", "--max-error", "1e-5")
    assert done.returncode == 3, done.stdout


def test_factory_settings_with_the_addon_named_are_enough(user_folder, folder):
    words = ["--factory-startup", "--addons", EXTENSION, "--command", "twobone", "bake", *LEG, "--dry-run"]
    done = blender(user_folder, folder / "shot.blend", *words)
    assert done.returncode == 0, done.stdout
    assert "24 of 24 in reach" in done.stdout


@pytest.mark.parametrize(
    "shot, flags, code", [("none.blend", LEG, 1), ("shot.blend", ["--step", "0"], 2), ("shot.blend", ["--help"], 0)]
)
def test_exit_codes_reach_the_shell(user_folder, folder, shot, flags, code):
    assert blender(user_folder, folder / shot, "--command", "twobone", "bake", *flags).returncode == code


def test_the_same_by_a_script_and_the_operator(user_folder, folder):
    script = folder / "bake.py"
    script.write_text(
        "import bpy, pathlib\n"
        'bpy.ops.twobone.bake(armature="Rig", upper="upper", lower="lower", target="Target", plane="XZ")\n'
        f"pathlib.Path({str(folder / 'operator.json')!r}).write_text(bpy.context.window_manager.twobone_report)\n"
    )
    shot = folder / "shot.blend"
    done = blender(user_folder, "--background", shot, "--python-exit-code", "1", "--python", script)
    assert done.returncode == 0, done.stdout
    blender(user_folder, shot, "--command", "twobone", "bake", *LEG, "--report", folder / "command.json")
    told = [json.loads((folder / name).read_text())["chains"][0] for name in ("operator.json", "command.json")]
    for report in told:
        del report["seconds"]
    assert told[0] == told[1]


def test_a_batch_starts_this_very_program_for_each_shot(user_folder, folder):
    for number in range(3):
        shutil.copy(folder / "shot.blend", folder / f"s{number}.blend")
    (folder / "s1.blend").write_bytes(b"nonsense")
    job = folder / "job.toml"
    job.write_text('shots = ["s*.blend"]\nexclude = 1\n')
    assert blender(user_folder, "--command", "twobone", "batch", job).returncode == 2
    job.write_text('shots = ["s[0-9].blend"]\noutput = "baked/{shot}.blend"\nstored = true\n')
    done = blender(user_folder, "--command", "twobone", "batch", job)
    assert done.returncode == 1, done.stdout
    assert sorted(path.name for path in (folder / "baked").iterdir()) == ["s0.blend", "s2.blend"]
