import { describe, expect, it } from '@jest/globals';
import { ResponsesDeltaFinder } from './find-responses-delta.js';

const PLACE = '"item_id":"msg_1","output_index":0,"content_index":0';

type Part = 'name' | 'type' | 'place' | 'delta' | 'rest' | 'number' | 'end';

/** Builds one event in the vendor's usual formatting, with overrides. */
function event({
  name = 'response.output_text.delta',
  type = name,
  place = PLACE,
  delta = 'Hi',
  rest = ',"logprobs":[],"obfuscation":"k3Qz8"',
  number = '4',
  end = '}\n\n',
}: Partial<Record<Part, string>> = {}): string {
  return (
    `event: ${name}\ndata: {"type":"${type}","sequence_number":${number},${place},` +
    `"delta":"${delta}"${rest}${end}`
  );
}

describe(ResponsesDeltaFinder.name, () => {
  it.each<[string, Parameters<typeof event>[0]]>([
    ['text', {}],
    ['text without later additions', { rest: '' }],
    [
      'arguments',
      {
        name: 'response.function_call_arguments.delta',
        place: '"item_id":"fc_1","output_index":3',
        rest: ',"obfuscation":""',
      },
    ],
    [
      'a summary',
      {
        name: 'response.reasoning_summary_text.delta',
        place: '"item_id":"rs_1","output_index":12,"summary_index":1',
      },
    ],
  ])('recognizes an event with %s', (_, parts) => {
    const text = event(parts);
    expect(new ResponsesDeltaFinder().find(text, 0)).toEqual({ end: text.length, characters: 2 });
  });

  it('recognizes consecutive events of any part and number', () => {
    const other = event({ place: PLACE.replace('msg_1', 'msg_2'), number: '1001' });
    const events = [event(), event({ number: '5', delta: 'a\\"}\\n' }), other, event()];
    const text = events.join('');
    const finder = new ResponsesDeltaFinder();
    const found: unknown[] = [];
    for (let start = 0; start < text.length;) {
      const delta = finder.find(text, start);
      found.push(delta);
      start = delta?.end ?? Infinity;
    }
    expect(found).toMatchObject([{}, { characters: 4 }, {}, { end: text.length }]);
  });

  it.each<[string, string]>([
    ['another type than its name', event({ type: 'response.refusal.delta' })],
    ['no piece', event({ name: 'response.output_text.done' })],
    ['probabilities', event({ rest: ',"logprobs":[{"token":"Hi"}]' })],
    ['another member', event({ rest: ',"delta":"again"' })],
    ['two lines of data', event({ rest: '\ndata: ' })],
    ['an unterminated text', event({ delta: 'Hi\\', rest: '', end: '' })],
    ['no blank line', event({ end: '}\n' })],
    ['a place with an escape', event({ place: PLACE.replace('msg_1', 'a\\"b') })],
    ['its members in another order', event({ place: '"output_index":0,"item_id":"msg_1"' })],
  ])('returns undefined for an event with %s, also after a known one', (_, text) => {
    const finder = new ResponsesDeltaFinder();
    expect(finder.find(text, 0)).toBeUndefined();
    const known = event();
    expect(finder.find(known + text, 0)?.end).toBe(known.length);
    expect(finder.find(known + text, known.length)).toBeUndefined();
  });
});
