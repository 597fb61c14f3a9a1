import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { FairQueue } from '../queue/fair-queue.js';
import { throwRestAway } from './read-body.js';

/** Of bodies with so many chunks in a piece, one piece is taken at a time … */
const MANY_CHUNKS = 256;
/** … and so long after another: Node's parser takes ten milliseconds for ten thousand. */
const REST_MS = 100;
/** One that goes on as it is. */
const LARGE_CHUNK_BYTES = 1_024;
/** By address, so that none has others' bodies wait for a crowd of its own. */
const resting = new FairQueue<() => void>(Infinity);

function waitForRest({ remoteAddress = '' }: Socket, goOn: () => void): void {
  const isFirst = resting.size === 0;
  resting.add(remoteAddress, goOn);
  if (!isFirst) return;
  const timer = setInterval(() => {
    resting.take()?.();
    if (resting.size === 0) clearInterval(timer);
  }, REST_MS);
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
      // Now: the system gives up to thirty-two pieces in a turn.
      if (this.inTurn === MANY_CHUNKS) this.socket.pause();
      return true;
    }

    /** Node's own way to throw a body away, once its answer has left, leaves `push` out, and reads whatever comes. */
    _dump(): void {
      if (this.complete) this.resume();
      else throwRestAway(this);
    }

    private endTurn(): void {
      const areMany = this.inTurn >= MANY_CHUNKS;
      this.inTurn = 0;
      if (!areMany) return this.flush();
      waitForRest(this.socket, () => {
        this.flush();
        this.socket.resume();
      });
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
