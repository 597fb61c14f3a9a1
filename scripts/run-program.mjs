import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { PROJECT_ROOT } from './project-root.mjs';

/**
 * Runs a program to completion and collects its output, or prints it with `show`. A `niceness` above 0
 * lowers its priority. Returns `{ succeeded, output }`; a program that cannot start has not succeeded.
 */
export function runProgram(
  program,
  parameters,
  { cwd, env, show = false, shell = false, niceness = 0 } = {},
) {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      cwd,
      env,
      shell,
      stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    });
    if (niceness > 0) yieldTo(child.pid, niceness);
    let output = '';
    const collect = (chunk) => (output += chunk);
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('error', (error) => resolve({ succeeded: false, output: `${error.message}\n` }));
    child.once('close', (code) => resolve({ succeeded: code === 0, output }));
  });
}

function yieldTo(pid, niceness) {
  try {
    setPriority(pid, niceness);
  } catch {
    // It could not be started, or has ended.
  }
}

/** Runs npm, the same one that started this process if any. */
export function runNpm(parameters, options) {
  const npm = process.env.npm_execpath;
  if (npm !== undefined && basename(npm) === 'npm-cli.js') {
    return runProgram(process.execPath, [npm, ...parameters], options);
  }
  return runProgram('npm', parameters, { ...options, shell: process.platform === 'win32' });
}

/**
 * Runs a package.json script like `npm run`, but without npm's quarter of a second. Supports scripts
 * that are a single program whose arguments contain no spaces.
 */
export function runScript(name, parameters, { env, ...options } = {}) {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'));
  const [program, ...words] = scripts[name].split(' ');
  const programs = join(PROJECT_ROOT, 'node_modules', '.bin');
  return runProgram(program, [...words, ...parameters], {
    cwd: PROJECT_ROOT,
    shell: process.platform === 'win32',
    env: { ...process.env, ...env, PATH: `${programs}${delimiter}${process.env.PATH ?? ''}` },
    ...options,
  });
}

/** Formats the time since a start: `0.4 s`. */
export function secondsSince(startedAtMs) {
  return `${((Date.now() - startedAtMs) / 1000).toFixed(1)} s`;
}
