import { once } from 'node:events';
import type { Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const TRIES = 300;
const PAUSE_MS = 50;

/**
 * Listens on a loopback port, 0 for any. One that was given up before may be in use by then, for a
 * connection that another process has made: that ends, and is waited for.
 */
export async function listenAgain(server: Server, port: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || tries === TRIES) throw error;
      await wait(PAUSE_MS);
    }
  }
}
