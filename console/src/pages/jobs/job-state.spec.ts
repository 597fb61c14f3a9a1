import { describe, expect, it } from '@jest/globals';
import { JOB_FILTERS, toJobQuery } from './job-filters';
import {
  durationOf,
  formatBytes,
  hasFiles,
  isRefunded,
  localAddress,
  stateOf,
  type JobState,
} from './job-state';

const JOB: JobState = {
  status: 'succeeded',
  created_at: 1_000,
  completed_at: 1_012,
  expires_at: 4_612,
  reserved_credits: 9,
  actual_cost: 5,
};

describe('job state', () => {
  it('distinguishes refunded jobs from timed-out ones', () => {
    expect(stateOf(JOB)).toEqual({ label: 'succeeded', tone: 'good' });
    const expired = { ...JOB, status: 'expired' };
    expect([stateOf(expired).label, isRefunded(expired)]).toEqual(['expired, refunded', true]);
    const late = { ...expired, expires_at: null };
    expect([stateOf(late).label, isRefunded(late)]).toEqual(['timed out', false]);
    expect(stateOf({ ...JOB, status: 'never_heard_of' })).toEqual({
      label: 'never heard of',
      tone: 'neutral',
    });
  });

  it('measures the duration to the end, or to now', () => {
    expect(durationOf(JOB, 9_000_000)).toBe(12_000);
    const open = { ...JOB, status: 'queued', completed_at: null };
    expect(durationOf(open, 1_003_000)).toBe(3_000);
    expect(durationOf(open, 0)).toBe(0);
  });

  it('has files until they expire', () => {
    expect(hasFiles(JOB, 4_611_999)).toBe(true);
    expect(hasFiles(JOB, 4_612_000)).toBe(false);
    expect(hasFiles({ ...JOB, status: 'expired' }, 0)).toBe(false);
  });

  it("rewrites file URLs to the page's own host", () => {
    const path = '/v1/artifacts/img_1?expires=2&signature=ab-_';
    expect(localAddress(`https://gateway.example${path}`)).toBe(path);
    expect(localAddress(`https://gateway.example/base${path}`)).toBe(path);
  });

  it('formats sizes', () => {
    expect([0, 999, 1_500, 48_213, 2_400_000].map(formatBytes)).toEqual([
      '0 B',
      '999 B',
      '1.5 kB',
      '48 kB',
      '2.4 MB',
    ]);
  });
});

describe('toJobQuery', () => {
  const now = new Date('2026-11-23T12:00:00Z');

  it('converts filters to API parameters', () => {
    const filters = { kind: 'image', status: 'in_progress', model: 'a/b', range: '1h' };
    expect(Object.keys(filters)).toEqual([...JOB_FILTERS]);
    expect(toJobQuery(filters, now)).toEqual({
      modality: 'image',
      status: 'in_progress',
      model: 'a/b',
      start_date: '2026-11-23T11:00:00.000Z',
    });
  });

  it('drops unknown values', () => {
    expect(toJobQuery({ kind: 'text', status: 'done', range: 'ever' }, now)).toEqual({});
  });
});
