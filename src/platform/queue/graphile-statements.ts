import type { Pool } from 'pg';
import { PRESENCE_LOCK_CLASS } from './graphile-presence.js';
import type { QueueDepth, Topic } from './work-queue.js';

/** Deliveries of a row before it is dropped; each one started a worker that died. */
const MAX_DELIVERIES = 10;

/** Longer than a worker takes to announce itself. */
const DEAD_AFTER_SECONDS = 3;

/** The stored wake-up. */
export interface WakeUp {
  key: string;
  /** How many times in a row the consumer has thrown. */
  failures: number;
}

export interface AddOptions {
  readonly delayMs?: number;
  /** Replaces the waiting row of this name. */
  readonly slot?: string;
}

export async function addWakeUp(
  pool: Pool,
  topic: Topic,
  wakeUp: WakeUp,
  { delayMs = 0, slot }: AddOptions,
): Promise<void> {
  await pool.query(
    `SELECT FROM graphile_worker.add_job($1::text, payload := $2::json, job_key := $3::text,
       run_at := now() + $4 * interval '1 millisecond', max_attempts := ${MAX_DELIVERIES})`,
    [topic, JSON.stringify(wakeUp), slot ?? null, delayMs],
  );
}

/** Returns whether no topic has a wake-up, due, delayed or in progress. */
export async function isEmpty(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>(
    'SELECT EXISTS (SELECT FROM graphile_worker._private_jobs) AS found',
  );
  return rows[0]?.found !== true;
}

/** Returns the milliseconds until each topic's next wake-up is due, 0 or less when it is. */
export async function readNextDue(
  pool: Pool,
  topics: readonly Topic[],
): Promise<{ topic: Topic; dueInMs: number }[]> {
  const { rows } = await pool.query<{ topic: Topic; due_in_ms: number }>(
    `SELECT task.identifier AS topic,
       (extract(epoch FROM next.run_at - now()) * 1000)::float8 AS due_in_ms
     FROM graphile_worker._private_tasks task
     CROSS JOIN LATERAL (
       SELECT job.run_at FROM graphile_worker._private_jobs job
       WHERE job.task_id = task.id AND job.is_available
       ORDER BY job.priority, job.run_at LIMIT 1
     ) next
     WHERE task.identifier = ANY($1::text[])`,
    [topics],
  );
  return rows.map(({ topic, due_in_ms: dueInMs }) => ({ topic, dueInMs }));
}

/** Releases the rows of workers that hold no lock any longer, which means they are dead. */
export async function releaseDeadWorkers(pool: Pool): Promise<void> {
  await pool.query(
    `SELECT graphile_worker.force_unlock_workers(array_agg(taken.locked_by))
     FROM (
       SELECT DISTINCT locked_by FROM graphile_worker.jobs
       WHERE locked_at < now() - interval '${DEAD_AFTER_SECONDS} seconds'
     ) taken
     WHERE pg_try_advisory_xact_lock(${PRESENCE_LOCK_CLASS}, hashtext(taken.locked_by))`,
  );
}

export async function releaseWorkers(pool: Pool, workers: readonly string[]): Promise<void> {
  await pool.query('SELECT graphile_worker.force_unlock_workers($1::text[])', [workers]);
}

/** Removes rows that no worker will take again: replaced and dropped ones. */
export async function removeSpent(pool: Pool): Promise<void> {
  await pool.query(
    `DELETE FROM graphile_worker._private_jobs
     WHERE attempts >= max_attempts AND locked_at IS NULL`,
  );
}

export async function readDepths(pool: Pool): Promise<Record<Topic, QueueDepth>> {
  const { rows } = await pool.query<QueueDepth & { topic: Topic }>(
    `SELECT task_identifier AS topic,
       count(*) FILTER (WHERE locked_at IS NULL AND run_at <= now()) AS waiting,
       count(*) FILTER (WHERE locked_at IS NULL AND run_at > now()) AS delayed,
       count(*) FILTER (WHERE locked_at IS NOT NULL) AS active
     FROM graphile_worker.jobs
     WHERE locked_at IS NOT NULL OR attempts < max_attempts
     GROUP BY task_identifier`,
  );
  const depthOf = (name: Topic): QueueDepth => {
    const row: Partial<QueueDepth> = rows.find(({ topic }) => topic === name) ?? {};
    const { waiting = 0, delayed = 0, active = 0 } = row;
    return { waiting, delayed, active };
  };
  return {
    jobs: depthOf('jobs'),
    responses: depthOf('responses'),
    webhooks: depthOf('webhooks'),
    broadcast: depthOf('broadcast'),
  };
}
