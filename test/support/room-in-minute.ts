import { setTimeout as wait } from 'node:timers/promises';

const MINUTE_MS = 60_000;
/** So much of the minute a test needs. */
const ROOM_MS = 8_000;

/** A test that counts within one clock minute must not straddle its end. */
export async function awaitRoomInThisMinute(): Promise<void> {
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (leftMs < ROOM_MS) await wait(leftMs + 10);
}
