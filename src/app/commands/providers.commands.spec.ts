import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  reply,
  startScriptedServer,
  type ScriptedServer,
} from '../../../test/contract/scripted-server.js';
import { loadSettings } from '../load-settings.js';
import { runCommand } from './run-command.js';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('the command “providers check”', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScriptedServer((call, response) => {
      const isKnown = call.headers.authorization === 'Bearer right-key';
      const body = isKnown ? { data: [{ id: 'a' }, { id: 'b' }] } : { error: { message: 'no' } };
      const bytes = Buffer.from(JSON.stringify(body));
      return reply(isKnown ? 200 : 401, JSON_TYPE, bytes)(call, response);
    });
  });
  afterAll(() => server.close());

  async function check(environment: Record<string, string>) {
    const lines: string[] = [];
    const code = await runCommand(['providers', 'check'], {
      loadConfig: () => loadSettings({ GATEWAY_SANDBOX: 'false', ...environment }),
      print: (line) => lines.push(line),
      printError: (line) => lines.push(line),
    });
    return { code, lines };
  }

  it('says in a line each which keys work, what they see, and which are refused', async () => {
    const { code, lines } = await check({
      MISTRAL_API_KEY: 'right-key',
      MISTRAL_BASE_URL: `${server.origin}/v1`,
      GROQ_API_KEY: 'wrong-key',
      GROQ_BASE_URL: `${server.origin}/v1`,
    });
    expect(code).toBe(1);
    expect(lines).toEqual([
      expect.stringMatching(/^groq {5}FAILED {2}Groq refuses the key \(401\)\./),
      'mistral  ok      Mistral AI takes the key. It lists 2 models.',
    ]);
    expect(lines.join()).not.toContain('wrong-key');
    expect(server.calls.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  it('has nothing to say where no provider is configured', async () => {
    expect(await check({})).toEqual({ code: 0, lines: [] });
  });
});
