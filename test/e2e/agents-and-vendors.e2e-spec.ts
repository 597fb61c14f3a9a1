import { describe, expect, it } from '@jest/globals';
import { startFleet } from '../contract/fleet-of-suite.js';
import { FLEET_NAMES, type VendorFleet } from '../contract/vendor-fleet.js';
import { readAnswer } from '../support/dialect-answers.js';
import { MESSAGES, RESPONSES } from '../support/paths.js';

const EPHEMERAL = { cache_control: { type: 'ephemeral' } };
const text = (words: string): object => ({ type: 'text', text: words });
const schema = { type: 'object', properties: { command: { type: 'string' } } };

/** A request of Claude Code, with shorter texts. */
const CLAUDE_CODE = {
  path: MESSAGES,
  headers: {
    'anthropic-version': '2023-06-01',
    'anthropic-beta':
      'claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,' +
      'context-management-2025-06-27,prompt-caching-scope-2026-01-05,effort-2025-11-24',
    'x-app': 'cli',
  },
  body: {
    system: [text('You are an agent.'), { ...text('Be brief.'), ...EPHEMERAL }],
    messages: [
      { role: 'user', content: [text('Context.'), { ...text('Hi'), ...EPHEMERAL }] },
      { role: 'system', content: 'Today is Monday.' },
    ],
    tools: [{ name: 'Bash', description: 'Runs a command.', input_schema: schema }],
    metadata: { user_id: JSON.stringify({ device_id: 'd'.repeat(64), session_id: 's' }) },
    max_tokens: 32_000,
    thinking: { type: 'adaptive' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'high' },
  },
};

const exec = { type: 'function', name: 'exec_command', parameters: schema, strict: false };

/** A request of Codex. */
const CODEX = {
  path: RESPONSES,
  headers: { originator: 'codex_exec' },
  body: {
    instructions: 'You are an agent.',
    input: ['developer', 'user'].map((role) => ({
      type: 'message',
      role,
      content: [{ type: 'input_text', text: 'Hi' }],
    })),
    tools: [
      exec,
      { type: 'namespace', name: 'agents', description: 'Agents.', tools: [exec] },
      { type: 'custom', name: 'apply_patch', description: 'Patches.', format: { type: 'text' } },
      { type: 'web_search', external_web_access: false },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'key',
    client_metadata: { session_id: 's' },
  },
};

describe('coding agents at every vendor', () => {
  let fleet: VendorFleet;

  startFleet((started) => {
    fleet = started;
  });

  it.each(FLEET_NAMES.flatMap((vendor) => [false, true].map((stream) => ({ vendor, stream }))))(
    'get an answer from $vendor (stream: $stream)',
    async ({ vendor, stream }) => {
      const { gateway } = fleet;
      const member = fleet.member(vendor);
      member.answer({ text: 'Hello there', finish: 'stop', usage: { input: 3, output: 2 } });
      for (const { path, headers, body } of [CLAUDE_CODE, CODEX]) {
        const request = { ...body, model: member.model, stream };
        const response = await gateway.post(path, request, headers);
        expect(await readAnswer(path, response)).toMatchObject({ text: 'Hello there' });
      }
    },
  );
});
