import { startOfRange } from '../../parts/ranges';

/** Filters of the gallery, as named in the URL. */
export const JOB_FILTERS = ['kind', 'status', 'model', 'range'] as const;
export type JobFilters = Partial<Record<(typeof JOB_FILTERS)[number], string>>;

export const JOB_KINDS = ['image', 'video', 'audio'] as const;
export const JOB_STATUSES = [
  'queued',
  'in_progress',
  'succeeded',
  'failed',
  'cancelled',
  'expired',
] as const;

/** The filters as API parameters. */
export interface JobQuery {
  modality?: (typeof JOB_KINDS)[number];
  status?: (typeof JOB_STATUSES)[number];
  model?: string;
  start_date?: string;
}

/**
 * Converts filters to API parameters and drops invalid values.
 *
 * @param now end of relative time ranges
 */
export function toJobQuery({ kind, status, model, range }: JobFilters, now: Date): JobQuery {
  const modality = JOB_KINDS.find((each) => each === kind);
  const state = JOB_STATUSES.find((each) => each === status);
  const start = startOfRange(range, now);
  return {
    ...(modality && { modality }),
    ...(state && { status: state }),
    ...(model !== undefined && { model }),
    ...(start !== undefined && { start_date: start }),
  };
}
