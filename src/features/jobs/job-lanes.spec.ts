import { describe, expect, it } from '@jest/globals';
import { JobLanes } from './job-lanes.js';

describe(JobLanes.name, () => {
  it('lets in as many of a provider as it is wide, and each kind for itself', () => {
    const lanes = new JobLanes(2);
    const leave = lanes.enter('one', 'submit')!;
    expect(lanes.enter('one', 'submit')).toBeDefined();
    expect(lanes.enter('one', 'submit')).toBeUndefined();
    expect(lanes.enter('one', 'poll')).toBeDefined();
    expect(lanes.enter('two', 'submit')).toBeDefined();
    leave();
    leave();
    expect(lanes.enter('one', 'submit')).toBeDefined();
    expect(lanes.enter('one', 'submit')).toBeUndefined();
  });
});
