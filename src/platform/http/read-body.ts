import type { IncomingMessage, ServerResponse } from 'node:http';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import type { BodyShare, BudgetedRequest } from './body-budget.js';
import { FairQueue } from '../queue/fair-queue.js';
import { UploadPace } from './upload-pace.js';
import { toError } from '../errors/thrown.js';

export interface ReadBodyOptions {
  maxBytes: number;
  /** Inspects the pieces of a large body as they arrive; its error rejects the body. */
  inspector?: BodyInspector;
}

export interface BodyInspector {
  inspect(piece: Buffer): void;
}

/** Larger bodies are read in fair turns, from the start when their length is announced … */
const LARGE_BODY_BYTES = 262_144;
/** … and bodies above this size while many arrive at once. */
const MIDDLING_BODY_BYTES = 65_536;
/** Pieces of large bodies, mostly 64 KB, read before other events are handled. */
const PIECES_AT_ONCE = 2;
/** When more bodies wait, reading pauses … */
const MANY_BODIES = 32;
/** … or when more than these wait while other tenants call … */
const MANY_BESIDE_OTHERS = 4;
/** … for this multiple of the time it worked, which leaves others most of the time. */
const REST_FACTOR = 2;

/** How long Node may drain an unread body after its answer has gone out. */
const UNREAD_BODY_MS = 5_000;
/** How much of an unwanted body is drained; uploads have 25 MB at most. */
const MAX_THROWN_AWAY_BYTES = 32_000_000;

/** Large bodies to read or parse, served fairly by tenant: hundreds of megabytes at once would delay small requests. */
const turns = new FairQueue<() => void>(Infinity);
let areTurnsGiven = false;
/** The share of the latest waiting body; it knows whether other tenants call. */
let latestShare: BodyShare | undefined;
/** Bodies above the smaller size that are arriving now. */
let arriving = 0;

/** The caller disconnected while sending. */
export class CallerGoneError extends Error {
  constructor() {
    super('The caller disconnected.');
    this.name = CallerGoneError.name;
  }
}

/**
 * Reads a request's body into one buffer.
 *
 * @throws InvalidRequestError 413 over the limit, 415 when compressed, 408 when it arrives too slowly
 * @throws OverloadedError 503 when there is no memory for it
 * @throws CallerGoneError when the connection ends early
 */
export async function readBody(
  request: BudgetedRequest,
  { maxBytes, inspector }: ReadBodyOptions,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new InvalidRequestError(
      'content-encoding',
      `Bodies with content-encoding ${JSON.stringify(encoding.slice(0, 40))} are not supported; send it uncompressed.`,
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
      // A complete body is parsed next, which takes longer than reading a piece.
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
 * Drains an unread body, so that clients that read only after sending get the answer. In fair turns, since a hundred
 * rejected bodies cost as much as accepted ones, and only as much as a body may have.
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
 * Limits how long Node drains a body that the handler left unread: callers that still send after their answer lose
 * the connection.
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
 * Makes a complete large body wait for its turn.
 *
 * @param share undefined when the tenant is not known
 * @returns whether it has to wait
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

/** Waits for a turn with a piece of a large body. @param goOn keeps its position when it already waits */
export function waitForTurn(share: BodyShare | undefined, goOn: () => void): void {
  turns.add(share?.tenantId ?? '', goOn);
  latestShare = share;
  if (!areTurnsGiven) setImmediate(giveTurns);
  areTurnsGiven = true;
}

function areMany(bodies: number, share: BodyShare | undefined): boolean {
  return bodies > MANY_BODIES || (bodies > MANY_BESIDE_OTHERS && share?.isBesideOthers === true);
}

/** A reader that has finished meanwhile ignores its turn. */
function giveTurns(): void {
  const rests = areMany(turns.size, latestShare);
  for (let pieces = 0; pieces < PIECES_AT_ONCE; pieces++) turns.take()?.();
  const startedMs = performance.now();
  // By then the pieces have arrived, and complete bodies have been parsed.
  setImmediate(() => {
    areTurnsGiven = turns.size > 0;
    if (!areTurnsGiven) return;
    if (rests) setTimeout(giveTurns, REST_FACTOR * (performance.now() - startedMs));
    else giveTurns();
  });
}

function ignore(): void {}

/** Answers `Expect: 100-continue` only now that the body is wanted. */
export function answerContinue(request: IncomingMessage): void {
  const continuing = request as IncomingMessage & { writeContinue?: () => void };
  continuing.writeContinue?.();
}

function tooLarge(maxBytes: number): InvalidRequestError {
  return new InvalidRequestError('body', `The body is larger than ${formatBytes(maxBytes)}.`, 413);
}

/** Formats bytes in whole megabytes, or kilobytes below one. */
export function formatBytes(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.floor(bytes / 1000)} kB`
    : `${Math.floor(bytes / 1_000_000)} MB`;
}
