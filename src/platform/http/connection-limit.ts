import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { networkOf, plainAddress } from './network-of.js';

/** The share of the process's file descriptors for callers. The rest serves vendors, the database and files. */
const FOR_CALLERS = 0.85;
/** From this share on, no address may hold most of the connections. */
const CROWDED = 0.75;
const SAID_EVERY_MS = 60_000;

/**
 * Keeps callers' connections from exhausting the file descriptors, without which no vendor can be called. When they
 * become scarce, an address that holds over half of all connections gets no more.
 *
 * @param openFiles the process's limit of open files
 */
export function limitConnections(server: Server, openFiles = readOpenFilesLimit()): void {
  if (openFiles === undefined) return;
  const logger = new Logger('Connections');
  const most = Math.floor(openFiles * FOR_CALLERS);
  const crowd = Math.floor(openFiles * CROWDED);
  const networks = new Map<string, number>();
  /** Some sockets appear again with each request, such as those whose upgrade was declined. */
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

/** Reads the limit from the file that Linux provides. */
function readOpenFilesLimit(): number | undefined {
  try {
    const [, limit] =
      /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}
