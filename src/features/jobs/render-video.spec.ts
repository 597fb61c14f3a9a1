import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../canonical/usage.js';
import type { JobView } from './job.js';
import { renderVideo } from './render-video.js';

const JOB: JobView = {
  id: 'vid_1',
  requestId: 'r',
  tenantId: 't',
  endpoint: 'videos',
  body: { model: 'one/film', prompt: 'A boat', seconds: '4', size: '720x1280' },
  modality: 'video',
  model: 'one/film',
  status: 'queued',
  provider: null,
  metadata: null,
  error: null,
  usage: null,
  reservedCredits: 9,
  actualCost: 0,
  createdAt: new Date(1_000_900),
  completedAt: null,
  expiresAt: new Date(3_000_900),
  isDeleted: false,
  artifacts: [],
};
const render = (overrides: Partial<JobView> = {}) => renderVideo({ ...JOB, ...overrides });

describe(renderVideo.name, () => {
  it('renders a job as a video', () => {
    expect(render()).toEqual({
      id: 'vid_1',
      object: 'video',
      status: 'queued',
      progress: 0,
      model: 'one/film',
      created_at: 1_000,
      completed_at: null,
      expires_at: null,
      prompt: 'A boat',
      seconds: '4',
      size: '720x1280',
      remixed_from_video_id: null,
      error: null,
    });
  });

  const usage = { ...NO_USAGE, videoSeconds: 8 };
  it.each<[Partial<JobView>, object]>([
    [{ status: 'in_progress' }, { status: 'in_progress', progress: 50 }],
    [
      { status: 'succeeded', usage, completedAt: new Date(2_000_900) },
      { status: 'completed', progress: 100, completed_at: 2_000, expires_at: 3_000 },
    ],
    [
      { status: 'expired', usage },
      { status: 'completed', error: null },
    ],
    [{ status: 'expired' }, { status: 'failed', progress: 0, error: { code: 'expired' } }],
    [{ status: 'cancelled' }, { status: 'failed', error: { code: 'cancelled' } }],
    [
      {
        status: 'failed',
        error: { code: 'x', message: 'No.', type: 'provider_error', status: 502, param: 'model' },
      },
      { status: 'failed', error: { code: 'x', message: 'No.' } },
    ],
    [
      { body: { input: 'A cat' }, usage },
      { prompt: 'A cat', seconds: '8', size: null },
    ],
  ])('renders %j', (overrides, shown) => {
    expect(render(overrides)).toMatchObject(shown);
  });
});
