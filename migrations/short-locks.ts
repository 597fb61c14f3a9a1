import { setTimeout as pause } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

const LOCK_LIMIT_MS = 200;
const PAUSE_MS = 100;
const MAX_ATTEMPTS = 400;
/** Somebody else has the lock, or both waited for each other. */
const RETRIED = new Set(['55P03', '40P01']);

/** In a transaction that gives up a lock rather than have all requests wait behind it for long. */
export async function shortly(
  queryRunner: QueryRunner,
  work: () => Promise<unknown>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await queryRunner.startTransaction();
    try {
      await queryRunner.query(`SET LOCAL lock_timeout = ${LOCK_LIMIT_MS}`);
      await work();
      return await queryRunner.commitTransaction();
    } catch (error) {
      await queryRunner.rollbackTransaction();
      if (attempt === MAX_ATTEMPTS || !RETRIED.has(codeOf(error))) throw error;
      await pause(PAUSE_MS);
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
