import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../../test/support/chat-requests.js';
import { messagesRequest } from '../../../../test/support/messages-requests.js';
import { conversationKeyOf, isCacheable, readSessionId } from './conversation-key.js';

const LONG = 'word '.repeat(2_000);
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const system = { role: 'system', content: LONG };

const keyOf = (fields: Record<string, unknown>, tenantId = 'tenant', sessionId?: string) =>
  conversationKeyOf(
    tenantId,
    chatRequest({ messages: [system, user('Hi')], ...fields }),
    sessionId,
  );

describe(conversationKeyOf.name, () => {
  it('is the same for all turns of a conversation', () => {
    const turns = [system, user('Hi'), assistant('Yes?'), user('Go on.')];
    expect(keyOf({ messages: turns })).toBe(keyOf({}));
    expect(keyOf({ temperature: 1, stream: true, max_tokens: 5 })).toBe(keyOf({}));
    expect(keyOf({})).toMatch(/^[\w-]{16}$/);
    const parts = [{ type: 'text', text: 'Hi' }];
    const messages = [user(parts), assistant('Yes?'), user('Go on.')];
    const key = (count: number) =>
      conversationKeyOf('t', messagesRequest({ system: LONG, messages: messages.slice(0, count) }));
    expect(key(3)).toBe(key(1));
  });

  it.each<[string, Record<string, unknown>]>([
    ['opens differently', { messages: [system, user('Ho')] }],
    ['has another system prompt', { messages: [{ ...system, content: 'x' }, user('Hi')] }],
    ['has other parts', { messages: [system, user([{ type: 'text', text: 'Ho' }])] }],
    ['uses another model', { model: 'openai/other' }],
    ['has tools', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['has a name', { prompt_cache_key: 'x' }],
  ])('differs when a conversation %s', (_, fields) => {
    expect(keyOf(fields)).not.toBe(keyOf({}));
  });

  it('differs between tenants', () => {
    expect(keyOf({}, 'other')).not.toBe(keyOf({}));
    expect(keyOf({ session_id: 'x' }, 'other')).not.toBe(keyOf({ session_id: 'x' }));
    // Even when concatenated names are equal.
    expect(keyOf({ session_id: 'bc' }, 'a')).not.toBe(keyOf({ session_id: 'c' }, 'ab'));
  });

  it('uses the caller’s id, the vendor’s field first', () => {
    const other = { messages: [user(LONG)] };
    expect(keyOf({ session_id: 'x', ...other })).toBe(keyOf({ session_id: 'x' }));
    expect(keyOf({ ...other }, 'tenant', 'x')).toBe(keyOf({ session_id: 'x' }));
    expect(keyOf({ session_id: 'x' }, 'tenant', 'y')).toBe(keyOf({ session_id: 'x' }));
    const both = { prompt_cache_key: 'k', session_id: 'x' };
    expect(keyOf(both)).toBe(keyOf({ prompt_cache_key: 'k' }));
    expect(keyOf({ session_id: '' })).toBe(keyOf({}));
    expect(keyOf({ session_id: null })).toBe(keyOf({}));
  });

  it('uses the beginning of long texts', () => {
    const huge = 'x'.repeat(1_000_000);
    expect(keyOf({ messages: [user(huge)] })).toBe(keyOf({ messages: [user(`${huge}y`)] }));
  });
});

describe(isCacheable.name, () => {
  it('requires a prompt long enough for vendors to cache', () => {
    expect(isCacheable(chatRequest({ messages: [user(LONG)] }))).toBe(true);
    expect(isCacheable(chatRequest({ messages: [user('x'.repeat(1_000))] }))).toBe(false);
  });
});

describe(readSessionId.name, () => {
  it('reads the header', () => {
    expect(readSessionId({ 'x-session-id': 'a' })).toBe('a');
    expect(readSessionId({ 'x-session-id': '' })).toBeUndefined();
    expect(readSessionId({})).toBeUndefined();
  });
});
