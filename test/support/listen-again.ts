import { once } from 'node:events';
import type { Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const TRIES = 300;
const PAUSE_MS = 50;

/**
 * Listens on a loopback port; 0 picks a free one. Waits when another process's outgoing connection has
 * taken the port meanwhile.
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
