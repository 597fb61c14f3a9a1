import { describe, expect, it } from '@jest/globals';
import { says } from '../../../../test/support/prompt-requests.js';
import type { CanonicalPrompt, MessagePart } from '../../../canonical/canonical-request.js';
import { encodeMessagesRequest } from './encode-messages-request.js';
import { ADAPTIVE, NEWEST, encode, refusal } from '../../../../test/support/encoded-messages.js';

describe(encodeMessagesRequest.name, () => {
  it('sends only the conversation when nothing else is set', () => {
    expect(encode()).toEqual({
      body: {
        max_tokens: 4_000,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      },
      jsonTool: undefined,
      dropped: [],
    });
  });

  it('rejects several answers', () => {
    expect(() => encode({}, { request: { choices: 2 } })).toThrow(refusal('n'));
  });

  it('continues an assistant message only on models that support it', () => {
    const messages = [says('user', 'a'), says('assistant', 'b')];
    expect(encode({ messages }).body.messages).toHaveLength(2);
    expect(() => encode({ messages }, { traits: NEWEST })).toThrow(refusal('messages'));
  });

  it('keeps system blocks and their cache control', () => {
    const part = { type: 'text', text: 'Be brief.', cacheControl: { ttl: '1h' } } as const;
    expect(encode({ messages: [says('system', part), says('user', 'Hi')] }).body.system).toEqual([
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]);
  });

  it.each<[string, string]>([
    ['user-1234', 'user-1234'],
    ['6f1c9d4e-0000-4000-8000-000000000000', '6f1c9d4e-0000-4000-8000-000000000000'],
  ])('passes on the end user %s', (endUser, user_id) => {
    expect(encode({ endUser }).body.metadata).toEqual({ user_id });
  });

  it.each(['a@b.example', '+49 30 1234567', '0301234567', 'Ada Lovelace', 'x'.repeat(300)])(
    'hashes the end user %s',
    (endUser) => {
      const { user_id } = encode({ endUser }).body.metadata as { user_id: string };
      expect(user_id).toMatch(/^user_[\w-]{32}$/);
      expect(encode({ endUser }).body.metadata).toEqual({ user_id });
    },
  );

  describe('sampling', () => {
    it.each<[Partial<CanonicalPrompt['sampling']>, object, string[]]>([
      [{ temperature: 0 }, { temperature: 0 }, []],
      [{ temperature: 0.7, topK: 5 }, { temperature: 0.7, top_k: 5 }, []],
      [{ temperature: 1 }, {}, []],
      [{ temperature: 1.5 }, {}, ['temperature']],
      [{ topP: 0.5 }, { top_p: 0.5 }, []],
      [{ temperature: 0.2, topP: 0.5 }, { temperature: 0.2 }, ['top_p']],
      [{ temperature: 0.2, topP: 1 }, { temperature: 0.2 }, []],
      [{ temperature: 1, topP: 0.5 }, { top_p: 0.5 }, []],
      [{ stop: ['a', '', ' b'] }, { stop_sequences: ['a', ' b'] }, []],
      [{ stop: [''] }, {}, []],
      [
        { seed: 1, presencePenalty: 1, logitBias: {}, logprobs: true },
        {},
        ['presence_penalty', 'seed', 'logit_bias', 'logprobs'],
      ],
    ])('turns %j into %j and drops %j', (sampling, fields, dropped) => {
      const encoded = encode({ sampling });
      const { max_tokens: _tokens, messages: _messages, ...rest } = encoded.body;
      expect(rest).toEqual(fields);
      expect(encoded.dropped).toEqual(dropped);
    });

    it.each(['\n', ' ', '\t\n'])('rejects the stop sequence %j', (stop) => {
      expect(() => encode({ sampling: { stop: ['a', stop] } })).toThrow(refusal('stop'));
    });

    it('is dropped for models that reject it', () => {
      const sampling = { temperature: 0.5, topP: 0.5, topK: 5 };
      const { body, dropped } = encode({ sampling }, { traits: NEWEST });
      expect(Object.keys(body)).toEqual(['max_tokens', 'messages']);
      expect(dropped).toEqual(['temperature', 'top_p', 'top_k']);
      const neutral = encode({ sampling: { temperature: 1, topP: 1 } }, { traits: NEWEST });
      expect(neutral.dropped).toEqual([]);
    });

    it('is dropped when thinking is on', () => {
      const reasoning = { effort: 'high' };
      const sampling = { temperature: 0.5, topP: 0.5, topK: 5 };
      const { body, dropped } = encode({ reasoning, sampling }, { traits: ADAPTIVE });
      expect(Object.keys(body)).toEqual(['max_tokens', 'messages', 'thinking', 'output_config']);
      expect(dropped).toEqual(['temperature', 'top_p', 'top_k']);
      expect(encode({ reasoning, sampling: { topP: 0.95 } }).body.top_p).toBe(0.95);
    });
  });

  describe('dropped fields', () => {
    it("have the caller's names", () => {
      const sampling = { seed: 1, temperature: 2 };
      const { dropped } = encode({ sampling }, { request: { dialect: 'responses' } });
      expect(dropped).toEqual(['seed', 'temperature']);
    });

    it('include message parts', () => {
      const image: MessagePart = {
        type: 'image',
        detail: 'high',
        source: { kind: 'url', url: 'https://a.example/b' },
      };
      const messages = [{ ...says('user', 'a', image), name: 'Ada' }];
      expect(encode({ messages }).dropped).toEqual(['messages.name', 'messages.image_url.detail']);
    });

    it('are valid in a header, whatever the caller sent', () => {
      const droppedFields = ['verbosity', 'a\r\nset-cookie: b', '日本', ''];
      expect(encode({ droppedFields }).dropped).toEqual(['verbosity', 'unknown']);
      const many = Array.from({ length: 1_000 }, (_, index) => `field_${index}`);
      expect(encode({ droppedFields: many }).dropped.length).toBeLessThanOrEqual(50);
    });
  });
});
