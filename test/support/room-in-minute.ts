import { setTimeout as wait } from 'node:timers/promises';
import type { BootedGateway } from './boot-gateway.js';

const MINUTE_MS = 60_000;
const ROOM_MS = 8_000;

/** Waits for the next clock minute when this one has only a few seconds left. */
export async function awaitRoomInThisMinute(): Promise<void> {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (leftMs < ROOM_MS) await wait(leftMs + 10);
}

/** Returns a measurement that began and ended in the same clock minute; repeats it until one did. */
export async function inOneMinute<Result>(measure: () => Promise<Result>): Promise<Result> {
  for (;;) {
    await awaitRoomInThisMinute();
    const minute = Math.floor(Date.now() / MINUTE_MS);
    const result = await measure();
    if (Math.floor(Date.now() / MINUTE_MS) === minute) return result;
  }
}

/** Returns the header of a new key with this limit of requests per minute. */
export async function keyWithLimit(
  gateway: BootedGateway,
  limit: number,
): Promise<Record<string, string>> {
  const body = { name: 'limited', rate_limit_per_minute: limit };
  const answer = await gateway.post('/v1/customer/api-keys', body);
  const { key } = (await answer.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}
