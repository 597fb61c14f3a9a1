import type { IncomingMessage, ServerResponse } from 'node:http';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import type { BodyShare, BudgetedRequest } from './body-budget.js';
import { FairQueue } from '../queue/fair-queue.js';
import { UploadPace } from './upload-pace.js';
import { toError } from '../errors/thrown.js';

export interface ReadBodyOptions {
  maxBytes: number;
  /** Looks at the pieces of a large body as they come; what it throws refuses the body. */
  inspector?: BodyInspector;
}

export interface BodyInspector {
  inspect(piece: Buffer): void;
}

/** What is larger is read piece by piece, in turns, from the first on where its length is known … */
const LARGE_BODY_BYTES = 262_144;
/** … and what is larger than this as well, while many such bodies arrive at once. */
const MIDDLING_BODY_BYTES = 65_536;
/** How many pieces of large bodies, of 64 KB mostly, are read before others' events are looked at. */
const PIECES_AT_ONCE = 2;
/** When more than these wait, reading rests … */
const MANY_BODIES = 32;
/** … or than these, while other tenants call as well … */
const MANY_BESIDE_OTHERS = 4;
/** … for so many times as long as it worked: the others get the larger part of the time. */
const REST_FACTOR = 2;

/** How long Node may drain an unread body after its answer has gone out. */
const UNREAD_BODY_MS = 5_000;
/** The most of an unwanted body that is read; uploads have 25 MB at most. */
const MAX_THROWN_AWAY_BYTES = 32_000_000;

/**
 * Large bodies of which there is more to read or to parse. They take turns, tenant by tenant: hundreds
 * of megabytes at once would leave the small requests of others waiting.
 */
const turns = new FairQueue<() => void>(Infinity);
let areTurnsGiven = false;
/** Of whoever came last to wait: it knows whether other tenants call. */
let latestShare: BodyShare | undefined;
/** Bodies over the smaller size that are being read just now. */
let arriving = 0;

/** The caller hung up while sending; there is nobody left to answer. */
export class CallerGoneError extends Error {
  constructor() {
    super('The caller went away.');
    this.name = CallerGoneError.name;
  }
}

/**
 * Reads a request's body into one buffer.
 *
 * @throws InvalidRequestError 413 over the limit, 415 when compressed, 408 when it drips in too slowly
 * @throws OverloadedError 503 when there is no memory for it
 * @throws CallerGoneError when the connection ends half-way
 */
export async function readBody(
  request: BudgetedRequest,
  { maxBytes, inspector }: ReadBodyOptions,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new InvalidRequestError(
      'content-encoding',
      `Bodies with content-encoding ${JSON.stringify(encoding.slice(0, 40))} are not taken; send it uncompressed.`,
      415,
    );
  }
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) {
    throwRestAway(request);
    throw tooLarge(maxBytes);
  }
  if (request.destroyed) throw new CallerGoneError();
  answerContinue(request);
  const share = request.bodyShare;
  const lease = share?.lease(request.res);
  if (lease) request.bodyLease = lease;

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    let inspected = 0;
    const pace = new UploadPace((error) => fail(error));

    let isCounted = false;
    const readOn = (): void => void request.resume();
    const isOneOfMany = (): boolean => isCounted && areMany(arriving, share);
    const onData = (chunk: Buffer): void => {
      received += chunk.length;
      pace.note(chunk.length);
      if (!isCounted && received > MIDDLING_BODY_BYTES) {
        isCounted = true;
        arriving++;
      }
      if (received > maxBytes) return fail(tooLarge(maxBytes));
      try {
        lease?.add(chunk.length);
        chunks.push(chunk);
        if (inspector && received > LARGE_BODY_BYTES) {
          for (; inspected < chunks.length; inspected++) inspector.inspect(chunks[inspected]!);
        }
        if (received > LARGE_BODY_BYTES || isOneOfMany()) pauseForTurn(request, readOn);
      } catch (error) {
        fail(toError(error));
      }
    };
    const giveWhole = (): void => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    const onEnd = (): void => {
      // What is whole is parsed next, which takes longer than to read a piece.
      const waits = isOneOfMany();
      finish(() => (waits ? waitForTurn(share, giveWhole) : giveWhole()));
    };
    const onGone = (): void => fail(new CallerGoneError());
    const fail = (error: Error): void => {
      chunks.length = 0;
      lease?.release();
      finish(() => reject(error));
    };
    const finish = (outcome: () => void): void => {
      pace.stop();
      if (isCounted) arriving--;
      isCounted = false;
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      if (!request.readableEnded) throwRestAway(request);
      outcome();
    };
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
    if (announced > LARGE_BODY_BYTES) pauseForTurn(request, readOn);
  });
}

