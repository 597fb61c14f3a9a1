import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { networkOf, plainAddress } from './network-of.js';

/** Of the files that the process may have open. The rest is for those to vendors, to the database, and for files. */
const FOR_CALLERS = 0.85;
/** With so many of them, one address alone may not have the most. */
const CROWDED = 0.75;
const SAID_EVERY_MS = 60_000;

/**
 * Keeps connections from taking all files that the process may have open: it could call no vendor then. When they become
 * few, an address that has more than half of all connections gets no further ones, so that others still do.
 *
 * @param openFiles how many the process may have open
 */
export function limitConnections(server: Server, openFiles = readOpenFilesLimit()): void {
  if (openFiles === undefined) return;
  const logger = new Logger('Connections');
  const most = Math.floor(openFiles * FOR_CALLERS);
  const crowd = Math.floor(openFiles * CROWDED);
  const networks = new Map<string, number>();
  /** Some come again, as those whose upgrade is declined: with each of their requests. */
  const counted = new WeakSet<Socket>();
  let open = 0;
  let refused = 0;
  let saidMs = -Infinity;

  const sayRefused = (from: string): void => {
    refused++;
    if (Date.now() - saidMs < SAID_EVERY_MS) return;
    saidMs = Date.now();
    logger.warn(
      `${refused} connections were refused, the last from ${from}: ${open} are open, and the process may have ${openFiles} files open. Raise the limit (ulimit -n), or find out who opens so many.`,
    );
    refused = 0;
  };

  server.maxConnections = most;
  server.on('drop', (data) => sayRefused(data?.remoteAddress ?? 'an unknown address'));
  server.on('connection', (socket: Socket) => {
    if (counted.has(socket)) return;
    const network = networkOf(plainAddress(socket.remoteAddress ?? ''));
    const ofNetwork = networks.get(network) ?? 0;
    if (open >= crowd && ofNetwork > open / 2) {
      sayRefused(network);
      socket.destroy();
      return;
    }
    counted.add(socket);
    open++;
    networks.set(network, ofNetwork + 1);
    socket.once('close', () => {
      open--;
      const left = networks.get(network)! - 1;
      if (left > 0) networks.set(network, left);
      else networks.delete(network);
    });
  });
}

/** Where the system tells it in a file, as Linux does. */
function readOpenFilesLimit(): number | undefined {
  try {
    const [, limit] =
      /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}
