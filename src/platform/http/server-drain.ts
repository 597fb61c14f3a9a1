import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/** Event of a response: the service ends before it does, and what is to be told is to be told now. */
export const SERVICE_STOPS = 'serviceStops';

const stopped = new WeakSet<ServerResponse>();

/** Connections that are no HTTP any more. */
const selfClosing = new WeakSet<Socket>();

const CHECK_EVERY_MS = 50;
/** A request may be on its way over a connection that seems to be idle. */
const GRACE_MS = 250;
/** So long answers that are cut have for their last words. */
const LAST_WORDS_MS = 250;
/** So long a caller may take to close its side of a connection. */
const LINGER_MS = 1_000;

interface Connection {
  /** The latest response, if there was one. */
  response: ServerResponse | undefined;
  /** Since when it has nothing to do, as far as is known; on the clock of `performance.now()`. */
  idleSinceMs: number | undefined;
}

/**
 * Lets a server's running answers end before it stops. Callers who keep their connections learn by
 * `Connection: close` that these are of no further use, so that none of their requests meets a closed
 * one. Knows which connections work on an answer, since Node's own `closeIdleConnections` spares those
 * that were opened and have not sent anything yet, and cuts a request that is just arriving.
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

  /** Serves on, but from now on each answer is the last of its connection, so that none is left idle. */
  announce(): void {
    this.isDraining = true;
    for (const { response } of this.connections.values()) {
      if (response) announceEnd(response);
    }
  }

  /**
   * Takes no new connections and waits for the running answers. Those that still run after `limitMs`
   * are told so by `announceStop` and cut a moment later.
   *
   * @param onLimit called first when the time is up
   */
  async drain(limitMs: number, onLimit: () => void = () => undefined): Promise<void> {
    if (!this.server.listening) return;
    this.announce();
    // Not by the HTTP server's own `close`, which cuts whatever is idle at this moment.
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
      // The end first, which takes nothing from a caller who is still reading.
      if (idleMs >= GRACE_MS + LINGER_MS) socket.destroy();
      else if (idleMs >= GRACE_MS && !socket.writableEnded) socket.end();
    }
  }
}

function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}

/** Lets whoever works on a response know that its connection is about to be cut by the service. */
function announceStop(response: ServerResponse): void {
  stopped.add(response);
  response.emit(SERVICE_STOPS);
}

/** Whether the work on a response was broken off by the service, and not by its caller. */
export function isStoppedByService(response: ServerResponse): boolean {
  return stopped.has(response);
}

/** Leaves the end of a connection to whoever has upgraded it; a drain waits for it. */
export function closesByItself(socket: Socket): void {
  selfClosing.add(socket);
}
