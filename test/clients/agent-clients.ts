import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND, COMMAND_OUTPUT } from './scripted-model.js';
import {
  endOf,
  mustRun,
  runProgram,
  type CallResult,
  type Client,
  type Finished,
  type Target,
} from './run-client.js';

/** Prompts for a coding agent and what the answer must show. */
const TASKS = {
  text: 'Say what the weather is.',
  'a tool call': `Run the command ${COMMAND}.`,
};

interface Agent {
  readonly name: string;
  /** The package, and the program in it. */
  readonly packageName: string;
  readonly program: string;
  /** The package's install script; some versions of npm leave it to the user. */
  readonly lastStep?: string;
  /** The environment variables that a user sets. */
  environment(target: Target, model: string): Record<string, string>;
  /** Writes the settings that a user needs before the first run. */
  configure?(home: string, target: Target, model: string): Promise<void>;
  parameters(task: string): string[];
}

const claudeCode: Agent = {
  name: 'Claude Code',
  packageName: '@anthropic-ai/claude-code',
  program: 'claude',
  lastStep: 'install.cjs',
  environment: ({ url, apiKey }, model) => ({
    ANTHROPIC_BASE_URL: `${url}/v1/anthropic`,
    ANTHROPIC_AUTH_TOKEN: apiKey,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  }),
  parameters: (task) => [
    ...['-p', task, '--allowedTools', 'Bash'],
    ...['--output-format', 'stream-json', '--verbose'],
  ],
};

const codex: Agent = {
  name: 'Codex',
  packageName: '@openai/codex',
  program: 'codex',
  environment: ({ apiKey }) => ({ GATEWAY_API_KEY: apiKey }),
  async configure(home, { url }, model) {
    await mkdir(join(home, '.codex'));
    await writeFile(
      join(home, '.codex/config.toml'),
      `model = "${model}"
model_provider = "gateway"

[model_providers.gateway]
name = "Model Gateway"
base_url = "${url}/v1"
env_key = "GATEWAY_API_KEY"
wire_api = "responses"
`,
    );
  },
  parameters: (task) => ['exec', '--skip-git-repo-check', '--json', task],
};

/** A coding agent with default settings and its own home folder. */
const toClient = (agent: Agent): Client => ({
  name: agent.name,
  needs: ['npm'],
  async install(folder) {
    const prefix = join(folder, agent.program);
    if (existsSync(join(prefix, 'node_modules/.bin', agent.program))) return;
    await mkdir(prefix, { recursive: true });
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
    // Otherwise npm started by npm installs into the outer project.
    const env = { npm_config_local_prefix: prefix, npm_config_prefix: prefix };
    await mustRun('npm', ['install', '--prefix', prefix, ...quiet, agent.packageName], {
      cwd: prefix,
      env,
    });
    if (agent.lastStep === undefined) return;
    const script = join(prefix, 'node_modules', agent.packageName, agent.lastStep);
    await mustRun(process.execPath, [script], { cwd: prefix });
  },
  async run(folder, target) {
    const results: CallResult[] = [];
    for (const model of target.models) {
      for (const [call, task] of Object.entries(TASKS)) {
        const finished = await runAgent(agent, folder, target, model, task);
        results.push({ call, model, failure: failureOf(finished, target, call) });
      }
    }
    return results;
  },
});

async function runAgent(
  agent: Agent,
  folder: string,
  target: Target,
  model: string,
  task: string,
): Promise<Finished> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-agent-'));
  try {
    const work = join(home, 'work');
    await mkdir(work);
    await agent.configure?.(home, target, model);
    return await runProgram(
      join(folder, agent.program, 'node_modules/.bin', agent.program),
      agent.parameters(task),
      { cwd: work, env: { HOME: home, ...agent.environment(target, model) }, limitMs: 90_000 },
    );
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

function failureOf(
  { code, output, errors }: Finished,
  { text }: Target,
  call: string,
): string | null {
  const printed = `${output}\n${errors}`;
  if (code !== 0) return `It exited with ${code}: ${endOf(printed)}`;
  if (!output.includes(text)) return `It did not print the model's answer: ${endOf(printed)}`;
  if (call !== 'text' && !output.includes(COMMAND_OUTPUT)) {
    return `It did not run the command: ${endOf(printed)}`;
  }
  return null;
}

/** Coding agents that most people would try first. */
export const AGENT_CLIENTS: readonly Client[] = [claudeCode, codex].map(toClient);
