import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../canonical/usage.js';
import type { JobView } from './job.js';
import { renderGalleryJob, renderJob, renderUsage } from './render-job.js';

const JOB: JobView = {
  id: 'img_1',
  requestId: 'r',
  tenantId: 't',
  endpoint: 'jobs',
  body: null,
  modality: 'image',
  model: 'one/draw',
  status: 'succeeded',
  provider: 'one',
  metadata: null,
  error: null,
  usage: { ...NO_USAGE, imageCount: 1, inputTokens: 3 },
  reservedCredits: 9,
  actualCost: 5,
  createdAt: new Date(1_000_900),
  completedAt: new Date(2_000_900),
  expiresAt: new Date(3_000_900),
  isDeleted: false,
  artifacts: [{ id: 'img_1-a-0', contentType: 'image/png', bytes: 7 }],
};
const render = (overrides: Partial<JobView>) =>
  renderJob({ ...JOB, ...overrides }, (id, expiresAt) => `${id}@${expiresAt.getTime()}`);

describe(renderJob.name, () => {
  it('signs each file again and renders times in whole seconds', () => {
    expect(render({})).toEqual({
      id: 'img_1',
      object: 'image_job',
      status: 'succeeded',
      model: 'one/draw',
      provider: 'one',
      modality: 'image',
      created_at: 1_000,
      completed_at: 2_000,
      expires_at: 3_000,
      result: {
        data: [{ url: 'img_1-a-0@3000900', content_type: 'image/png', bytes: 7 }],
      },
      error: null,
      usage: {
        image_count: 1,
        input_tokens: 3,
        input_tokens_details: { text_tokens: 3, image_tokens: 0 },
        output_tokens: 0,
        total_tokens: 3,
      },
      metadata: null,
    });
  });

  it('shows the result until it expires, and errors only of failed jobs', () => {
    const error = {
      code: 'timeout_error',
      message: 'Late.',
      type: 'timeout_error',
      status: 504,
      param: 'model',
    } as const;
    const open = { usage: null, completedAt: null, artifacts: [] };
    expect(render({ ...open, status: 'queued', provider: null })).toMatchObject({
      completed_at: null,
      expires_at: null,
      result: null,
    });
    expect(render({ ...open, status: 'failed', error })).toMatchObject({
      error: { code: 'timeout_error', message: 'Late.' },
    });
    expect(render({ ...open, status: 'expired', error })).toMatchObject({
      error: null,
      expires_at: null,
    });
    expect(render({ status: 'expired' })).toMatchObject({ result: null, expires_at: 3_000 });
  });
});

describe(renderGalleryJob.name, () => {
  it('adds request and credits, without URLs for callers who get none', () => {
    const file = { url: null, content_type: 'image/png', bytes: 7 };
    expect(renderGalleryJob(JOB, () => null)).toMatchObject({
      id: 'img_1',
      request_id: 'r',
      reserved_credits: 9,
      actual_cost: 5,
      deadline_at: null,
      result: { data: [file] },
    });
  });

  it('shows the deadline of an open job', () => {
    const open = { ...JOB, status: 'in_progress', artifacts: [] } as const;
    expect(renderGalleryJob(open, () => null)).toMatchObject({
      deadline_at: 3_000,
      expires_at: null,
    });
  });
});

describe(renderUsage.name, () => {
  it('has the units of its modality', () => {
    const usage = {
      ...NO_USAGE,
      videoSeconds: 8,
      inputCharacters: 2,
      inputBytes: 3,
      audioMs: 1_250,
    };
    expect(renderUsage('image', { ...usage, imageCount: 2 })).toEqual({ image_count: 2 });
    expect(renderUsage('video', usage)).toEqual({ video_seconds: 8 });
    expect(renderUsage('audio', usage)).toEqual({
      input_characters: 2,
      input_bytes: 3,
      audio_seconds: 1.25,
    });
  });
});
