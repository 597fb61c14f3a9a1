import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/**
 * Runs a program to its end. Its output is collected, or shown as it comes with `show`.
 * With `niceness` above 0 it gets less of the processors than others. Answers
 * `{ succeeded, output }`; a program that cannot be started has not succeeded.
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

/** Runs npm: the one that started this process when there is one. */
export function runNpm(parameters, options) {
  const npm = process.env.npm_execpath;
  if (npm !== undefined && basename(npm) === 'npm-cli.js') {
    return runProgram(process.execPath, [npm, ...parameters], options);
  }
  return runProgram('npm', parameters, { ...options, shell: process.platform === 'win32' });
}

/** How long something took, for people: `0.4 s`. */
export function secondsSince(startedAtMs) {
  return `${((Date.now() - startedAtMs) / 1000).toFixed(1)} s`;
}
