import type { JsonObject } from '../../platform/http/json-body.js';
import type { JobView } from './job.js';
import { toSeconds } from './render-job.js';

type VideoStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

/** Vendor progress is not stored, so every running video reports this. */
const HALF_WAY = 50;

/** Renders a job in the videos API's shape, which has four statuses. */
export function renderVideo(job: JobView): JsonObject & { id: string } {
  const status = videoStatusOf(job);
  const { seconds, size, prompt, input } = job.body ?? {};
  const length = seconds ?? job.usage?.videoSeconds;
  return {
    id: job.id,
    object: 'video',
    status,
    progress: status === 'completed' ? 100 : status === 'in_progress' ? HALF_WAY : 0,
    model: job.model,
    created_at: toSeconds(job.createdAt),
    completed_at: job.completedAt && toSeconds(job.completedAt),
    expires_at: status === 'completed' ? toSeconds(job.expiresAt) : null,
    prompt: prompt ?? input ?? null,
    seconds: typeof length === 'string' || typeof length === 'number' ? `${length}` : null,
    size: size ?? null,
    remixed_from_video_id: null,
    error: status === 'failed' ? errorOf(job) : null,
  };
}

/** A video that was ready stays completed after its files expire. */
export function videoStatusOf({ status, usage }: JobView): VideoStatus {
  switch (status) {
    case 'queued':
    case 'in_progress':
    case 'failed':
      return status;
    case 'succeeded':
      return 'completed';
    case 'expired':
      return usage === null ? 'failed' : 'completed';
    case 'cancelled':
      return 'failed';
  }
}

function errorOf({ status, error }: JobView): JsonObject {
  if (error) return { code: error.code, message: error.message };
  return status === 'cancelled'
    ? { code: 'cancelled', message: 'The video was cancelled.' }
    : { code: 'expired', message: 'The video was not generated before its deadline.' };
}
