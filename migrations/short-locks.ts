import { setTimeout as pause } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

const LOCK_LIMIT_MS = 200;
const PAUSE_MS = 100;
const MAX_ATTEMPTS = 400;
/** Error codes of a lock timeout and a deadlock. */
const RETRIED = new Set(['55P03', '40P01']);

/** Runs in a transaction with a short lock timeout, since requests queue behind a waiting lock. */
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
