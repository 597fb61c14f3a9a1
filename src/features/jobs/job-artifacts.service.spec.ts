import { describe, expect, it } from '@jest/globals';
import type { Database } from '../../platform/database/database.js';
import type { ArtifactStore } from './artifacts/artifact-store.js';
import { JobArtifacts } from './job-artifacts.service.js';

describe(JobArtifacts.name, () => {
  it('closes all connections when storing fails', async () => {
    const query = async () => ({ rows: [], rowCount: 1 });
    const store = {
      put: async () => {
        throw new Error('no disk');
      },
      remove: async () => undefined,
    };
    const artifacts = new JobArtifacts(
      { background: { query } } as unknown as Database,
      store as unknown as ArtifactStore,
    );
    const left: number[] = [];
    const files = [0, 1].map((index) => {
      const bytes: AsyncIterableIterator<Buffer> = {
        [Symbol.asyncIterator]: () => bytes,
        next: async () => ({ done: true, value: undefined }),
        return: async () => {
          left.push(index);
          return { done: true, value: undefined };
        },
      };
      return { contentType: 'video/mp4', bytes };
    });
    const job = { id: 'vid_1', modality: 'video', deadlineAt: new Date() } as const;
    await expect(artifacts.keep(job, files)).rejects.toThrow('no disk');
    expect(left).toEqual([0, 1]);
  });
});
