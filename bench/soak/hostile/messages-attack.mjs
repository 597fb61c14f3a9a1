import { randomBytes } from 'node:crypto';
import { megabytes } from '../../lines.mjs';
import { readMemory, watchMemory } from '../memory.mjs';
import { atMost, told } from '../table.mjs';
import { floodOn } from './flood-connection.mjs';

const SOCKETS = 8;
const LASTS_MS = 6_000;
const MEMORY_EVERY_MS = 100;
const MAX_GROWTH_BYTES = 200e6;
const WRITTEN_AT_ONCE = 64_000;

/**
 * One key opens WebSockets and sends invalid messages over them without a pause. It leaves the refusals of
 * half of them unread, and reopens closed ones.
 */
export const messagesAttack = {
  id: 'messages',
  before: {
    'memory that they take': '142 MB',
    "the neighbour's p99": '8291 ms',
    'the process': 'lives',
  },
  async run(stronghold) {
    const atRest = readMemory(stronghold);
    const untilMs = Date.now() + LASTS_MS;
    const watch = watchMemory(stronghold, MEMORY_EVERY_MS);
    const start = upgradeOf(stronghold.keys.attacker);
    const piece = Buffer.concat(
      Array.from({ length: WRITTEN_AT_ONCE / REFUSED.length }, () => REFUSED),
    );
    const opened = await Promise.all(
      Array.from({ length: SOCKETS }, (_, index) =>
        floodOn(stronghold, { start, piece, untilMs, reads: index % 2 === 0 }),
      ),
    );
    const peak = Math.max(atRest, ...watch.stop().map(({ bytes }) => bytes));
    return [
      told(
        'sockets closed on them',
        opened.reduce((sum, count) => sum + count, 0),
      ),
      atMost('memory that they take', peak - atRest, MAX_GROWTH_BYTES, megabytes),
    ];
  },
};

const upgradeOf = (key) =>
  `GET /v1/responses HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n` +
  `Authorization: Bearer ${key}\r\n\r\n`;

/** A frame with the message `{}`, masked with zeros. */
const REFUSED = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]);
