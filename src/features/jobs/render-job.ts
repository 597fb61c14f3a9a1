import type { Usage } from '../../canonical/usage.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { isOpen, type JobListRow, type JobModality, type JobView } from './job.js';

/** Returns a signed artifact URL; null when the caller may not have one. */
export type SignArtifact = (artifactId: string, expiresAt: Date) => string | null;

/** Renders a job for its tenant, with fresh URLs. */
export function renderJob(job: JobView, sign: SignArtifact): JsonObject {
  const { status, error, usage, expiresAt } = job;
  const isSucceeded = status === 'succeeded';
  const hadArtifacts = isSucceeded || (status === 'expired' && usage !== null);
  return {
    id: job.id,
    object: `${job.modality}_job`,
    status,
    model: job.model,
    provider: job.provider,
    modality: job.modality,
    created_at: toSeconds(job.createdAt),
    completed_at: job.completedAt && toSeconds(job.completedAt),
    expires_at: hadArtifacts ? toSeconds(expiresAt) : null,
    result: isSucceeded
      ? {
          data: job.artifacts.map(({ id, contentType, bytes }) => ({
            url: sign(id, expiresAt),
            content_type: contentType,
            bytes,
          })),
        }
      : null,
    error: status === 'failed' && error ? { code: error.code, message: error.message } : null,
    usage: usage && renderUsage(job.modality, usage),
    metadata: job.metadata,
  };
}

/** Renders a job with its request and credits. */
export function renderGalleryJob(job: JobView, sign: SignArtifact): JsonObject {
  return {
    ...renderJob(job, sign),
    request_id: job.requestId,
    reserved_credits: job.reservedCredits,
    actual_cost: job.actualCost,
    deadline_at: isOpen(job.status) ? toSeconds(job.expiresAt) : null,
  };
}

/** Renders the billed usage in the units of its modality. */
export function renderUsage(modality: JobModality, usage: Usage): JsonObject {
  switch (modality) {
    case 'image':
      return { image_count: usage.imageCount, ...imageTokens(usage) };
    case 'video':
      return { video_seconds: usage.videoSeconds };
    case 'audio':
      return {
        input_characters: usage.inputCharacters,
        input_bytes: usage.inputBytes,
        audio_seconds: usage.audioMs / 1_000,
      };
  }
}

/** Token counts in the images API's shape; empty when the vendor reports none. */
function imageTokens({ inputTokens, outputTokens }: Usage): JsonObject {
  if (inputTokens + outputTokens === 0) return {};
  return {
    input_tokens: inputTokens,
    // A plain prompt contains no images.
    input_tokens_details: { text_tokens: inputTokens, image_tokens: 0 },
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

export function renderListItem(row: JobListRow): JsonObject {
  return {
    id: row.id,
    modality: row.modality,
    model: row.model,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    actual_cost: row.actualCost,
    reserved_credits: row.reservedCredits,
    error_message: row.errorMessage,
    expires_at: row.expiresAt.toISOString(),
  };
}

export function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}
