import { describe, expect, it } from '@jest/globals';
import { toCurl } from './curl';

const ORIGIN = 'http://localhost:3000';

describe('toCurl', () => {
  it('includes path, tags and a placeholder body', () => {
    const line = toCurl(ORIGIN, { endpoint: 'chat', model: 'a/b', tags: { team: 'x' } });
    expect(line).toContain(`curl 'http://localhost:3000/v1/chat/completions'`);
    expect(line).toContain(`-H 'X-Gateway-Tags: team=x'`);
    expect(line).toContain('"content": "…"');
    expect(line).not.toContain('stream');
  });

  it('includes the prompt with shell quotes escaped', () => {
    const prompt = {
      instructions: [{ type: 'text', content: 'Be short.' }],
      messages: [
        { role: 'user', parts: [{ type: 'text', content: `it's $HOME` }, { type: 'blob' }] },
      ],
    };
    const request = { endpoint: 'messages', model: 'a/b', streamed: true, tags: {} };
    const line = toCurl(ORIGIN, request, prompt);
    expect(line).toContain('"system": "Be short."');
    expect(line).toContain(`it'\\''s $HOME`);
    expect(line).toContain('"stream": true');
  });

  it('sends files as multipart form data', () => {
    const line = toCurl(ORIGIN, { endpoint: 'audio.transcriptions', model: 'a/b', tags: {} });
    expect(line).toContain(`-F 'model=a/b'`);
    expect(line).not.toContain('-d ');
  });
});
