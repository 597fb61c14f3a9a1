import { megabytes } from '../../lines.mjs';
import { readMemory, watchMemory } from '../memory.mjs';
import { atMost, told } from '../table.mjs';
import { floodOn } from './flood-connection.mjs';

const LASTS_MS = 6_000;
const MEMORY_EVERY_MS = 100;
const MAX_GROWTH_BYTES = 200e6;
const WRITTEN_AT_ONCE = 60_000;

/**
 * Sends hundreds of requests in one write over each connection, or ten thousand chunks of a body, with and
 * without a key, and replaces ended connections.
 */
export const pipelinesAttack = {
  id: 'pipelines',
  isLeftToProxy: true,
  // Only of the four connections with requests.
  before: {
    'connections ended on them': '13',
    'memory that they take': '454 MB',
    "the neighbour's p99": '3842 ms, 42 of 288 lost',
    'the process': 'lives',
  },
  async run(stronghold) {
    const atRest = readMemory(stronghold);
    const untilMs = Date.now() + LASTS_MS;
    const watch = watchMemory(stronghold, MEMORY_EVERY_MS);
    const ended = await Promise.all(
      requestsOf(stronghold).map(([start, repeated]) => {
        const piece = repeated.repeat(Math.floor(WRITTEN_AT_ONCE / repeated.length));
        return floodOn(stronghold, { start, piece, untilMs });
      }),
    );
    const peak = Math.max(atRest, ...watch.stop().map(({ bytes }) => bytes));
    return [
      told(
        'connections ended on them',
        ended.reduce((sum, count) => sum + count, 0),
      ),
      atMost('memory that they take', peak - atRest, MAX_GROWTH_BYTES, megabytes),
    ];
  },
};

function requestsOf({ keys }) {
  const head = (line, ...fields) => [line, 'Host: gateway', ...fields, '', ''].join('\r\n');
  const key = `Authorization: Bearer ${keys.attacker}`;
  const chat = 'POST /v1/chat/completions HTTP/1.1';
  const json = 'Content-Type: application/json';
  const chunked = 'Transfer-Encoding: chunked';
  const preflight = ['Origin: http://localhost', 'Access-Control-Request-Method: POST'];
  return [
    ['', head('GET /v1/models HTTP/1.1')],
    ['', head('OPTIONS /v1/chat/completions HTTP/1.1', ...preflight)],
    ['', head('GET /v1/nothing-here HTTP/1.1', key)],
    ['', `${head(chat, key, json, 'Content-Length: 2')}{}`],
    [head(chat, key, json, chunked), ONE_BYTE],
    [head(chat, json, chunked), ONE_BYTE],
  ];
}

/** A chunk of a body. */
const ONE_BYTE = '1\r\n \r\n';
