// SPDX-License-Identifier: GPL-3.0-or-later
//
// Flamenco job type: bake two-bone IK in many shots, one task per shot.
// Put this file into the folder "scripts" beside the Flamenco Manager; see README.md.

const JOB_TYPE = {
    label: "Two-Bone IK Bake",
    description: "Bake two-bone IK in many shots, one task per shot",
    settings: [
        {
            key: "shots", type: "string", required: true,
            description: "Shots to bake, as paths valid on every worker, separated by semicolons",
            eval: "bpy.data.filepath", evalInfo: { showLinkButton: true, description: "The open file" },
        },
        {
            key: "job_file", type: "string", subtype: "file_path", required: false,
            description: "TOML or JSON file with the chains and their settings. Leave empty to use the chains stored in each shot",
        },
        {
            key: "output_folder", type: "string", subtype: "dir_path", required: true,
            description: "Existing folder for the baked shots and their reports",
        },
        {
            key: "strict", type: "bool", required: false, default: false,
            description: "Shots with frames out of reach fail and are not saved",
        },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const shots = listed(settings.shots);
    if (shots.length === 0) {
        throw new Error("No shots are named. List at least one .blend file.");
    }
    refuseFolderOfShots(shots, settings.output_folder);
    const taken = new Map();
    for (const shot of shots) {
        const name = path.stem(path.basename(shot));
        if (taken.has(name)) {
            throw new Error(`"${taken.get(name)}" and "${shot}" would be saved as one file. Use two jobs.`);
        }
        taken.set(name, shot);
        job.addTask(shotTask(shot, name, settings));
    }
}

// Shots are saved under their own names, so a folder that holds some would have them saved over.
function refuseFolderOfShots(shots, folder) {
    const output = plain(folder);
    for (const shot of shots) {
        if (plain(path.dirname(shot.replace(/\\/g, "/"))) === output) {
            throw new Error(`The output folder holds "${shot}", which would be saved over. Choose another folder.`);
        }
    }
}

// One spelling of a folder: no "." and "..", one kind of slash, and small letters where Windows names the drive.
function plain(folder) {
    const kept = [];
    for (const part of folder.trim().replace(/\\/g, "/").split("/")) {
        if (part === ".." && kept.length > 1) {
            kept.pop();
        } else if (part !== "." && (part !== "" || kept.length === 0)) {
            kept.push(part);
        }
    }
    const spelled = kept.join("/");
    return /^[a-z]:/i.test(spelled) || folder.trim().startsWith("\\\\") ? spelled.toLowerCase() : spelled;
}

function listed(text) {
    return text.split(/[;\n]/).map((shot) => shot.trim()).filter((shot) => shot.length > 0);
}

function shotTask(shot, name, settings) {
    const task = author.Task(`bake-${name}`, "blender");
    task.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: [],
        blendfile: shot,
        args: ["--command", "twobone", "bake"].concat(chainFlags(settings), [
            "--save", path.join(settings.output_folder, `${name}.blend`),
            "--report", path.join(settings.output_folder, `${name}.json`),
        ]),
    }));
    return task;
}

function chainFlags(settings) {
    const chains = settings.job_file ? ["--job", settings.job_file] : ["--stored"];
    return settings.strict ? chains.concat("--strict") : chains;
}
