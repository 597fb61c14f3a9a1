import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { Socket } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express } from 'express';
import { GatewayError, InvalidRequestError, RateLimitError } from '../errors/gateway-errors.js';
import { FairQueue } from '../queue/fair-queue.js';
import { refuseRequest, type RecordRefusal, isClosing } from './refuse-request.js';

/** How often connections are looked through for those that exceed a time limit; Node's default is 30 s. */
const CHECK_CONNECTIONS_EVERY_MS = 5_000;

/**
 * Connections that may wait to be accepted, as far as the system allows. With Node's 511 the system
 * turned callers away when a busy process had not looked for two seconds.
 */
const MAX_WAITING_CONNECTIONS = 4_096;

/**
 * So many requests may come over one connection in one turn of the event loop, and wait for the answer to the first of them.
 * Node takes whatever one piece of bytes holds of them, which is six hundred, and of whole pieces as many as come.
 */
const MAX_IN_A_ROW = 16;
const TOO_MANY = new RateLimitError(
  'connection',
  `More than ${MAX_IN_A_ROW} requests came over one connection at once. Wait for answers, or use more connections.`,
  1,
  'max_in_a_row_per_connection',
);
/** Those of this turn. */
const arrived = new Map<Socket, number>();
const waiting = new WeakMap<Socket, number>();
/** What the parser takes for a message that ends HTTP. */
const UPGRADED = 2;

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
function makeRequestClass(): typeof http.IncomingMessage {
  return class LeanRequest extends http.IncomingMessage {
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

    /** Node's own way to throw a body away leaves `push` out. */
    _dump(): void {
      this.resume();
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

/**
 * Express gives every request and response its own prototypes with `Object.setPrototypeOf`, which
 * makes V8 treat each later property access as unknown: about 100 µs a request. A server whose
 * classes have those prototypes from the start makes that call a no-op
 * (expressjs/express issue 5998).
 */
export class LeanExpressAdapter extends ExpressAdapter {
  /** Of requests that do not reach the application. */
  recordRefusal: RecordRefusal = () => undefined;
  /** What a request waits for before the application sees it, if for anything; rejected when it is refused or its caller leaves. */
  turnOf: (
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ) => Promise<void> | undefined = () => undefined;

  constructor() {
    const application = express();
    application.disable('x-powered-by');
    application.disable('etag');
    super(application);
  }

  override listen(
    port: string | number,
    ...rest: [(() => void)?] | [string, (() => void)?]
  ): http.Server {
    const [first, second] = rest;
    const host = typeof first === 'string' ? first : undefined;
    const callback = typeof first === 'function' ? first : second;
    const options = { port: Number(port), ...(host && { host }), backlog: MAX_WAITING_CONNECTIONS };
    return this.httpServer.listen(options, callback);
  }

  override initHttpServer(): void {
    const application = this.getInstance<Express>();
    const LeanRequest = makeRequestClass();
    class LeanResponse extends http.ServerResponse {}
    Object.setPrototypeOf(LeanRequest.prototype, application.request);
    Object.setPrototypeOf(LeanResponse.prototype, application.response);
    application.request = LeanRequest.prototype as typeof application.request;
    application.response = LeanResponse.prototype as typeof application.response;
    this.httpServer = http.createServer(
      {
        IncomingMessage: LeanRequest,
        ServerResponse: LeanResponse,
        connectionsCheckingInterval: CHECK_CONNECTIONS_EVERY_MS,
        // Checked below instead: Node's own refusal has neither a request id nor a body.
        requireHostHeader: false,
      },
      (request, response) => {
        if (isOneTooMany(request, response)) return this.cutOff(request);
        if (isClosing(request)) return;
        if (response.socket === null) endWithConnection(request, response);
        if (request.headers.host === undefined && request.httpVersion === '1.1') {
          const error = new InvalidRequestError('host', 'The Host header is missing.');
          refuseRequest(response, error, this.recordRefusal);
          return;
        }
        const turn = this.turnOf(request, response);
        if (turn) void this.enterLater(turn, request, response);
        else application(request, response);
      },
    );
  }

  /** Nobody who means well sends so much in a row, so the answers that are still to come are lost on nobody. */
  private cutOff({ socket, method, url }: http.IncomingMessage): void {
    this.recordRefusal({ requestId: randomUUID(), error: TOO_MANY, method, url });
    stopParsing(socket);
    socket.destroy();
  }

  private async enterLater(
    turn: Promise<void>,
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): Promise<void> {
    try {
      await turn;
    } catch (error) {
      if (error instanceof GatewayError) refuseRequest(response, error, this.recordRefusal);
      return;
    }
    this.getInstance<Express>()(request, response);
  }
}

function isOneTooMany({ socket }: http.IncomingMessage, response: http.ServerResponse): boolean {
  const count = arrived.get(socket) ?? 0;
  if (arrived.size === 0) setImmediate(() => arrived.clear());
  arrived.set(socket, count + 1);
  if (count >= MAX_IN_A_ROW) return true;
  return response.socket === null && (waiting.get(socket) ?? 0) >= MAX_IN_A_ROW;
}

/**
 * Of a response that waits until those before it have left over the same connection, Node does not
 * say that the connection has ended: nobody would give back what the request has taken.
 */
function endWithConnection({ socket }: http.IncomingMessage, response: http.ServerResponse): void {
  const onClose = (): void => {
    if (response.socket !== null || response.writableFinished) return;
    response.destroy();
    response.emit('close');
  };
  // One for each that waits.
  socket.setMaxListeners(0);
  socket.once('close', onClose);
  waiting.set(socket, (waiting.get(socket) ?? 0) + 1);
  response.once('close', () => {
    socket.off('close', onClose);
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
  });
}

/**
 * The rest of the bytes that are being parsed holds hundreds of requests more. To take what comes for another protocol
 * is the one way in which Node's parser, which it does not document, stops amid them.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { parser?: { onIncoming?: () => number } | null };
  if (parser?.onIncoming) parser.onIncoming = () => UPGRADED;
}
