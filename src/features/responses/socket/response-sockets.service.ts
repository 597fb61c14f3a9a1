import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type WebSocket, WebSocketServer } from 'ws';
import { readPresentedKey } from '../../../core/access/api-key.guard.js';
import type { Caller } from '../../../core/access/caller.js';
import { FairStarts } from '../../../core/access/fair-starts.js';
import { InFlightLimiter } from '../../../core/access/in-flight-limiter.js';
import { KeyDirectory } from '../../../core/access/key-directory.service.js';
import { WrongKeys } from '../../../core/access/wrong-keys.js';
import { gatewayErrorOf } from '../../../platform/database/database-outage.js';
import {
  AuthenticationError,
  GatewayError,
  PermissionError,
} from '../../../platform/errors/gateway-errors.js';
import { BodyBudget } from '../../../platform/http/body-budget.js';
import { declineUpgrade } from '../../../platform/http/inner-request.js';
import { LeanExpressAdapter } from '../../../platform/http/lean-express.adapter.js';
import { CallerGoneError } from '../../../platform/http/read-body.js';
import { refuseRequest } from '../../../platform/http/refuse-request.js';
import { closesByItself } from '../../../platform/http/server-drain.js';
import { GOING_AWAY, POLICY_VIOLATION, ResponseSocket } from './response-socket.js';

const PATHS: ReadonlySet<string> = new Set(['/v1/responses', '/api/v1/responses']);
/** Equals the body limit. */
const MAX_MESSAGE_BYTES = 20_000_000;
/** Shorter than the time within which a revoked key must stop working. */
const LOOK_EVERY_MS = 500;
/** A socket that misses this many checks in a row is dead. */
const LOOKS_PER_PING = 60;
const LONGEST_MS = 60 * 60 * 1_000;

interface Open {
  readonly web: WebSocket;
  readonly responses: ResponseSocket;
  readonly key: string;
  readonly openedMs: number;
  isAlive: boolean;
  isClosing: boolean;
}

/**
 * Responses over WebSockets. The key is checked at the upgrade and while the socket is open. An
 * idle socket counts as one open request, and each answer as a normal request.
 */
@Injectable()
export class ResponseSockets implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(ResponseSockets.name);
  private readonly sockets = new Set<Open>();
  private readonly upgrades = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    // Allows the largest message in fragments of 16 KB, since each fragment has overhead.
    maxFragments: 2_048,
    perMessageDeflate: false,
    // Handles one message per event loop turn, however many arrive at once.
    allowSynchronousEvents: false,
    clientTracking: false,
  });
  private looks = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly directory: KeyDirectory,
    private readonly wrongKeys: WrongKeys,
    private readonly inFlight: InFlightLimiter,
    private readonly starts: FairStarts,
    private readonly bodies: BodyBudget,
  ) {}

  onApplicationBootstrap(): void {
    const { server } = this;
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      const [path = ''] = (request.url ?? '').split('?', 1);
      const isWanted = request.headers.upgrade?.toLowerCase() === 'websocket' && PATHS.has(path);
      if (!isWanted) return declineUpgrade(server, request, socket, head);
      void this.open(request, socket, head, path);
    });
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    for (const { web } of this.sockets) web.terminate();
  }

  private get server(): Server {
    return this.host.httpAdapter.getHttpServer() as Server;
  }

  private async open(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    path: string,
  ): Promise<void> {
    const drop = (): void => void socket.destroy();
    socket.on('error', drop);
    try {
      const { key, caller } = await this.authenticate(request);
      await this.starts.waitForTurn(caller.tenantId, socket);
      this.inFlight.admit(caller, socket);
      closesByItself(socket);
      socket.off('error', drop);
      this.upgrades.handleUpgrade(request, socket, head, (web) => {
        this.add(web, key, request, socket, path, caller);
      });
    } catch (error) {
      if (error instanceof CallerGoneError) return;
      if (!(error instanceof GatewayError)) this.logger.error(error);
      this.refuse(request, socket, gatewayErrorOf(error));
    }
  }

  /** @throws GatewayError like the guard of other requests */
  private async authenticate(request: IncomingMessage): Promise<{ key: string; caller: Caller }> {
    let key: string;
    try {
      key = readPresentedKey(request.headers, false);
    } catch (error) {
      this.wrongKeys.note(request);
      throw error;
    }
    const resolved = await this.directory.resolve(key);
    if (resolved?.status !== 'active') {
      this.wrongKeys.note(request);
      throw new AuthenticationError('The API key is unknown, expired or revoked. Use another key.');
    }
    const { caller } = resolved;
    if (caller.keyType === 'routing') return { key, caller };
    throw new PermissionError(
      'A management key (sk-mgmt-…) cannot call models. Use a routing key (sk-…).',
    );
  }

  private add(
    web: WebSocket,
    key: string,
    { headers }: IncomingMessage,
    raw: Socket,
    path: string,
    { tenantId }: Caller,
  ): void {
    const bodies = this.bodies.shareOf(tenantId);
    const responses = new ResponseSocket(web, {
      server: this.server,
      path,
      headers,
      raw,
      bodies,
    });
    const openedMs = performance.now();
    const open: Open = { web, responses, key, openedMs, isAlive: true, isClosing: false };
    this.sockets.add(open);
    this.timer ??= setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
    web.on('pong', () => (open.isAlive = true));
    web.once('close', () => this.remove(open));
  }

  private remove(open: Open): void {
    this.sockets.delete(open);
    if (this.sockets.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async look(): Promise<void> {
    const isPing = ++this.looks % LOOKS_PER_PING === 0;
    const isStopping = !this.server.listening;
    for (const open of this.sockets) {
      const { web, responses, openedMs } = open;
      if (open.isClosing) continue;
      if (!(await this.isActive(open)))
        close(open, POLICY_VIOLATION, 'the API key is no longer valid');
      else if (responses.isBusy) continue;
      else if (isStopping) close(open, GOING_AWAY, 'the service is shutting down');
      else if (performance.now() - openedMs > LONGEST_MS)
        close(open, GOING_AWAY, 'open for an hour');
      else if (isPing && !open.isAlive) web.terminate();
      else if (isPing) {
        open.isAlive = false;
        web.ping();
      }
    }
  }

  /** A database outage says nothing about a key. */
  private async isActive({ key }: Open): Promise<boolean> {
    try {
      return (await this.directory.resolve(key))?.status === 'active';
    } catch {
      return true;
    }
  }

  private refuse(request: IncomingMessage, socket: Socket, error: GatewayError): void {
    const { httpAdapter } = this.host;
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    response.once('finish', () => socket.end(() => socket.destroy()));
    const { retryAfterSeconds } = error;
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds);
    const record =
      httpAdapter instanceof LeanExpressAdapter ? httpAdapter.recordRefusal : () => undefined;
    refuseRequest(response, error, record);
  }
}

function close(open: Open, code: number, reason: string): void {
  open.isClosing = true;
  open.responses.close(code, reason);
}
