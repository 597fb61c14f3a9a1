import type { Server } from 'node:http';

const CHECK_EVERY_MS = 50;

/**
 * Takes no new connections and waits for the running answers, at most `limitMs`; what still runs
 * then is cut. Connections kept alive without a request are closed as they fall idle.
 */
export async function drainServer(server: Server, limitMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), CHECK_EVERY_MS);
  const limit = setTimeout(() => server.closeAllConnections(), limitMs);
  server.closeIdleConnections();
  try {
    await closed;
  } finally {
    clearInterval(idle);
    clearTimeout(limit);
  }
}
