import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { FairQueue } from '../queue/fair-queue.js';
import { networkOf } from './network-of.js';

/** Of bodies with so many chunks in a piece, one piece is taken at a time … */
const MANY_CHUNKS = 256;
/** … and so long after another: Node's parser takes ten milliseconds for ten thousand. */
const REST_MS = 100;
/** One that goes on as it is. */
const LARGE_CHUNK_BYTES = 1_024;
/** Of an address so many wait, also those that have left meanwhile: a connection is soon opened anew. */
const MAX_RESTING = 32;
/** By address, so that none has others' bodies wait for a crowd of its own. */
const resting = new FairQueue<() => void>(MAX_RESTING);

/** @returns false when too many wait already */
function waitForRest({ remoteAddress = '' }: Socket, goOn: () => void): boolean {
  const isFirst = resting.size === 0;
  if (!resting.add(networkOf(remoteAddress), goOn)) return false;
  if (!isFirst) return true;
  const timer = setInterval(() => {
    resting.take()?.();
    if (resting.size === 0) clearInterval(timer);
  }, REST_MS);
  return true;
}

/**
 * A class of requests, for one application. A chunked body comes in the network's pieces, however small its chunks are: a
 * piece holds ten thousand of one byte, each of which would be an event, and a buffer of its own for as long as the
 * body is read.
 */
export function makeRequestClass(): typeof IncomingMessage {
  return class LeanRequest extends IncomingMessage {
    /** Small ones that came in a row; null for a body that is not chunked. */
    private chunks: Buffer[] | null | undefined;
    /** Small ones of this turn of the event loop. */
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
        // Now: the system gives up to thirty-two pieces in a turn.
        this.socket.pause();
        if (!waitForRest(this.socket, () => this.goOn())) this.socket.destroy();
      }
      return true;
    }

    private endTurn(): void {
      const areMany = this.inTurn >= MANY_CHUNKS;
      this.inTurn = 0;
      if (!areMany) return this.flush();
      // Each is a buffer of its own, ten times as large as what it holds.
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
      // As Node itself does it where more comes than is taken.
      if (!super.push(whole)) this.socket.pause();
    }
  };
}
