import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { type RawData, WebSocket } from 'ws';
import {
  ConflictError,
  GatewayError,
  InternalError,
  InvalidRequestError,
} from '../../../platform/errors/gateway-errors.js';
import type { BodyShare } from '../../../platform/http/body-budget.js';
import { sendInnerRequest } from '../../../platform/http/inner-request.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { waitsForTurn } from '../../../platform/http/read-body.js';
import { SseFrameBuffer } from '../../../platform/http/sse-frame-buffer.js';
import { topLevelMembers, spliceMembers } from '../../../platform/http/top-level-members.js';
import { UnstoredTurns } from './unstored-turns.js';

const MAX_EVENT_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 256 * 1024;
/** Pauses the answer when this much is unsent. */
const LAGGING_BYTES = 1024 * 1024;
/** Closes the socket when the reader accepts nothing for this long. */
const STALLED_MS = 60_000;
/** Closes the socket after this many consecutive rejections, since they cost the sender nothing. */
const MAX_REFUSALS = 100;
/** How long the caller has to close its side. */
const LINGER_MS = 1_000;
const DATA = 'data: ';
/** The last event of an answer that can be continued. */
const LAST_EVENT = /^event: response\.(?:completed|incomplete)$/;

/** WebSocket close codes. */
export const GOING_AWAY = 1001;
export const POLICY_VIOLATION = 1008;

/** Headers of the upgrade that apply to each request. */
const PASSED =
  /^(?:authorization|host|user-agent|x-forwarded-for|traceparent|tracestate|x-gateway-.*)$/;

export interface SocketSurroundings {
  readonly server: Server;
  /** Target path, such as `/v1/responses`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Socket;
  readonly bodies: BodyShare;
}

/**
 * A caller's socket. Each `response.create` message becomes an internal request, and its events
 * are sent back as messages. One answer at a time.
 */
export class ResponseSocket {
  private answer: { destroy(): void } | undefined;
  private stalled: NodeJS.Timeout | undefined;
  /** Consecutive rejections. */
  private refusals = 0;
  private readonly unstored: UnstoredTurns;
  /** Memory of the incoming message. */
  private lease: ReturnType<BodyShare['lease']>;
  private arrivedBytes = 0;
  private readonly readOn = (): void => this.socket.resume();

  constructor(
    private readonly socket: WebSocket,
    private readonly surroundings: SocketSurroundings,
  ) {
    this.lease = surroundings.bodies.lease(undefined);
    this.unstored = new UnstoredTurns(surroundings.bodies);
    const count = ({ length }: Buffer): void => this.count(length);
    surroundings.raw.on('data', count);
    socket.on('message', (data, isBinary) => this.receive(data, isBinary));
    socket.on('error', () => socket.terminate());
    socket.once('close', () => {
      surroundings.raw.off('data', count);
      this.lease.release();
      this.unstored.forget();
      this.end();
    });
  }

  get isBusy(): boolean {
    return this.answer !== undefined;
  }

  /** Interrupts the current answer. */
  close(code: number, reason: string): void {
    this.end();
    this.socket.close(code, reason);
    setTimeout(() => this.socket.terminate(), LINGER_MS).unref();
  }

  /**
   * Reserves memory while a message arrives, and reads large messages under fair scheduling, like
   * bodies.
   */
  private count(bytes: number): void {
    this.arrivedBytes += bytes;
    try {
      this.lease.add(bytes);
      if (waitsForTurn(this.arrivedBytes, this.surroundings.bodies, this.readOn))
        this.socket.pause();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.fail(error);
      this.close(POLICY_VIOLATION, 'no memory for the message');
    }
  }

  private receive(data: RawData, isBinary: boolean): void {
    // Messages can still arrive after closing.
    if (this.socket.readyState !== WebSocket.OPEN) return;
    const { bodies } = this.surroundings;
    const message = this.lease;
    this.lease = bodies.lease(undefined);
    this.arrivedBytes = 0;
    try {
      if (isBinary)
        throw new InvalidRequestError('body', 'Send text messages, not binary messages.');
      if (this.answer) {
        throw new ConflictError('type', 'A response is in progress. Wait for its last event.');
      }
    } catch (error) {
      message.release();
      return this.refuse(error);
    }
    const bytes = bytesOf(data);
    const waiting = { destroy: () => message.release() };
    const begin = (): void => {
      if (this.answer !== waiting) return;
      this.answer = undefined;
      message.release();
      try {
        this.ask(this.unstored.expand(toBody(bytes)));
      } catch (error) {
        this.refuse(error);
      }
    };
    this.answer = waiting;
    if (!waitsForTurn(bytes.length, bodies, begin)) begin();
  }

