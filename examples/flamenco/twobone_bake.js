// SPDX-License-Identifier: GPL-3.0-or-later
//
// Flamenco job type: bake two-bone IK in many shots, one task per shot.
// Put this file into the folder "scripts" beside the Flamenco Manager; see README.md.

const OF_CHAINS = ["bake", "target", "clear", "switch", "align"];
const STRICT = ["bake", "plant", "fit-root"];
const USES = [...OF_CHAINS, "convert", "limbs", "contacts", "plant", "fit-root"];

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
            key: "use", type: "string", choices: USES, required: false, default: "bake",
            description: "What to do with each shot: the command of that name",
        },
        {
            key: "strict", type: "bool", required: false, default: false,
            description: "Shots with frames out of reach fail and are not saved. For bake, plant and fit-root",
        },
        {
            key: "scripts", type: "bool", required: false, default: false,
            description: "Run the scripts in the shots, which drivers in Python need. Only for shots from people you trust",
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
        const name = path.stem(path.basename(shot.replace(/\\/g, "/")));
        // Some workers' systems take small letters and capitals for the same.
        const key = name.toLowerCase();
        if (taken.has(key)) {
            throw new Error(`"${taken.get(key)}" and "${shot}" would be saved as one file. Use two jobs.`);
        }
        taken.set(key, shot);
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
    const use = settings.use || "bake";
    const task = author.Task(`${use}-${name}`, "blender");
    task.addCommand(author.Command("blender-render", {
        exe: "{blender}",
        // Not {blenderArgs}: that allows scripts, by default.
        exeArgs: settings.scripts ? "-b -y" : "-b -Y",
        argsBefore: [],
        blendfile: shot,
        args: ["--command", "twobone", use].concat(flags(use, settings), [
            "--save", path.join(settings.output_folder, `${name}.blend`),
            "--report", path.join(settings.output_folder, `${name}.json`),
        ]),
    }));
    return task;
}

function flags(use, settings) {
    const stored = OF_CHAINS.includes(use) ? ["--stored"] : [];
    const found = settings.job_file ? ["--job", settings.job_file] : stored;
    return settings.strict && STRICT.includes(use) ? found.concat("--strict") : found;
}
