import { describe, expect, it } from '@jest/globals';
import type { UploadedAudio } from '../../canonical/work-request.js';
import { makeTranscription } from './transcription.parse.js';

const audio: UploadedAudio = {
  path: '/nowhere',
  sizeBytes: 60_000,
  fileName: 'a.webm',
  contentType: 'audio/webm',
  durationMs: undefined,
};

describe('makeTranscription', () => {
  it('sets whole seconds aside and expects what was measured', () => {
    const request = makeTranscription(
      { model: 'a/b' },
      { ...audio, durationMs: 1_001 },
      'transcribe',
    );
    expect(request.ceiling.audioMs).toBe(2_000);
    expect(request.estimate.audioMs).toBe(1_001);
  });

  it('bounds the length of a recording that does not tell it by its size', () => {
    const request = makeTranscription({ model: 'a/b' }, audio, 'translate');
    expect(request.ceiling.audioMs).toBe(60_000);
    expect(request.estimate.audioMs).toBe(20_000);
    expect(request.format).toBe('json');
  });
});
