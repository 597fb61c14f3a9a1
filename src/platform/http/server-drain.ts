import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/** Event of a response: the service stops before it is complete, and its last words must be sent now. */
export const SERVICE_STOPS = 'serviceStops';

const stopped = new WeakSet<ServerResponse>();

/** Connections that were upgraded. */
const selfClosing = new WeakSet<Socket>();

const CHECK_EVERY_MS = 50;
/** An idle connection may have a request on its way. */
const GRACE_MS = 250;
/** How long cut answers have for their last words. */
const LAST_WORDS_MS = 250;
/** How long a caller may take to close its side of a connection. */
const LINGER_MS = 1_000;

interface Connection {
  /** The latest response, if any. */
  response: ServerResponse | undefined;
  /** Since when it is idle, on the clock of `performance.now()`. */
  idleSinceMs: number | undefined;
}

/**
 * Lets running answers finish before the server stops. `Connection: close` tells callers that keep connections not to
 * reuse them, so that no request meets a closed one. Tracks which connections are busy: Node's
 * `closeIdleConnections` spares connections that have sent nothing yet and cuts a request that is just arriving.
 */
export class ServerDrain {
  private readonly connections = new Map<Socket, Connection>();
  private isDraining = false;

  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.connections.set(socket, { response: undefined, idleSinceMs: undefined });
      socket.once('close', () => this.connections.delete(socket));
    });
    server.prependListener('request', ({ socket }, response) => {
      const connection = this.connections.get(socket);
      if (!connection) return;
      connection.response = response;
      connection.idleSinceMs = undefined;
      if (this.isDraining) announceEnd(response);
    });
  }

  /** Keeps serving, but makes each answer the last of its connection. */
  announce(): void {
    this.isDraining = true;
    for (const { response } of this.connections.values()) {
      if (response) announceEnd(response);
    }
  }

  /**
   * Accepts no new connections and waits for running answers. After `limitMs`, the remaining ones are notified by
   * `announceStop` and cut shortly after.
   *
   * @param onLimit called first when the limit is reached
   */
  async drain(limitMs: number, onLimit: () => void = () => undefined): Promise<void> {
    if (!this.server.listening) return;
    this.announce();
    // Not the HTTP server's own `close`, which cuts connections that are idle at this instant.
    const closed = new Promise<void>((resolve) =>
      NetServer.prototype.close.call(this.server, () => resolve()),
    );
    const idle = setInterval(() => this.closeIdle(), CHECK_EVERY_MS);
    let limit = setTimeout(() => {
      onLimit();
      this.announceStops();
      limit = setTimeout(() => this.server.closeAllConnections(), LAST_WORDS_MS);
    }, limitMs);
    this.closeIdle();
    try {
      await closed;
    } finally {
      clearInterval(idle);
      clearTimeout(limit);
    }
  }

  private announceStops(): void {
    for (const { response } of this.connections.values()) {
      if (response && !response.writableEnded) announceStop(response);
    }
  }

  private closeIdle(): void {
    const nowMs = performance.now();
    for (const [socket, connection] of this.connections) {
      if (selfClosing.has(socket)) continue;
      if (connection.response && !connection.response.writableFinished) continue;
      const idleMs = nowMs - (connection.idleSinceMs ??= nowMs);
      // Ends gracefully first, which takes nothing from a caller that is still reading.
      if (idleMs >= GRACE_MS + LINGER_MS) socket.destroy();
      else if (idleMs >= GRACE_MS && !socket.writableEnded) socket.end();
    }
  }
}

function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

/** Notifies the work on a response that the service is about to cut its connection. */
function announceStop(response: ServerResponse): void {
  stopped.add(response);
  response.emit(SERVICE_STOPS);
}

/** Returns whether the service, not its caller, cut a response. */
export function isStoppedByService(response: ServerResponse): boolean {
  return stopped.has(response);
}

/** Leaves closing a connection to the code that upgraded it; a drain waits for it. */
export function closesByItself(socket: Socket): void {
  selfClosing.add(socket);
}
