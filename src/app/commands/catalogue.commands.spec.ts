import 'reflect-metadata';
import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject } from '../../platform/http/json-body.js';
import { loadSettings } from '../load-settings.js';
import { runCommand } from './run-command.js';

const TODAY = new Date().toISOString().slice(0, 10);

describe('gateway catalogue update and stale', () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
  const fileOf = (name: string, content: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  // The built-in xAI rows are unchanged; this row is the operator's.
  const own = fileOf('own.json', [
    { id: 'xai/ours', pricing: { prompt: '0.000002', completion: '0.000006' } },
  ]);
  const row = (input: number, output: number) => ({
    litellm_provider: 'xai',
    mode: 'chat',
    input_cost_per_token: input,
    output_cost_per_token: output,
  });
  const list = fileOf('list.json', { 'xai/ours': row(1e-6, 9e-5), 'xai/newer': row(1e-6, 2e-6) });

  afterAll(() => rmSync(folder, { recursive: true }));

  async function run(...words: string[]) {
    const lines: string[] = [];
    const errors: string[] = [];
    const code = await runCommand(['catalogue', ...words], {
      loadConfig: () => loadSettings({ GATEWAY_CATALOGUE: own }),
      print: (line) => lines.push(line),
      printError: (line) => errors.push(line),
    });
    return { code, lines, errors };
  }

  it('shows changed and held-back prices and writes nothing', async () => {
    const { code, lines, errors } = await run('update', list);
    expect(lines[1]).toMatch(/^xai\/ours +xai +prompt +0\.000002 +0\.000001 +×0\.5$/);
    expect(lines[2]).toMatch(
      /^xai\/ours +xai +completion +0\.000006 +0\.00009 +×15 +held back: it changes more than threefold$/,
    );
    expect(lines.join('\n')).toMatch(
      /Not in the list: .*xai\/grok-4\.7.*\.\n1 more models of these/s,
    );
    expect(errors).toEqual([expect.stringMatching(/^held back: 1; accept with --accept MODEL/)]);
    expect(code).toBe(2);
    expect(readdirSync(folder).sort()).toEqual(['list.json', 'own.json']);
  });

  it('writes a catalogue file in several rounds', async () => {
    const file = join(folder, 'new.json');
    const first = await run('update', list, '--write', file);
    expect(first.code).toBe(2);
    const rowsIn = (): unknown => {
      const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
      return isJsonObject(content) && content.models;
    };
    expect(rowsIn()).toEqual([{ id: 'xai/ours', pricing: { prompt: '0.000001' } }]);
    const accept = ['--accept', 'xai/ours:completion', '--add', 'xai/new*'];
    const second = await run('update', list, '--write', file, ...accept);
    expect(second).toMatchObject({ code: 0, errors: [] });
    expect(second.lines).toContain('New: xai/newer');
    const origin = { source: `${list}, format LiteLLM`.slice(0, 200), as_of: TODAY };
    expect(rowsIn()).toEqual([
      { id: 'xai/ours', pricing: { prompt: '0.000001', completion: '0.00009' }, ...origin },
      { id: 'xai/newer', pricing: { prompt: '0.000001', completion: '0.000002' }, ...origin },
    ]);
    const text = readFileSync(file, 'utf8');
    expect(await run('update', list, '--write', file)).toMatchObject({ code: 0, errors: [] });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('exits with 2 when changes were not written', async () => {
    const small = fileOf('small.json', { 'xai/ours': row(1e-6, 6e-6) });
    const { code, errors } = await run('update', small);
    expect({ code, errors }).toEqual({
      code: 2,
      errors: ['nothing was written; use --write FILE or --apply'],
    });
    const same = fileOf('same.json', { 'xai/ours': row(2e-6, 6e-6) });
    expect(await run('update', same)).toMatchObject({ code: 0, errors: [] });
  });

  it.each([
    [['no.json'], 1, /no\.json: the file cannot be read \(ENOENT\)/],
    [['http://127.0.0.1:1/list'], 1, /^http:.*: it cannot be fetched/],
    [['LIST', '--accept', 'xai/ours:promt'], 1, /^--accept xai\/ours:promt: no price/],
    [['LIST', '--write', 'x', '--apply'], 2, /^--write cannot be combined with --apply/],
    [['LIST', '--write', 'TEXT'], 1, /text\.json is not valid JSON$/],
    [['LIST', '--write', 'LIST'], 1, /list\.json is not a catalogue file/],
    [['LIST', '--write', '/no/such/folder/file'], 1, /cannot be written \(ENOENT\)$/],
    [[], 2, /^Usage: catalogue update <file\|url>/],
  ])('rejects %j', async (words, code, message) => {
    const text = fileOf('text.json', 'prices');
    const places: Record<string, string> = { LIST: list, TEXT: text };
    const before = readFileSync(list, 'utf8');
    const done = await run('update', ...words.map((word) => places[word] ?? word));
    expect(done.code).toBe(code);
    expect(done.errors.at(-1)).toMatch(message);
    expect(readFileSync(list, 'utf8')).toBe(before);
  });

  it('names models with unusable prices', async () => {
    const bad = fileOf('bad.json', { 'xai/ours': row(-1, 1), other: row(1, 1) });
    const { errors } = await run('update', bad);
    expect(errors).toEqual(['xai/ours: xai/ours input_cost_per_token is negative (-1)']);
  });

  it('lists rows that have not been confirmed', async () => {
    const { code, lines, errors } = await run('stale', '--days', '3650');
    expect(lines).toEqual([
      expect.stringMatching(/^MODEL +AS OF +SOURCE$/),
      expect.stringMatching(/^xai\/ours +never$/),
    ]);
    expect({ code, errors }).toEqual({
      code: 2,
      errors: ['1 rows have not been confirmed for 3650 days'],
    });
    expect((await run('stale', '--days', 'many')).errors[0]).toContain('--days must be an integer');
  });
});
