import { crc32 } from 'node:zlib';
import { EventStreamCodec, type MessageHeaders } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';

/** A message's length, its headers' length, and the checksum of both. */
const PRELUDE_BYTES = 12;
const MIN_MESSAGE_BYTES = 16;

/** A message of the binary event stream. */
export interface EventStreamMessage {
  headers: MessageHeaders;
  body: Buffer;
}

/** A header that is a text, as all are that name the event. */
export function textHeader({ headers }: EventStreamMessage, name: string): string | undefined {
  const header = headers[name];
  return header?.type === 'string' ? header.value : undefined;
}

/** Bytes that are no message of the binary event stream. */
export class EventStreamError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = EventStreamError.name;
  }
}

/** Cuts a byte stream into messages of the binary event stream, wherever the network split it. */
export class EventStreamFrames {
  private readonly codec = new EventStreamCodec(toUtf8, fromUtf8);
  private pieces: Buffer[] = [];
  private pendingBytes = 0;
  /** Length of the message whose beginning is pending, once it is known. */
  private messageBytes = 0;

  /** @param maxMessageBytes a message that claims to be longer is none */
  constructor(private readonly maxMessageBytes: number) {}

  /**
   * The messages that are complete now, one by one.
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

  /** The checksum is compared here already, lest a wrong length have us wait for what never comes. */
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
      throw new EventStreamError((error as Error).message, { cause: error });
    }
  }
}
