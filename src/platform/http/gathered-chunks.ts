import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { FairQueue } from '../queue/fair-queue.js';
import { networkOf } from './network-of.js';

/** A body with this many chunks in one network read has its reads delayed … */
const MANY_CHUNKS = 256;
/** … by this time each, one body after another: Node's parser takes 10 ms for ten thousand chunks. */
const DELAY_MS = 100;
/** Chunks of this size are passed on unchanged. */
const LARGE_CHUNK_BYTES = 1_024;
/** Delayed bodies per address, including those that have disconnected, because reconnecting is quick. */
const MAX_DELAYED = 32;
/** By address, so that a crowd from one address does not delay others. */
const delayed = new FairQueue<() => void>(MAX_DELAYED);

/** @returns false when too many bodies of the address are delayed */
function delay({ remoteAddress = '' }: Socket, goOn: () => void): boolean {
  const isFirst = delayed.size === 0;
  if (!delayed.add(networkOf(remoteAddress), goOn)) return false;
  if (!isFirst) return true;
  const timer = setInterval(() => {
    delayed.take()?.();
    if (delayed.size === 0) clearInterval(timer);
  }, DELAY_MS);
  return true;
}

/**
 * Returns a request class for one application that joins small chunks of a body. One network read holds up to ten
 * thousand chunks of one byte, each of which would be an event and a separate buffer for as long as the body is read.
 */
export function makeRequestClass(): typeof IncomingMessage {
  return class LeanRequest extends IncomingMessage {
    /** Small chunks not passed on yet; null for a body that is not chunked. */
    private chunks: Buffer[] | null | undefined;
    /** Small chunks in this turn of the event loop. */
    private inTurn = 0;

    override push(chunk: Buffer | null): boolean {
      if (this.chunks === undefined) this.chunks = 'transfer-encoding' in this.headers ? [] : null;
      if (this.chunks === null) return super.push(chunk);
      if (chunk === null || chunk.length >= LARGE_CHUNK_BYTES) {
        this.flush();
        return super.push(chunk);
      }
      this.chunks.push(chunk);
      if (++this.inTurn === 1) setImmediate(() => this.endTurn());
      if (this.inTurn === MANY_CHUNKS) {
        // Immediately, because the system delivers up to thirty-two reads per turn.
        this.socket.pause();
        if (!delay(this.socket, () => this.goOn())) this.socket.destroy();
      }
      return true;
    }

    private endTurn(): void {
      const areMany = this.inTurn >= MANY_CHUNKS;
      this.inTurn = 0;
      if (!areMany) return this.flush();
      // Joins them, because a chunk's buffer is ten times as large as its content.
      this.chunks = this.socket.destroyed ? [] : [Buffer.concat(this.chunks ?? [])];
    }

    private goOn(): void {
      this.flush();
      this.socket.resume();
    }

    private flush(): void {
      const { chunks } = this;
      if (!chunks || chunks.length === 0) return;
      this.chunks = [];
      const whole = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      // As Node does when more arrives than is read.
      if (!super.push(whole)) this.socket.pause();
    }
  };
}
