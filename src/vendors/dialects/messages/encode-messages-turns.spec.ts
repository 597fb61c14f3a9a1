import { describe, expect, it } from '@jest/globals';
import { says } from '../../../../test/support/prompt-requests.js';
import type {
  CanonicalMessage,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/canonical-request.js';
import { encodeTurns } from './encode-messages-turns.js';

const turnsOf = (...messages: CanonicalMessage[]) => encodeTurns(messages, 'maker').turns;
const text = (value: string) => ({ type: 'text', text: value });
const call = (id: string, args = '{}'): ToolCallPart => ({
  type: 'tool_call',
  id,
  name: 'look',
  arguments: args,
});
const result = (id: string, ...texts: string[]): CanonicalMessage =>
  says('tool', {
    type: 'tool_result',
    toolCallId: id,
    parts: texts.map((value) => ({ type: 'text', text: value })),
  });

describe(encodeTurns.name, () => {
  it('extracts system messages from any position in order', () => {
    const { system, turns } = encodeTurns(
      [says('system', 'a'), says('user', 'b'), says('system', 'c', 'd'), says('user', 'e')],
      'maker',
    );
    expect(system).toEqual([text('a'), text('c'), text('d')]);
    expect(turns).toEqual([{ role: 'user', content: [text('b'), text('e')] }]);
  });

  it('merges consecutive messages of one side', () => {
    expect(
      turnsOf(says('user', 'a'), says('user', 'b'), says('assistant', 'c'), says('assistant', 'd')),
    ).toEqual([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
    ]);
  });

  it('puts the results of parallel calls into one turn, before the user text', () => {
    const turns = turnsOf(
      says('user', 'a'),
      says('assistant', call('1'), call('2')),
      result('1', 'one'),
      says('user', 'and?'),
      result('2'),
    );
    expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(turns[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: '1', content: [text('one')] },
      { type: 'tool_result', tool_use_id: '2' },
      text('and?'),
    ]);
  });

  it.each([
    ['the conversation is empty', []],
    ['there are only system messages', [says('system', 'a')]],
    ['the user text is blank', [says('user', ' \n')]],
  ])('inserts a user turn when %s', (_, messages) => {
    expect(turnsOf(...messages)).toEqual([{ role: 'user', content: [text('.')] }]);
  });

  it('starts with a user turn', () => {
    expect(turnsOf(says('assistant', 'a'), says('user', 'b')).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });

  it('omits blank text and empty assistant turns', () => {
    expect(
      turnsOf(says('user', 'a', '', ' '), says('assistant', '', '\n'), says('user', 'b')),
    ).toEqual([{ role: 'user', content: [text('a'), text('b')] }]);
  });

  it('trims only the end of a turn to continue', () => {
    expect(
      turnsOf(says('user', 'a '), says('assistant', 'b \n')).map(({ content }) => content[0]),
    ).toEqual([text('a '), text('b')]);
    const earlier = turnsOf(says('user', 'a'), says('assistant', 'b '), says('user', 'c'));
    expect(earlier[1]?.content).toEqual([text('b ')]);
  });

  it.each<[string, string, object]>([
    ['an object', '{"a":1}', { a: 1 }],
    ['nothing', '', {}],
    ['white space', ' ', {}],
    ['half an object', '{"a":', { input: '{"a":' }],
    ['a list', '[1]', { input: '[1]' }],
    ['free text', 'look here', { input: 'look here' }],
  ])('turns arguments that are %s into an object', (_, args, input) => {
    expect(turnsOf(says('assistant', call('1', args)))[1]?.content).toEqual([
      { type: 'tool_use', id: '1', name: 'look', input },
    ]);
  });

  it("maps ids of calls and results to the vendor's alphabet consistently", () => {
    const [, assistant, user] = turnsOf(
      says('user', 'a'),
      says('assistant', call('functions.look:0'), call('functions.look:1')),
      result('functions.look:0'),
      result('functions.look:1'),
    );
    const ids = assistant?.content.map(({ id }) => id) ?? [];
    expect(user?.content.map((block) => block.tool_use_id)).toEqual(ids);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it('passes on errors and images of tools', () => {
    const part: ToolResultPart = {
      type: 'tool_result',
      toolCallId: '1',
      isError: true,
      cacheControl: { ttl: '1h' },
      parts: [
        { type: 'text', text: 'no' },
        { type: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'AA==' } },
      ],
    };
    expect(turnsOf(says('tool', part))[0]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: '1',
        is_error: true,
        cache_control: { type: 'ephemeral', ttl: '1h' },
        content: [
          text('no'),
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
        ],
      },
    ]);
  });

  it("restores the vendor's own reasoning and omits any other", () => {
    const reasoning = (value: string, signature?: string) =>
      ({ type: 'reasoning', text: value, signature }) as const;
    const turns = turnsOf(
      says(
        'assistant',
        reasoning('hm', 'maker:c2ln'),
        reasoning('', 'maker:c2ln'),
        reasoning('', 'maker:redacted:ZGF0YQ=='),
        reasoning('foreign', 'other:c2ln'),
        reasoning('unsigned'),
        reasoning('broken', 'maker:'),
        'Hello',
      ),
      says('user', 'b'),
    );
    expect(turns[1]?.content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'thinking', thinking: '', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'ZGF0YQ==' },
      text('Hello'),
    ]);
  });

  it('encodes images and documents', () => {
    const inline = (mediaType: string, data: string) =>
      ({ kind: 'inline', mediaType, data }) as const;
    const url = { kind: 'url', url: 'https://a.example/b' } as const;
    expect(
      turnsOf(
        says(
          'user',
          { type: 'image', source: inline('image/jpg', 'AA=='), cacheControl: { ttl: '5m' } },
          { type: 'image', source: url },
          { type: 'document', source: inline('application/pdf', 'AA=='), filename: 'a.pdf' },
          { type: 'document', source: url },
          { type: 'document', source: inline('text/markdown', 'SGVsbG8g8J+Zgg==') },
          { type: 'refusal', text: 'no' },
        ),
      )[0]?.content,
    ).toEqual([
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/jpeg', data: 'AA==' },
        cache_control: { type: 'ephemeral' },
      },
      { type: 'image', source: { type: 'url', url: url.url } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
        title: 'a.pdf',
      },
      { type: 'document', source: { type: 'url', url: url.url } },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'Hello 🙂' },
      },
      text('no'),
    ]);
  });

  it.each<[string, CanonicalMessage]>([
    ['audio', says('user', { type: 'audio', data: 'AA==', format: 'wav' })],
    [
      'a bitmap',
      says('user', {
        type: 'image',
        source: { kind: 'inline', mediaType: 'image/bmp', data: 'AA==' },
      }),
    ],
    [
      'an archive',
      says('user', {
        type: 'document',
        source: { kind: 'inline', mediaType: 'application/zip', data: 'AA==' },
      }),
    ],
    [
      'a URL without encryption',
      says('user', { type: 'image', source: { kind: 'url', url: 'http://a.example/b.png' } }),
    ],
    [
      'an image in a system message',
      says('system', { type: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } }),
    ],
  ])('reports %s as unsupported', (_, message) => {
    expect(() => turnsOf(message)).toThrow(
      expect.objectContaining({ failure: 'unsupported', param: 'messages' }),
    );
  });
});
