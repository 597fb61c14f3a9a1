import { describe, expect, it } from '@jest/globals';
import { isArtifactId } from './artifacts/artifact-store.js';
import { modalityOfJobId, newArtifactId, newJobId } from './job.js';

describe('ids of jobs', () => {
  it.each(['image', 'video', 'audio'] as const)('tell that the job is of %s', (modality) => {
    const id = newJobId(modality);
    expect(modalityOfJobId(id)).toBe(modality);
    expect(newJobId(modality)).not.toBe(id);
    expect(isArtifactId(newArtifactId(id, 9))).toBe(true);
    expect(newArtifactId(id, 9)).not.toBe(newArtifactId(id, 9));
  });

  it.each(['', 'img_', 'img_1', `img_${'G'.repeat(36)}`, `txt_${'0'.repeat(36)}`, 'constructor'])(
    'are not %j',
    (text) => {
      expect(modalityOfJobId(text)).toBeUndefined();
    },
  );
});
