import { describe, expect, it } from '@jest/globals';
import {
  eventMessage,
  exceptionMessage,
  message,
} from '../../../../test/contract/vendors/bedrock.vendor.js';
import {
  begun,
  said,
  finished,
  called,
  args,
  thought,
} from '../../../../test/support/converse-events.js';
import {
  start,
  delta,
  text,
  toolStart,
  toolInput,
  reasoning,
  blockStop,
  stop,
  metadata,
} from '../../../../test/support/converse-stream.js';
import { read, readAll } from '../../../../test/support/read-converse-stream.js';
import { UpstreamError } from '../../upstream-error.js';
import { ConverseStreamDecoder } from './converse-stream-decoder.js';

const usage = {
  type: 'usage',
  usage: expect.objectContaining({ inputTokens: 3, outputTokens: 4 }),
};

describe(ConverseStreamDecoder.name, () => {
  const hello = [start, text('Grüße, '), text('🌍!'), blockStop(0), stop(), metadata];
  const expected = [begun, said('Grüße, '), said('🌍!'), finished('stop'), usage];

  it('reads text, the finish reason and the usage', () => {
    const reading = read(hello);
    expect(reading).toEqual({ events: expected, failure: undefined, isDone: true });
  });

  it('reads the same at any network split, even within a character', () => {
    const bytes = Buffer.concat(hello);
    for (let size = 1; size < bytes.length; size += size < 20 ? 1 : 37) {
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      expect(readAll(chunks)).toEqual(expected);
    }
  });

  it('reads several blocks, and numbers parallel tool calls separately from blocks', () => {
    const events = readAll([
      start,
      text('I look.', 0),
      blockStop(0),
      toolStart(1, 'call_1'),
      toolInput(1, ''),
      toolInput(1, '{"ci'),
      toolInput(1, 'ty":"Zürich"}'),
      blockStop(1),
      toolStart(2, 'call_2', 'now'),
      blockStop(2),
      stop('tool_use'),
      metadata,
    ]);
    expect(events).toEqual([
      begun,
      said('I look.'),
      called(0, 'call_1'),
      args(0, '{"ci'),
      args(0, 'ty":"Zürich"}'),
      called(1, 'call_2', 'now'),
      args(1, '{}'),
      finished('tool_calls'),
      usage,
    ]);
  });

  it('passes on invalid JSON input as the model wrote it', () => {
    const events = readAll([
      start,
      toolStart(0, 'a'),
      toolInput(0, '{"x": tru'),
      stop('max_tokens'),
    ]);
    expect(events.slice(1)).toEqual([called(0, 'a'), args(0, '{"x": tru'), finished('length')]);
  });

  it('reads signed and redacted reasoning, in pieces or without text', () => {
    const [half, rest] = [Buffer.from('sec'), Buffer.from('ret!')];
    const events = readAll([
      start,
      reasoning(0, { text: 'Let me ' }),
      reasoning(0, { text: 'see.' }),
      reasoning(0, { signature: 'c2ln' }),
      reasoning(0, { signature: 'bmF0dXJl' }),
      blockStop(0),
      reasoning(1, { redactedContent: half.toString('base64') }),
      reasoning(1, { redactedContent: rest.toString('base64') }),
      blockStop(1),
      reasoning(2, { signature: 'only' }),
      // Without its own stop event: the answer's end ends it.
      stop(),
    ]);
    expect(events.slice(1)).toEqual([
      thought('Let me '),
      thought('see.'),
      thought('', 'maker:c2lnbmF0dXJl'),
      thought('', `maker-redacted:${Buffer.from('secret!').toString('base64')}`),
      thought('', 'maker:only'),
      finished('stop'),
    ]);
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['malformed_model_output', 'malformed_model_output'],
    ['something_new', 'something_new'],
  ])('maps the stop reason %s to %s', (reason, word) => {
    expect(readAll([start, stop(reason)]).at(-1)).toEqual(finished(word));
  });

  it('reports the stop sequence when the vendor does', () => {
    const named = { additionalModelResponseFields: { delta: { stop_sequence: 'END' } } };
    const unnamed = { additionalModelResponseFields: { delta: { stop_sequence: null } } };
    expect(readAll([start, stop('stop_sequence', named)]).at(-1)).toEqual({
      ...finished('stop'),
      stopSequence: 'END',
    });
    expect(readAll([start, stop('end_turn', unnamed)]).at(-1)).toEqual(finished('stop'));
  });

  it('skips unknown events and members', () => {
    const events = readAll([
      start,
      eventMessage('somethingNew', { x: 1 }),
      eventMessage('constructor', { x: 1 }),
      eventMessage('contentBlockStart', { contentBlockIndex: 0, start: { image: {} } }),
      delta(0, { citation: { title: 'x' } }),
      delta(0, { somethingNew: true }),
      eventMessage('contentBlockDelta', {}),
      eventMessage('metadata', { metrics: {} }),
      stop(),
    ]);
    expect(events).toEqual([begun, finished('stop')]);
  });

  it('is complete after a stop reason, whatever follows', () => {
    const broken = Buffer.from('garbage that is not a message');
    const late = exceptionMessage('internalServerException', { message: 'Late.' });
    expect(read([start, stop()])).toMatchObject({ failure: undefined, isDone: false });
    expect(read([start, stop(), metadata.subarray(0, 20)]).failure).toBeUndefined();
    expect(read([start, stop(), late]).failure).toBeUndefined();
    expect(read([start, stop(), broken]).failure).toBeUndefined();
  });

  it('reads only the usage after the end', () => {
    const late = [text('Late', 1), toolStart(2, 'call_1'), stop('max_tokens'), metadata];
    expect(read([start, text('Hi'), stop(), ...late])).toMatchObject({
      events: [begun, said('Hi'), finished('stop'), usage],
      isDone: true,
    });
  });

  it('gives calls with the same id distinct ids', () => {
    const calls = [toolStart(0, 'call_1'), toolStart(1, 'call_1'), toolStart(2, '')];
    const ids = readAll([start, ...calls, stop()]).flatMap((event) =>
      event.type === 'tool_call' ? [event.id] : [],
    );
    expect(ids[0]).toBe('call_1');
    expect(new Set([...ids, '']).size).toBe(4);
  });

  it.each([
    ['a signature', reasoning(1, { signature: 'x'.repeat(3_000_000) })],
    ['redacted reasoning', reasoning(1, { redactedContent: 'x'.repeat(3_000_000) })],
  ])('gives up on endless %s, whatever comes in between', (_, piece) => {
    const chunks = Array.from({ length: 6 }, () => [text('a'), piece]).flat();
    expect(read([start, ...chunks]).failure).toMatchObject({ failure: 'unreadable' });
  });

  it('reports usage that arrives before the end', () => {
    expect(read([start, metadata, stop()])).toMatchObject({
      events: [begun, usage, finished('stop')],
      isDone: true,
    });
  });

  describe('failures of a vendor', () => {
    const failures = (chunks: Buffer[]) => {
      const { events, failure } = read(chunks);
      expect(failure).toBeInstanceOf(UpstreamError);
      return [events.length, (failure as UpstreamError).failure];
    };

    it.each<[string, Buffer[], [events: number, failure: string]]>([
      ['that sends nothing', [], [0, 'cut']],
      ['that ends in the middle of a message', [start, text('Hi').subarray(0, 50)], [1, 'cut']],
      ['that ends between messages', [start, text('Hi'), blockStop(0)], [2, 'cut']],
      ['that does not send an event stream', [Buffer.from('data: {"x":1}\n\n')], [0, 'unreadable']],
      [
        'whose JSON is truncated',
        [start, message({ ':message-type': 'event', ':event-type': 'messageStop' }, '{"stopReas')],
        [1, 'unreadable'],
      ],
      ['whose JSON is not an object', [start, eventMessage('messageStop', [])], [1, 'unreadable']],
      ['that stops without a reason', [start, eventMessage('messageStop', {})], [1, 'unreadable']],
      [
        'that calls a tool without a name',
        [eventMessage('contentBlockStart', { start: { toolUse: {} } })],
        [0, 'unreadable'],
      ],
      ['that sends input without a call', [start, toolInput(3, '{}')], [1, 'unreadable']],
      [
        'that throttles before it begins',
        [exceptionMessage('throttlingException', { message: 'Slow down.' })],
        [0, 'rate_limited'],
      ],
      [
        'that throttles before content',
        [start, exceptionMessage('throttlingException', {})],
        [1, 'rate_limited'],
      ],
      [
        'whose model fails after content',
        [
          start,
          text('Hi'),
          exceptionMessage('modelStreamErrorException', { originalStatusCode: 500 }),
        ],
        [2, 'server'],
      ],
      [
        'that fails during the stream',
        [start, text('Hi'), exceptionMessage('internalServerException', {})],
        [2, 'server'],
      ],
      ['that is unavailable', [exceptionMessage('serviceUnavailableException', {})], [0, 'server']],
      [
        'that rejects the request late',
        [start, exceptionMessage('validationException', { message: 'The value is wrong.' })],
        [1, 'caller'],
      ],
      [
        'that rejects a long prompt late',
        [
          exceptionMessage('validationException', {
            message: 'Input is too long for requested model.',
          }),
        ],
        [0, 'context_length'],
      ],
      [
        'with an error of another kind',
        [
          message(
            {
              ':message-type': 'error',
              ':error-code': 'InternalFailure',
              ':error-message': 'Oops.',
            },
            '',
          ),
        ],
        [0, 'server'],
      ],
    ])('%s', (_what, chunks, expected) => {
      expect(failures(chunks)).toEqual(expected);
      // In one chunk or many, everything complete before the failure counts.
      if (chunks.length > 0) expect(failures([Buffer.concat(chunks)])).toEqual(expected);
    });

    it('with a damaged byte', () => {
      const damaged = text('Hello');
      damaged[damaged.length - 8]! ^= 1;
      expect(failures([start, damaged])).toEqual([1, 'unreadable']);
    });

    it('with a message of more than 10 MB', () => {
      const huge = text('x'.repeat(10 * 1024 * 1024));
      expect(failures([start, huge.subarray(0, 1_000)])).toEqual([1, 'unreadable']);
    });
  });
});
