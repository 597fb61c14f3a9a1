import { describe, expect, it } from '@jest/globals';
import type { TranscriptionRequest } from '../../canonical/work-request.js';
import { renderTranscript } from '../../vendors/dialects/audio/transcript.js';
import { TextBudget } from './trace-message.js';
import { transcriptMessages } from './output-messages.js';

const parts = { text: 'One falcon.', language: '', durationSeconds: 2, segments: [] };
const request = (format: string) => ({ kind: 'transcription', format }) as TranscriptionRequest;
const message = (content: string) => ({
  role: 'assistant',
  parts: [{ type: 'text', content }],
  finish_reason: 'stop',
});

describe(transcriptMessages.name, () => {
  it.each(['json', 'verbose_json', 'text', 'srt', 'vtt'])('reads the text from %s', (format) => {
    const budget = new TextBudget();
    expect(transcriptMessages(request(format), renderTranscript(parts, format), budget)).toEqual([
      message('One falcon.'),
    ]);
    expect(budget.isSpent).toBe(false);
  });

  it('cuts a long transcript, and returns an empty message for invalid JSON, and none without output', () => {
    const budget = new TextBudget(3);
    const output = renderTranscript(parts, 'text');
    expect(transcriptMessages(request('text'), output, budget)).toEqual([message('One')]);
    expect(budget.isSpent).toBe(true);
    const broken = { contentType: 'application/json', bytes: Buffer.from('{') };
    expect(transcriptMessages(request('json'), broken, budget)).toEqual([message('')]);
    expect(transcriptMessages(request('json'), undefined, budget)).toEqual([]);
  });
});
