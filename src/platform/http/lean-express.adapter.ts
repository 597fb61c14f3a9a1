import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express } from 'express';
import { GatewayError, InvalidRequestError } from '../errors/gateway-errors.js';
import { limitConnections } from './connection-limit.js';
import { makeRequestClass } from './gathered-chunks.js';
import { limitUnreadBody } from './read-body.js';
import { refuseRequest, type RecordRefusal, isClosing } from './refuse-request.js';
import { endWithConnection, isOneTooMany, TOO_MANY } from './requests-in-a-row.js';

/** How often connections are checked for exceeded time limits; Node's default is 30 s. */
const CHECK_CONNECTIONS_EVERY_MS = 5_000;

/** The accept backlog, as far as the system allows. With Node's 511 the system rejected callers when the process was busy for two seconds. */
const MAX_WAITING_CONNECTIONS = 4_096;

/**
 * Avoids `Object.setPrototypeOf` per request: Express gives every request and response its own prototypes, after which V8
 * treats each property access as unknown, about 100 µs a request. Classes that have those prototypes from the
 * start make that call a no-op (expressjs/express issue 5998).
 */
export class LeanExpressAdapter extends ExpressAdapter {
  /** Records requests that do not reach the application. */
  recordRefusal: RecordRefusal = () => undefined;
  /** Delays a request before the application sees it; rejects when it is refused or its caller leaves. */
  turnOf: (
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ) => Promise<void> | undefined = () => undefined;

  constructor() {
    const application = express();
    application.disable('x-powered-by');
    application.disable('etag');
    // A proxy that blocks a path must block every spelling of it.
    application.enable('case sensitive routing');
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

  /** Nest would compile each path only to validate it; Express compiles it anyway and reports errors. */
  override normalizePath(path: string): string {
    return path;
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
        // Checked below: Node's own error has neither a request id nor a body.
        requireHostHeader: false,
      },
      (request, response) => {
        // Node parses the rest of a segment even after its connection was destroyed.
        if (request.socket.destroyed) return;
        if (isOneTooMany(request, response)) return this.cutOff(request);
        limitUnreadBody(request, response);
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
    limitConnections(this.httpServer);
  }

  /** No well-behaved client pipelines this much, so the pending answers are dropped. */
  private cutOff({ socket, method, url }: http.IncomingMessage): void {
    this.recordRefusal({ requestId: randomUUID(), error: TOO_MANY, method, url });
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
