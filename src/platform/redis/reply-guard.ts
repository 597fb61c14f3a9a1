import type { Redis } from 'ioredis';

/** The largest reply that the service asks for is a cached answer of 4 MB. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;
const MAX_LINE_BYTES = 64 * 1024;
const MAX_ELEMENTS = 100_000;
const MAX_DEPTH = 16;

const CR = 0x0d;
const LF = 0x0a;
const ARRAY = 0x2a;
const BULK = 0x24;

/** Thrown for a reply that exceeds a limit or is not RESP. */
export class HostileReplyError extends Error {
  override readonly name = 'HostileReplyError';
}

/**
 * Follows a stream of RESP replies without parsing them. The client's parser allocates an array as long as announced, recurses
 * into nested arrays and collects a bulk string of any length, so one reply could end the process.
 */
export class ReplyLimits {
  /** Elements left in each open array. */
  private readonly open: number[] = [];
  private line = '';
  private lineBytes = 0;
  private type = 0;
  private skip = 0;
  private replyBytes = 0;

  /** @throws HostileReplyError */
  check(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.skip > 0) {
        const step = Math.min(this.skip, chunk.length - at);
        this.skip -= step;
        at += step;
        this.count(step);
        if (this.skip === 0) this.endValue();
        continue;
      }
      const byte = chunk[at]!;
      at += 1;
      this.count(1);
      if (this.type === 0) this.type = byte;
      else if (byte === LF) this.endLine();
      else if (byte !== CR) this.addToLine(byte);
    }
  }

  private count(bytes: number): void {
    this.replyBytes += bytes;
    if (this.replyBytes > MAX_REPLY_BYTES) throw new HostileReplyError('a reply is too long');
  }

  private addToLine(byte: number): void {
    this.lineBytes += 1;
    if (this.lineBytes > MAX_LINE_BYTES) throw new HostileReplyError('a line is too long');
    // Only the lengths of arrays and bulk strings matter.
    if (this.lineBytes <= 20) this.line += String.fromCharCode(byte);
  }

  private endLine(): void {
    const { type, line } = this;
    this.type = 0;
    this.line = '';
    this.lineBytes = 0;
    if (type !== ARRAY && type !== BULK) return this.endValue();
    if (!/^(?:-1|\d{1,10})$/.test(line)) throw new HostileReplyError('a length is not a number');
    const length = Number(line);
    if (type === BULK) {
      if (length > MAX_REPLY_BYTES) throw new HostileReplyError('a reply is too long');
      if (length < 0) this.endValue();
      else this.skip = length + 2;
    } else if (length > 0) {
      if (length > MAX_ELEMENTS) throw new HostileReplyError('an array is too long');
      if (this.open.length === MAX_DEPTH) throw new HostileReplyError('arrays are nested too deep');
      this.open.push(length);
    } else {
      this.endValue();
    }
  }

  private endValue(): void {
    while (this.open.length > 0) {
      const left = this.open.pop()! - 1;
      if (left > 0) {
        this.open.push(left);
        return;
      }
    }
    this.replyBytes = 0;
  }
}

/** Closes a connection whose replies exceed the limits or cannot be parsed; the client then reconnects. */
export function guardReplies(redis: Redis): void {
  redis.on('connect', () => {
    const { stream } = redis;
    // The client puts its parser first.
    const [parse] = stream.listeners('data') as ((chunk: Buffer) => void)[];
    if (!parse) return;
    stream.off('data', parse);
    const limits = new ReplyLimits();
    stream.prependListener('data', (chunk: Buffer) => {
      if (stream.destroyed) return;
      try {
        limits.check(chunk);
        parse(chunk);
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}
