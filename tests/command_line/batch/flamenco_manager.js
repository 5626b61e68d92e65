// As much of Flamenco's documented script interface as a job type may use, and nothing else.
// node flamenco_manager.js SCRIPT SETTINGS_JSON  ->  {"type": JOB_TYPE, "tasks": [...]} on standard output

"use strict";
const fs = require("fs");
const vm = require("vm");
const node_path = require("path").posix;

const SETTING_KEYS = new Set([
    "key", "type", "subtype", "choices", "propargs", "description", "label", "default", "eval", "evalInfo", "visible",
    "required", "editable",
]);
const SETTING_TYPES = new Set(["string", "int32", "float", "bool"]);

class Command {
    constructor(name, parameters) { this.name = name; this.parameters = parameters; }
}

class Task {
    constructor(name, type) { this.name = name; this.type = type; this.commands = []; this.dependencies = []; }
    addCommand(command) {
        if (!(command instanceof Command)) throw new Error("addCommand takes a command");
        this.commands.push(command);
    }
    addDependency(task) { this.dependencies.push(task.name); }
}

const tasks = [];
const world = {
    print: (...words) => console.error(...words),
    path: {
        basename: node_path.basename, dirname: node_path.dirname, join: node_path.join,
        stem: (name) => node_path.parse(name).name,
    },
    author: { Task: (name, type) => new Task(name, type), Command: (name, parameters) => new Command(name, parameters) },
};

const [script, settings] = process.argv.slice(2);
const source = `${fs.readFileSync(script, "utf8")}\n;({JOB_TYPE, compileJob});`;
const { JOB_TYPE, compileJob } = vm.runInNewContext(source, world);

for (const setting of JOB_TYPE.settings) {
    for (const key of Object.keys(setting)) {
        if (!SETTING_KEYS.has(key)) throw new Error(`a setting has no ${key}`);
    }
    if (!SETTING_TYPES.has(setting.type)) throw new Error(`no settings are of type ${setting.type}`);
}
compileJob({ settings: JSON.parse(settings), name: "test", addTask: (task) => tasks.push(task) });
console.log(JSON.stringify({ type: JOB_TYPE, tasks }));
