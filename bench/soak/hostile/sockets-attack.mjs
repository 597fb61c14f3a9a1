import { once } from 'node:events';
import net from 'node:net';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { atMost, seconds } from '../table.mjs';

const SOCKETS = 50;
const CLOSED_WITHIN_SECONDS = 3;
const WATCHED_SECONDS = 10;
const PIECE = 'x'.repeat(4_096);
const PIECE_EVERY_MS = 250;

/** Unauthenticated callers that keep their connections after a 401. */
export const socketsAttack = {
  id: 'sockets',
  before: {
    'idle connections stay open after their 401': '10.0 s',
    'slow bodies stay open after their 401': '10.0 s',
    "the neighbour's p99": '50 ms',
    'the process': 'lives',
  },
  async run(stronghold) {
    const idle = 'GET /v1/models HTTP/1.1\r\nhost: a\r\nauthorization: Bearer sk-wrong-1\r\n\r\n';
    const slow =
      'POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer sk-wrong-1\r\n' +
      'content-type: application/json\r\ncontent-length: 19000000\r\n\r\n{';
    const [idleMost, slowMost] = await Promise.all([
      longestOf(stronghold, (socket) => socket.write(idle)),
      longestOf(stronghold, (socket) => {
        socket.write(slow);
        const timer = setInterval(() => socket.write(PIECE), PIECE_EVERY_MS);
        socket.on('close', () => clearInterval(timer));
      }),
    ]);
    const line = (what, value) => atMost(what, value, CLOSED_WITHIN_SECONDS, seconds);
    return [
      line('idle connections stay open after their 401', idleMost),
      line('slow bodies stay open after their 401', slowMost),
    ];
  },
};

/** Returns how long the longest of some connections stays open after its response, in seconds. */
async function longestOf({ url }, begin) {
  const { hostname, port } = new URL(url);
  const times = await Promise.all(
    Array.from({ length: SOCKETS }, async () => {
      const socket = net.connect({ host: hostname, port: Number(port) });
      socket.on('error', () => undefined);
      const closed = once(socket, 'close');
      begin(socket);
      // Repeated wrong keys may get a delayed response, or only a closed connection.
      await Promise.race([once(socket, 'data'), closed, wait(WATCHED_SECONDS * 1000)]);
      const answeredAtMs = Date.now();
      socket.resume();
      await Promise.race([closed, wait(WATCHED_SECONDS * 1000)]);
      socket.destroy();
      return Date.now() - answeredAtMs;
    }),
  );
  return Math.max(...times) / 1000;
}
