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
  it('reserves whole seconds and expects the measured length', () => {
    const request = makeTranscription(
      { model: 'a/b' },
      { ...audio, durationMs: 1_001 },
      'transcribe',
    );
    expect(request.ceiling.audioMs).toBe(2_000);
    expect(request.estimate.audioMs).toBe(1_001);
  });

  it.each([
    ['audio/webm', 1_001, true, 20_000, 60_000],
    ['audio/webm', 25_001, true, 26_000, 60_000],
    ['audio/flac', 1_001, true, 5_000, 60_000],
    ['audio/mpeg', 1_001, false, 2_000, undefined],
  ])(
    'checks a claimed length against the file size (%s, %d ms, claimed: %s)',
    (contentType, durationMs, isLengthClaimed, heldMs, longestMs) => {
      const { ceiling, estimate, ...request } = makeTranscription(
        { model: 'a/b' },
        { ...audio, contentType, durationMs, isLengthClaimed },
        'transcribe',
      );
      expect(ceiling.audioMs).toBe(heldMs);
      expect(estimate.audioMs).toBe(durationMs);
      expect(request.longestAudioMs).toBe(longestMs);
    },
  );

  it('bounds a recording of unknown length by its size', () => {
    const request = makeTranscription({ model: 'a/b' }, audio, 'translate');
    expect(request.ceiling.audioMs).toBe(60_000);
    expect(request.estimate.audioMs).toBe(20_000);
    expect(request.format).toBe('json');
  });
});
