import { describe, expect, it } from '@jest/globals';
import { toGuardrail } from '../guardrails/guardrail.js';
import type { GuardrailRule } from '../guardrails/guardrail-rule.js';
import type { RequestContent } from './content-draft.js';
import { findExcerpts } from './excerpts.js';

const BEFORE = 'a'.repeat(100);
const AFTER = 'z'.repeat(100);

const content = (asked: string, answered = ''): RequestContent => ({
  endpoint: 'chat',
  model: 'sandbox/echo',
  prompt: { instructions: [], messages: [said('user', asked)] },
  answer: { messages: [said('assistant', answered)], media: [] },
  truncated: false,
});

function said(role: string, text: string) {
  return { role, parts: [{ type: 'text' as const, content: text }] };
}

function find(rule: GuardrailRule, of: RequestContent, direction = 'input', patternSizes = [10]) {
  const guardrail = toGuardrail({
    id: 'g',
    tenantId: 't',
    revision: 1,
    name: 'a guardrail',
    action: 'log',
    appliesTo: ['input', 'output'],
    rules: [rule],
    patternSizes,
  });
  const triggered = [{ guardrailId: 'g', action: 'log', direction }];
  return findExcerpts(of, triggered, [guardrail]).map(({ excerpt }) => excerpt);
}

describe(findExcerpts.name, () => {
  it.each<[string, GuardrailRule]>([
    ['keyword', { type: 'keyword', words: ['falcon'] }],
    ['pattern', { type: 'regex', pattern: 'fal[a-z]on', flags: 'i' }],
  ])('shows the text around a %s', (_, rule) => {
    const [excerpt] = find(rule, content(`${BEFORE} falcon ${AFTER}`));
    expect(excerpt).toBe(`…${'a'.repeat(39)} falcon ${'z'.repeat(39)}…`);
    expect(find(rule, content('falcon'))).toEqual(['falcon']);
  });

  it('searches the direction of the match', () => {
    const rule: GuardrailRule = { type: 'keyword', words: ['falcon'] };
    expect(find(rule, content('falcon', 'an owl'), 'output')).toEqual([]);
    expect(find(rule, content('an owl', 'a falcon'), 'output')).toEqual(['a falcon']);
  });

  it('cuts very long matches', () => {
    const secret = `password = ${'x'.repeat(190)}${AFTER}`;
    expect(find({ type: 'secret' }, content(secret))[0]!.length).toBeLessThanOrEqual(401);
  });

  it.each<[string, GuardrailRule, number[]]>([
    ['a length', { type: 'max_length', max: 3 }, []],
    ['a pattern that is slow', { type: 'regex', pattern: 'falcon' }, [1_000]],
  ])('shows nothing for %s', (_, rule, sizes) => {
    expect(find(rule, content('a falcon'), 'input', sizes)).toEqual([]);
  });

  it('shows nothing for a deleted guardrail', () => {
    const triggered = [{ guardrailId: 'gone', action: 'log', direction: 'input' }];
    expect(findExcerpts(content('a falcon'), triggered, [])).toEqual([]);
  });
});
