import { describe, expect, it } from '@jest/globals';
import { findTextDelta } from './find-text-delta.js';

const frameOf = (choice: string, fields = '') =>
  `data: {"id":"a","model":"m","choices":[${choice}]${fields}}`;
const plain = '{"index":0,"delta":{"content":"Hi"},"finish_reason":null}';

describe(findTextDelta.name, () => {
  it.each([
    [
      'OpenAI',
      frameOf('{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}'),
    ],
    ['OpenAI with usage requested', frameOf(plain, ',"usage":null,"obfuscation":"x"')],
    [
      'a server that writes the index last',
      frameOf('{"delta":{"content":"Hi"},"finish_reason":null,"index":0}'),
    ],
    [
      'a server with an additional finish reason',
      frameOf(
        '{"index":0,"delta":{"content":"Hi"},"finish_reason":null,"native_finish_reason":null}',
      ),
    ],
    [
      'log probabilities',
      frameOf(
        '{"index":0,"delta":{"content":"Hi"},"logprobs":{"content":[{"token":"\\"delta\\":"}]},"finish_reason":null}',
      ),
    ],
  ])('recognizes the text chunk of %s', (_, frame) => {
    const { start, end, characters } = findTextDelta(frame)!;
    expect([frame.slice(start, end), characters]).toEqual(['Hi', 2]);
  });

  it.each([
    ['', 0],
    ['a\\"b', 3],
    ['\\ud83d\\ude42\\u00e9', 2],
    ['\\\\', 1],
    ['}],\\"finish_reason\\":\\"stop\\"', 25],
  ])('counts the characters of %s', (content, characters) => {
    expect(findTextDelta(frameOf(plain.replace('Hi', content)))).toMatchObject({ characters });
  });

  it.each([
    ['[DONE]', 'data: [DONE]'],
    ['a comment before it', `: ping\n${frameOf(plain)}`],
    ['no space after data', frameOf(plain).replace(': ', ':')],
    [
      'a role',
      frameOf('{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}'),
    ],
    [
      'more than content',
      frameOf('{"index":0,"delta":{"content":"a","refusal":null},"finish_reason":null}'),
    ],
    ['a tool call', frameOf('{"index":0,"delta":{"tool_calls":[]},"finish_reason":null}')],
    ['a finish reason', frameOf('{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}')],
    [
      'a finish reason before',
      frameOf('{"finish_reason":"stop","index":0,"delta":{"content":"a"}}'),
    ],
    ['no finish reason', frameOf('{"index":0,"delta":{"content":"a"}}')],
    ['another choice', frameOf(plain.replace('0', '1'))],
    ['the tenth choice', frameOf(plain.replace('0', '10'))],
    ['no index', frameOf('{"delta":{"content":"a"},"finish_reason":null}')],
    ['two choices', frameOf(`${plain},${plain.replace('0', '1')}`)],
    ['a finished choice before', frameOf(`{"index":1,"finish_reason":"stop"},${plain}`)],
    ['a finished choice after', frameOf(`${plain},{"index":1,"finish_reason":"stop"}`)],
    ['an error', frameOf(plain, ',"error":{"message":"x"}')],
    ['spaces after colons', frameOf(plain).replaceAll('":', '": ')],
    ['truncated text', frameOf(plain).slice(0, -40)],
  ])('returns undefined for a frame with %s', (_, frame) => {
    expect(findTextDelta(frame)).toBeUndefined();
  });
});