  private ask(body: Buffer): void {
    const { server, path, raw, headers } = this.surroundings;
    const passed = Object.entries(headers).filter(([name]) => PASSED.test(name));
    const answer = sendInnerRequest(
      server,
      {
        method: 'POST',
        path,
        headers: { ...Object.fromEntries(passed), 'content-type': 'application/json' },
        body,
        socket: raw,
      },
      (response) =>
        this.relay(response, () => {
          if (this.answer === answer) this.answer = undefined;
        }),
      () => this.abandon(answer),
    );
    this.answer = answer;
  }

  private relay(response: IncomingMessage, finish: () => void): void {
    response.once('error', finish);
    if (response.statusCode !== 200) return this.relayError(response, finish);
    this.refusals = 0;
    const frames = new SseFrameBuffer(MAX_EVENT_BYTES);
    response.on('data', (chunk: Buffer) => {
      const whole = frames.push(chunk);
      if (!whole) return;
      let isLast = false;
      for (const line of whole.toString('utf8').split('\n')) {
        if (LAST_EVENT.test(line)) isLast = true;
        if (!line.startsWith(DATA)) continue;
        const data = line.slice(DATA.length);
        if (isLast) this.unstored.complete(data);
        this.socket.send(data);
      }
      if (this.socket.bufferedAmount > LAGGING_BYTES) this.waitForReader(response);
    });
    response.once('end', finish);
  }

  /** Sends a rejected request's error as an event. */
  private relayError(response: IncomingMessage, finish: () => void): void {
    const pieces: Buffer[] = [];
    let size = 0;
    response.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= MAX_ERROR_BYTES) pieces.push(piece);
    });
    response.once('end', () => {
      const retryAfter = response.headers['retry-after'];
      this.tell(response.statusCode ?? 500, errorOf(Buffer.concat(pieces)), retryAfter);
      finish();
    });
  }

  private waitForReader(response: IncomingMessage): void {
    response.pause();
    this.stalled ??= setTimeout(() => this.socket.terminate(), STALLED_MS);
    // Called once everything before it has been sent.
    this.socket.ping(undefined, undefined, () => {
      clearTimeout(this.stalled);
      this.stalled = undefined;
      response.resume();
    });
  }

  /** @throws errors other than rejections */
  private refuse(error: unknown): void {
    if (!(error instanceof GatewayError)) throw error;
    this.fail(error);
  }

  private fail(error: GatewayError): void {
    const { type, message, param } = error;
    this.tell(error.status, { type, message, param }, error.retryAfterSeconds);
  }

  /** Maps the status to the dialect's codes, which clients rely on. */
  private tell(status: number, error: JsonObject, retryAfter?: string | number): void {
    const code = CODES[`${status} ${String(error.param)}`] ?? error.type;
    const headers = retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } };
    this.socket.send(
      JSON.stringify({ type: 'error', status, error: { ...error, code }, ...headers }),
    );
    if (++this.refusals >= MAX_REFUSALS) this.close(POLICY_VIOLATION, 'too many rejected messages');
  }

  /** The internal connection failed, so the outcome is unknown. */
  private abandon(answer: { destroy(): void }): void {
    if (this.answer !== answer) return;
    this.answer = undefined;
    this.fail(new InternalError());
  }

  private end(): void {
    const { answer } = this;
    this.answer = undefined;
    clearTimeout(this.stalled);
    answer?.destroy();
  }
}

const CODES: Readonly<Record<string, string>> = {
  '404 previous_response_id': 'previous_response_not_found',
  '409 type': 'response_already_in_flight',
};

/** Returns the request body of a message. @throws InvalidRequestError */
function toBody(bytes: Buffer): Buffer {
  const members = topLevelMembers(bytes);
  const valueOf = (name: string): string | undefined => {
    const member = members.findLast(({ key }) => key === name);
    return member && bytes.toString('utf8', member.valueStart, member.valueEnd);
  };
  const type = valueOf('type');
  if (type !== '"response.create"') {
    throw new InvalidRequestError(
      'type',
      'A message must be a JSON object of the type "response.create".',
    );
  }
  if (valueOf('background') === 'true') {
    throw new InvalidRequestError(
      'background',
      'Create background responses with POST /v1/responses, not over a socket.',
    );
  }
  if (valueOf('generate') === 'false') {
    throw new InvalidRequestError(
      'generate',
      'Warm-up is not supported. Remove `generate` and send the turn itself.',
    );
  }
  return spliceMembers(
    bytes,
    members,
    new Map([
      ['type', undefined],
      ['generate', undefined],
      ['background', undefined],
      ['stream', 'true'],
    ]),
  );
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

function errorOf(body: Buffer): JsonObject {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    if (isJsonObject(parsed) && isJsonObject(parsed.error)) return parsed.error;
  } catch {
    // Not JSON: nothing of it is worth telling.
  }
  const { type, message, param } = new InternalError();
  return { type, message, param };
}
