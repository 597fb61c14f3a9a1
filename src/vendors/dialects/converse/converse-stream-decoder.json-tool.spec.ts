import { describe, expect, it } from '@jest/globals';
import { begun, said, finished, called, args } from '../../../../test/support/converse-events.js';
import {
  start,
  text,
  toolStart,
  toolInput,
  blockStop,
  stop,
} from '../../../../test/support/converse-stream.js';
import { readAll } from '../../../../test/support/read-converse-stream.js';
import { decodeConverseAnswer } from './decode-converse-answer.js';
import { ConverseStreamDecoder } from './converse-stream-decoder.js';

describe(`${ConverseStreamDecoder.name} with a tool that carries the answer`, () => {
  const jsonTool = 'answer_in_json';
  const carried = [
    toolStart(1, 'a', jsonTool),
    toolInput(1, '{"a":'),
    toolInput(1, '1}'),
    blockStop(1),
  ];

  it('turns its input into text, and does not report its call', () => {
    expect(readAll([start, ...carried, stop('tool_use')], { jsonTool })).toEqual([
      begun,
      said('{"a":'),
      said('1}'),
      finished('stop'),
    ]);
  });

  it('drops text next to it', () => {
    expect(readAll([start, text('Sure!'), ...carried, stop('tool_use')], { jsonTool })).toEqual([
      begun,
      said('{"a":'),
      said('1}'),
      finished('stop'),
    ]);
  });

  it('uses the first of several calls', () => {
    const again = [toolStart(2, 'b', jsonTool), toolInput(2, '{"a":2}'), blockStop(2)];
    const events = readAll([start, ...carried, ...again, stop('tool_use')], { jsonTool });
    expect(events.filter(({ type }) => type === 'text')).toHaveLength(2);
  });

  it('reports other calls', () => {
    const other = [toolStart(2, 'b'), toolInput(2, '{}'), blockStop(2)];
    expect(readAll([start, ...other, stop('tool_use')], { jsonTool })).toEqual([
      begun,
      called(0, 'b'),
      args(0, '{}'),
      finished('tool_calls'),
    ]);
    const both = readAll([start, ...carried, ...other, stop('tool_use')], { jsonTool });
    expect(both.at(-1)).toEqual(finished('tool_calls'));
  });

  it('falls back to the text when it is not called', () => {
    const events = readAll([start, text('I '), text('cannot.'), stop('end_turn')], { jsonTool });
    expect(events).toEqual([begun, said('I '), said('cannot.'), finished('stop')]);
  });

  it('falls back to the text in any number of pieces', () => {
    const pieces = Array.from({ length: 200_000 }, () => 'I ');
    const content = pieces.map((piece) => ({ text: piece }));
    const answer = { output: { message: { content } }, stopReason: 'end_turn' };
    const events = decodeConverseAnswer(Buffer.from(JSON.stringify(answer)), {
      signatureIssuer: 'maker',
      redactedIssuer: 'maker-redacted',
      jsonTool,
    });
    expect(events).toHaveLength(pieces.length + 2);
  });

  it('reports an answer cut by its limit', () => {
    const events = readAll(
      [start, toolStart(0, 'a', jsonTool), toolInput(0, '{"a"'), stop('max_tokens')],
      { jsonTool },
    );
    expect(events).toEqual([begun, said('{"a"'), finished('length')]);
  });
});
