import { describe, expect, it } from '@jest/globals';
import {
  builtInMembers,
  fromFunctionArguments,
  newCallItem,
  readBuiltInCall,
  readBuiltInOutput,
  toFunctionArguments,
} from './call-items.js';
import { clientFunctions, functionName, isClientTool } from './client-tools.js';

const inner = { type: 'function', name: 'read', parameters: { type: 'object' }, strict: false };

describe('custom tools as functions', () => {
  it.each(['', 'ls -l', '{"input":"x"}', '"quoted"\n👋'])('round-trips %j', (input) => {
    expect(fromFunctionArguments(toFunctionArguments(input))).toBe(input);
  });

  it.each(['plain text', '{"other":1}', '[1]', ''])('reads %j as the text itself', (args) => {
    expect(fromFunctionArguments(args)).toBe(args);
  });
});

describe(isClientTool.name, () => {
  it.each([
    { type: 'function', name: 'f' },
    { type: 'custom', name: 'c' },
    { type: 'local_shell' },
    { type: 'shell' },
    { type: 'shell', environment: { type: 'local' } },
    { type: 'apply_patch' },
    { type: 'tool_search', execution: 'client' },
    { type: 'namespace', name: 'n', tools: [inner, { type: 'custom', name: 'c' }] },
  ])('returns true for %j', (tool) => {
    expect(isClientTool(tool)).toBe(true);
  });

  it.each([
    { type: 'web_search' },
    { type: 'code_interpreter' },
    { type: 'image_generation' },
    { type: 'shell', environment: { type: 'container_auto' } },
    { type: 'shell', environment: 'local' },
    { type: 'tool_search' },
    { type: 'tool_search', execution: 'server' },
    { type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] },
    {},
  ])('returns false for %j', (tool) => {
    expect(isClientTool(tool)).toBe(false);
  });
});

describe(clientFunctions.name, () => {
  const namesOf = (tools: unknown, input?: unknown): unknown[] =>
    clientFunctions(tools, input).map(({ definition, form }) => [definition.name, form]);

  it('converts each tool to a function and remembers the type of its calls', () => {
    const tools = [
      { type: 'function', name: 'f' },
      { type: 'custom', name: 'c' },
      { type: 'local_shell' },
      { type: 'shell' },
      { type: 'apply_patch' },
      { type: 'tool_search', execution: 'client', parameters: { type: 'object', a: 1 } },
      { type: 'namespace', name: 'mcp__files__', tools: [inner] },
      { type: 'namespace', name: 'files', tools: [inner, { type: 'custom', name: 'edit' }] },
    ];
    expect(namesOf(tools)).toEqual([
      ['f', { type: 'function_call', name: 'f' }],
      ['c', { type: 'custom_tool_call', name: 'c' }],
      ['local_shell', { type: 'local_shell_call', name: 'local_shell' }],
      ['shell', { type: 'shell_call', name: 'shell' }],
      ['apply_patch', { type: 'apply_patch_call', name: 'apply_patch' }],
      ['tool_search', { type: 'tool_search_call', name: 'tool_search' }],
      ['mcp__files__read', { type: 'function_call', name: 'read', namespace: 'mcp__files__' }],
      ['files__read', { type: 'function_call', name: 'read', namespace: 'files' }],
      ['files__edit', { type: 'custom_tool_call', name: 'edit', namespace: 'files' }],
    ]);
    const [, , , , , search] = clientFunctions(tools, undefined);
    expect(search!.definition.parameters).toEqual({ type: 'object', a: 1 });
  });

  it('adds tools that the caller found, once each', () => {
    const found = { type: 'tool_search_output', call_id: 'c', tools: [inner, { type: 'mcp' }] };
    expect(namesOf([inner], [{ role: 'user', content: 'x' }, found, found])).toHaveLength(1);
    expect(namesOf([], [found])).toEqual([['read', { type: 'function_call', name: 'read' }]]);
  });

  it.each([[undefined], ['x'], [[null, 5, { type: 'function' }, { type: 'web_search' }]]])(
    'returns no functions for %j',
    (tools) => {
      expect(clientFunctions(tools, tools)).toEqual([]);
    },
  );

  it('shortens long names and keeps them distinct', () => {
    const long = 'n'.repeat(60);
    const names = ['a_long_name', 'a_long_nose'].map((name) => functionName(name, long));
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^[\w-]{64}$/);
    expect(functionName('f', '')).toBe('f');
  });
});

describe('built-in tool calls', () => {
  const shell = { commands: ['ls'], timeout_ms: 5, max_output_length: null };
  const operation = { type: 'update_file', path: 'a', diff: '@@' };
  const exec = { type: 'exec', command: ['ls'], env: {} };

  it.each([
    ['local_shell_call', { action: exec }, { command: ['ls'], env: {} }],
    ['shell_call', { action: shell, environment: { type: 'local' } }, shell],
    ['apply_patch_call', { operation }, operation],
    ['tool_search_call', { execution: 'client', arguments: { query: 'x' } }, { query: 'x' }],
  ] as const)('%s: an item and its arguments', (type, members, args) => {
    const item = { id: 'i', type, call_id: 'c', status: 'completed', ...members };
    const call = readBuiltInCall(item);
    expect(call).toMatchObject({ id: 'c', name: type.slice(0, -'_call'.length) });
    expect(JSON.parse(call!.arguments)).toEqual(args);
    expect(builtInMembers(type, call!.arguments)).toEqual(members);
  });

  it('have an empty but valid form when the arguments are not JSON', () => {
    expect(builtInMembers('local_shell_call', '{"command":["l')).toEqual({
      action: { type: 'exec', command: [], env: {} },
    });
    expect(builtInMembers('apply_patch_call', '[]')).toEqual({ operation: {} });
    expect(newCallItem({ type: 'shell_call', name: 'shell' }, 'sh_1', 'c')).toEqual({
      id: 'sh_1',
      type: 'shell_call',
      status: 'in_progress',
      call_id: 'c',
      action: { commands: [], timeout_ms: null, max_output_length: null },
      environment: { type: 'local' },
    });
  });

  it.each([
    [{ type: 'local_shell_call_output', id: 'i', output: 'a\n' }, 'a\n'],
    [{ type: 'shell_call_output', output: [{ stdout: 'a' }] }, '[{"stdout":"a"}]'],
    [{ type: 'apply_patch_call_output', status: 'failed' }, '"failed"'],
    [{ type: 'apply_patch_call_output', status: 'failed', output: 'No file.' }, 'No file.'],
    [{ type: 'tool_search_output', tools: [inner] }, '{"tools":["read"]}'],
    [{ type: 'computer_call_output', output: {} }, undefined],
  ])('reads the output %j', (item, text) => {
    expect(readBuiltInOutput(item)).toBe(text);
  });

  it('require an id', () => {
    expect(readBuiltInCall({ type: 'shell_call' })).toBeUndefined();
    expect(readBuiltInCall({ type: 'message', id: 'm' })).toBeUndefined();
  });
});
