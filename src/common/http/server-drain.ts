import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const CHECK_EVERY_MS = 50;
/** A request may be on its way over a connection that has not brought one yet. */
const GRACE_MS = 250;

/**
 * Lets a server's running answers end before it stops. Knows which connections work on one, since
 * Node's own `closeIdleConnections` spares those that were opened and have not sent anything yet.
 */
export class ServerDrain {
  /** Every open connection with its latest response, if it had one. */
  private readonly connections = new Map<Socket, ServerResponse | undefined>();

  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.connections.set(socket, undefined);
      socket.once('close', () => this.connections.delete(socket));
    });
    server.prependListener('request', (request, response) => {
      this.connections.set(request.socket, response);
    });
  }

  /** Takes no new connections and waits for the running answers; after `limitMs` cuts what still runs. */
  async drain(limitMs: number): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    const startedMs = performance.now();
    const closeIdle = (): void => this.closeIdle(performance.now() - startedMs > GRACE_MS);
    const idle = setInterval(closeIdle, CHECK_EVERY_MS);
    const limit = setTimeout(() => this.server.closeAllConnections(), limitMs);
    closeIdle();
    try {
      await closed;
    } finally {
      clearInterval(idle);
      clearTimeout(limit);
    }
  }

  private closeIdle(unusedToo: boolean): void {
    for (const [socket, response] of this.connections) {
      const isIdle = response === undefined ? unusedToo : response.writableFinished;
      if (isIdle) socket.destroy();
    }
  }
}