/**
 * So that a sender who only reads afterwards gets our answer. In turns as well: a hundred refused
 * bodies at once would keep the others waiting as long as a hundred that are taken. And only as much as a body may have: who
 * goes on sends it for nothing.
 */
export function throwRestAway(request: BudgetedRequest): void {
  const readOn = (): void => void request.resume();
  let leftBytes = MAX_THROWN_AWAY_BYTES;
  request
    .on('error', ignore)
    .on('data', (piece: Buffer) => {
      leftBytes -= piece.length;
      if (leftBytes < 0) request.socket.destroy();
      else pauseForTurn(request, readOn);
    })
    .resume();
}

/**
 * Bounds the time in which Node drains a body that the handler left unread: callers that still send when
 * their answer has gone out lose the connection.
 */
export function limitUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { headers, socket } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return;
  response.once('finish', () => {
    if (request.complete) return;
    const cut = setTimeout(() => socket.destroy(), UNREAD_BODY_MS).unref();
    request.once('close', () => clearTimeout(cut));
  });
}

function pauseForTurn(request: BudgetedRequest, readOn: () => void): void {
  request.pause();
  waitForTurn(request.bodyShare, readOn);
}

/**
 * Has what is large, and whole already, wait for its turn among bodies of its size.
 *
 * @param share whose it is; undefined where that is not known
 * @returns whether it has to
 */
export function waitsForTurn(
  bytes: number,
  share: BodyShare | undefined,
  goOn: () => void,
): boolean {
  if (bytes <= LARGE_BODY_BYTES) return false;
  waitForTurn(share, goOn);
  return true;
}

/** For a piece of what is large. @param goOn one that waits already keeps its turn */
export function waitForTurn(share: BodyShare | undefined, goOn: () => void): void {
  turns.add(share?.tenantId ?? '', goOn);
  latestShare = share;
  if (!areTurnsGiven) setImmediate(giveTurns);
  areTurnsGiven = true;
}

function areMany(bodies: number, share: BodyShare | undefined): boolean {
  return bodies > MANY_BODIES || (bodies > MANY_BESIDE_OTHERS && share?.isBesideOthers === true);
}

/** Whose reading has ended meanwhile has no more use for its turn, and no harm from it. */
function giveTurns(): void {
  const rests = areMany(turns.size, latestShare);
  for (let pieces = 0; pieces < PIECES_AT_ONCE; pieces++) turns.take()?.();
  const startedMs = performance.now();
  // By then the pieces have come, and what was whole with them has been parsed.
  setImmediate(() => {
    areTurnsGiven = turns.size > 0;
    if (!areTurnsGiven) return;
    if (rests) setTimeout(giveTurns, REST_FACTOR * (performance.now() - startedMs));
    else giveTurns();
  });
}

function ignore(): void {}

/** `Expect: 100-continue`: the sender waits for a word before it sends, which only now makes sense. */
export function answerContinue(request: IncomingMessage): void {
  const continuing = request as IncomingMessage & { writeContinue?: () => void };
  continuing.writeContinue?.();
}

function tooLarge(maxBytes: number): InvalidRequestError {
  return new InvalidRequestError('body', `The body is larger than ${formatBytes(maxBytes)}.`, 413);
}

/** In whole megabytes, or kilobytes where that is less than one. */
export function formatBytes(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.floor(bytes / 1000)} kB`
    : `${Math.floor(bytes / 1_000_000)} MB`;
}
