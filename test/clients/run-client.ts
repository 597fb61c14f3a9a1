import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The gateway that clients call, and its models. */
export interface Target {
  readonly url: string;
  readonly apiKey: string;
  /** One alias per vendor. */
  readonly models: readonly string[];
  /** The final text of every model. */
  readonly text: string;
}

/** The result of one call of a client. */
export interface CallResult {
  /** Name of the call, such as `chat, streamed`. */
  readonly call: string;
  /** The model, or `-` for a call that needs none. */
  readonly model: string;
  /** Null if the call succeeded. */
  readonly failure: string | null;
}

/** A third-party program, and how to install and run it. */
export interface Client {
  readonly name: string;
  /** Tools that must be on the `PATH`; the client is skipped without them. */
  readonly needs: readonly string[];
  /** Installs it below the folder, which is kept between runs. */
  install(folder: string): Promise<void>;
  run(folder: string, target: Target): Promise<CallResult[]>;
}

export interface Finished {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Returns the environment without variables that would point a client elsewhere. */
export function neutralEnvironment(more: Record<string, string> = {}): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^(ANTHROPIC|CLAUDE|CODEX|OPENAI|LITELLM|NODE_OPTIONS|JEST)/.test(name)
      ? []
      : [[name, value] as const],
  );
  return { ...Object.fromEntries(entries), ...more };
}

/** Runs a program to its end, or kills it with its children after a limit. */
export function runProgram(
  command: string,
  parameters: readonly string[],
  options: { cwd?: string; env?: Record<string, string>; limitMs?: number } = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, parameters, {
      cwd: options.cwd,
      env: neutralEnvironment(options.env),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    let errors = '';
    const limit = setTimeout(() => {
      errors += '\nIt exceeded the time limit and was stopped.';
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, options.limitMs ?? 300_000);
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.once('error', (error) => (errors += error.message));
    child.once('close', (code) => {
      clearTimeout(limit);
      resolve({ code, output, errors });
    });
  });
}

/** Runs a program that must succeed. @throws Error with the end of its output */
export async function mustRun(...call: Parameters<typeof runProgram>): Promise<string> {
  const { code, output, errors } = await runProgram(...call);
  if (code === 0) return output;
  throw new Error(`${call[0]} ${call[1].join(' ')} ended with ${code}:\n${endOf(output + errors)}`);
}

export function endOf(text: string): string {
  return text.trim().slice(-1_000);
}

/** Runs a program of this folder, which prints its results as lines of JSON. */
export async function runReporting(
  command: string,
  parameters: readonly string[],
  target: Target,
  options: Parameters<typeof runProgram>[2] = {},
): Promise<CallResult[]> {
  const { code, output, errors } = await runProgram(command, parameters, {
    ...options,
    env: {
      ...options.env,
      GATEWAY_URL: target.url,
      GATEWAY_API_KEY: target.apiKey,
      GATEWAY_MODELS: target.models.join(','),
      EXPECTED_TEXT: target.text,
    },
  });
  const results = output
    .split('\n')
    // A tool that starts the program may have put codes for the terminal before it.
    .map((line) => line.slice(line.indexOf('{"call"')))
    .filter((line) => line.startsWith('{"call"'))
    .map((line) => JSON.parse(line) as CallResult);
  if (code === 0 && results.length > 0) return results;
  return [...results, { call: 'the program', model: '-', failure: endOf(errors) }];
}

/** Returns the tools that are not on the `PATH`. */
export function findMissing(tools: readonly string[]): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return tools.filter((tool) => !folders.some((folder) => existsSync(join(folder, tool))));
}
