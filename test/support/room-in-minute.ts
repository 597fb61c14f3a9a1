import { setTimeout as wait } from 'node:timers/promises';
import type { BootedGateway } from './boot-gateway.js';

const MINUTE_MS = 60_000;
/** So much of the minute a test needs. */
const ROOM_MS = 8_000;

/** A test that counts within one clock minute must not straddle its end. */
export async function awaitRoomInThisMinute(): Promise<void> {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (leftMs < ROOM_MS) await wait(leftMs + 10);
}

/** The header of a new key that may make so many requests a minute. */
export async function keyWithLimit(
  gateway: BootedGateway,
  limit: number,
): Promise<Record<string, string>> {
  const body = { name: 'limited', rate_limit_per_minute: limit };
  const answer = await gateway.post('/v1/customer/api-keys', body);
  const { key } = (await answer.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}
