import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import { parseAnswerJson } from '../answer-json.js';
import { classifyStreamError } from './classify-converse-error.js';
import {
  ConverseAnswerReader,
  type ConverseAnswerOptions,
  readConverseUsage,
  readStopSequence,
} from './converse-answer-reader.js';
import { crc32 } from 'node:zlib';
import { EventStreamCodec, type MessageHeaders } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import { messageOf } from '../../../platform/errors/thrown.js';

/** The length of the message, the length of its headers, and the checksum of both. */
const PRELUDE_BYTES = 12;

const MIN_MESSAGE_BYTES = 16;

/** Thrown for bytes that are not a message of the binary event stream. */
export class EventStreamError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = EventStreamError.name;
  }
}

/** Splits a byte stream into messages of the binary event stream, at any network split. */
export class EventStreamFrames {
  private readonly codec = new EventStreamCodec(toUtf8, fromUtf8);
  private pieces: Buffer[] = [];
  private pendingBytes = 0;
  /** Length of the pending message, once known. */
  private messageBytes = 0;

  /** @param maxMessageBytes longer messages are rejected */
  constructor(private readonly maxMessageBytes: number) {}

  /**
   * Yields the complete messages one by one.
   *
   * @throws EventStreamError for a bad checksum, length or header
   */
  *push(chunk: Buffer): Generator<EventStreamMessage> {
    this.pieces.push(chunk);
    this.pendingBytes += chunk.length;
    for (;;) {
      if (this.messageBytes === 0 && this.pendingBytes >= PRELUDE_BYTES) {
        this.messageBytes = this.readLength(this.joined());
      }
      if (this.messageBytes === 0 || this.pendingBytes < this.messageBytes) return;
      const bytes = this.joined();
      const message = bytes.subarray(0, this.messageBytes);
      this.pendingBytes -= this.messageBytes;
      this.messageBytes = 0;
      this.pieces = this.pendingBytes > 0 ? [bytes.subarray(message.length)] : [];
      yield this.decode(message);
    }
  }

  private joined(): Buffer {
    if (this.pieces.length > 1) this.pieces = [Buffer.concat(this.pieces, this.pendingBytes)];
    return this.pieces[0]!;
  }

  /** Reads the length and checks its checksum at once: a wrong length would mean waiting forever. */
  private readLength(bytes: Buffer): number {
    const length = bytes.readUInt32BE(0);
    if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) {
      throw new EventStreamError("a message's prelude does not match its checksum");
    }
    const headersLength = bytes.readUInt32BE(4);
    if (length < MIN_MESSAGE_BYTES || headersLength > length - MIN_MESSAGE_BYTES) {
      throw new EventStreamError('a message of an impossible length');
    }
    if (length > this.maxMessageBytes) {
      throw new EventStreamError(`a message of more than ${this.maxMessageBytes} bytes`);
    }
    return length;
  }

  private decode(bytes: Buffer): EventStreamMessage {
    try {
      const { headers, body } = this.codec.decode(bytes);
      return { headers, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
    } catch (error) {
      const message = messageOf(error);
      throw new EventStreamError(message, { cause: error });
    }
  }
}

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Reads the answer of `ConverseStream`: binary messages that contain JSON. */
export class ConverseStreamDecoder {
  private readonly frames = new EventStreamFrames(MAX_MESSAGE_BYTES);
  private readonly reader: ConverseAnswerReader;
  /** True after the stop reason; later stream failures do not matter. */
  isWhole = false;
  private hasUsage = false;

  constructor(options: ConverseAnswerOptions) {
    this.reader = new ConverseAnswerReader(options);
  }

  /** True when nothing of interest can follow. */
  get isDone(): boolean {
    return this.isWhole && this.hasUsage;
  }

  /**
   * Yields the events of the complete messages. Events before a failure are yielded before it is thrown.
   *
   * @throws UpstreamError `unreadable`, or as the vendor reports in-band
   */
  *push(chunk: Buffer): Generator<CanonicalEvent> {
    try {
      for (const message of this.frames.push(chunk)) yield* this.read(message);
    } catch (error) {
      if (!(error instanceof EventStreamError)) throw error;
      if (this.isWhole) return;
      throw new UpstreamError(
        { failure: 'unreadable', message: `not an event stream: ${error.message}` },
        { cause: error },
      );
    }
  }

  /** @throws UpstreamError `cut` when the answer is not complete */
  end(): void {
    if (this.isWhole) return;
    throw new UpstreamError({ failure: 'cut', message: 'the stream ended without a stop reason' });
  }

  private read(message: EventStreamMessage): CanonicalEvent[] {
    if (textHeader(message, ':message-type') !== 'event') {
      if (this.isWhole) return [];
      throw readFailure(message);
    }
    const read = READERS.get(textHeader(message, ':event-type') ?? '');
    // After the end, only the usage counts.
    if (!read || (this.isWhole && read !== readMetadata)) return [];
    const payload = parse(message.body);
    if (!isJsonObject(payload)) throw unreadable('an event that is not a JSON object');
    if (read === readStop) this.isWhole = true;
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

/** Readers by event type; unknown types are skipped. */
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
  return parseAnswerJson(body.toString('utf8'), 'an event');
}

/** A message of the binary event stream. */
interface EventStreamMessage {
  headers: MessageHeaders;
  body: Buffer;
}

/** Returns a string header, as used for event names. */
export function textHeader({ headers }: EventStreamMessage, name: string): string | undefined {
  const header = headers[name];
  return header?.type === 'string' ? header.value : undefined;
}
