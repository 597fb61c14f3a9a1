import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unreadable } from '../../unreadable.js';
import { UpstreamError } from '../../upstream-error.js';
import { classifyStreamError } from './classify-converse-error.js';
import { ConverseAnswerReader, type ConverseAnswerOptions } from './converse-answer-reader.js';
import {
  EventStreamError,
  EventStreamFrames,
  textHeader,
  type EventStreamMessage,
} from './event-stream-frames.js';
import { readConverseUsage } from './read-converse-usage.js';
import { readStopSequence } from './read-stop-sequence.js';

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Reads the answer of `ConverseStream`: binary messages that hold JSON. */
export class ConverseStreamDecoder {
  private readonly frames = new EventStreamFrames(MAX_MESSAGE_BYTES);
  private readonly reader: ConverseAnswerReader;
  private hasStopped = false;
  private hasUsage = false;

  constructor(options: ConverseAnswerOptions) {
    this.reader = new ConverseAnswerReader(options);
  }

  /** Whether nothing of interest can follow. */
  get isDone(): boolean {
    return this.hasStopped && this.hasUsage;
  }

  /**
   * The events in the messages that are complete now. What stands before a failure is yielded
   * before it is thrown.
   *
   * @throws UpstreamError `unreadable`, or what the vendor reports in-band
   */
  *push(chunk: Buffer): Generator<CanonicalEvent> {
    try {
      for (const message of this.frames.push(chunk)) yield* this.read(message);
    } catch (error) {
      if (!(error instanceof EventStreamError)) throw error;
      if (this.hasStopped) return;
      throw new UpstreamError(
        { failure: 'unreadable', message: `not an event stream: ${error.message}` },
        { cause: error },
      );
    }
  }

  /** @throws UpstreamError `cut` when the answer is not complete */
  end(): void {
    if (this.hasStopped) return;
    throw new UpstreamError({ failure: 'cut', message: 'the stream ended without a stop reason' });
  }

  private read(message: EventStreamMessage): CanonicalEvent[] {
    if (textHeader(message, ':message-type') !== 'event') {
      // After its stop reason an answer is complete, whatever befalls the stream then.
      if (this.hasStopped) return [];
      throw readFailure(message);
    }
    const read = READERS.get(textHeader(message, ':event-type') ?? '');
    if (!read) return [];
    const payload = parse(message.body);
    if (!isJsonObject(payload)) throw unreadable('an event that is no JSON object');
    if (read === readStop) this.hasStopped = true;
    if (read === readMetadata) this.hasUsage = true;
    return read(payload, this.reader);
  }
}

function readFailure(message: EventStreamMessage): UpstreamError {
  const exception = textHeader(message, ':exception-type');
  if (exception !== undefined) return classifyStreamError(exception, parse(message.body));
  const words = { message: textHeader(message, ':error-message') };
  return classifyStreamError(textHeader(message, ':error-code'), words);
}

type EventReader = (payload: JsonObject, reader: ConverseAnswerReader) => CanonicalEvent[];

/** By event type; the vendor may add others, which are passed over. */
const READERS: ReadonlyMap<string, EventReader> = new Map<string, EventReader>([
  ['messageStart', () => [{ type: 'start' }]],
  ['contentBlockStart', readBlockStart],
  ['contentBlockDelta', readDelta],
  ['contentBlockStop', (payload, reader) => reader.blockStop(blockOf(payload))],
  ['messageStop', readStop],
  ['metadata', readMetadata],
]);

function readBlockStart(payload: JsonObject, reader: ConverseAnswerReader): CanonicalEvent[] {
  const tool = isJsonObject(payload.start) ? payload.start.toolUse : undefined;
  if (!isJsonObject(tool)) return [];
  if (typeof tool.toolUseId !== 'string' || typeof tool.name !== 'string') {
    throw unreadable('a tool call without an id or a name');
  }
  return reader.toolStart(blockOf(payload), tool.toolUseId, tool.name);
}

function readDelta(payload: JsonObject, reader: ConverseAnswerReader): CanonicalEvent[] {
  const { delta } = payload;
  if (!isJsonObject(delta)) return [];
  if (typeof delta.text === 'string') return reader.text(delta.text);
  const { toolUse, reasoningContent: reasoning } = delta;
  if (isJsonObject(toolUse) && typeof toolUse.input === 'string') {
    return reader.toolInput(blockOf(payload), toolUse.input);
  }
  if (!isJsonObject(reasoning)) return [];
  const { text, signature, redactedContent } = reasoning;
  return [
    ...(typeof text === 'string' ? reader.reasoning(text) : []),
    ...(typeof signature === 'string' ? reader.signature(blockOf(payload), signature) : []),
    ...(typeof redactedContent === 'string'
      ? reader.redactedReasoning(blockOf(payload), redactedContent)
      : []),
  ];
}

function readStop(payload: JsonObject, reader: ConverseAnswerReader): CanonicalEvent[] {
  if (typeof payload.stopReason !== 'string') throw unreadable('an end without a stop reason');
  return reader.stop(payload.stopReason, readStopSequence(payload));
}

function readMetadata({ usage }: JsonObject): CanonicalEvent[] {
  const read = readConverseUsage(usage);
  return read ? [{ type: 'usage', usage: read }] : [];
}

function blockOf({ contentBlockIndex }: JsonObject): number {
  return typeof contentBlockIndex === 'number' ? contentBlockIndex : 0;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw unreadable('an event that is no JSON');
  }
}
