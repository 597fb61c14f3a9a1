import { afterAll, describe, expect, it } from '@jest/globals';
import { toGuardrail, type Guardrail, type GuardrailDefinition } from './guardrail.js';
import type { GuardrailRule, PersonalData } from './guardrail-rule.js';
import { PatternScanPool } from './pattern-scan.pool.js';
import { TextScanner } from './text-scanner.service.js';

const pool = new PatternScanPool();
const scanner = new TextScanner(pool);
afterAll(() => pool.onApplicationShutdown());

function guardrail(rule: GuardrailRule, size = 50): Guardrail {
  return toGuardrail({
    id: 'id',
    tenantId: 'tenant',
    name: 'n',
    action: 'block',
    appliesTo: ['input'],
    rules: [rule],
    patternSizes: [size],
  } as GuardrailDefinition);
}

/**
 * Returns whether a rule matches a text, which must not depend on the length of the surrounding
 * text.
 */
async function matches(rule: GuardrailRule, text: string): Promise<boolean> {
  const found = async (whole: string): Promise<boolean> => {
    const { matched } = await scanner.scan([guardrail(rule)], { texts: [whole], characters: 0 });
    return matched.length === 1;
  };
  const short = await found(text);
  for (const length of [8_190, 40_000]) {
    expect(await found(`${'. '.repeat(length / 2)}${text} ${'. '.repeat(20_000)}`)).toBe(short);
  }
  return short;
}

describe('rules', () => {
  it.each<[PersonalData, string]>([
    ['email', 'Write to jane.doe+x@mail.example.com.'],
    ['phone', 'Call +1 415 555 2671 now'],
    ['phone', '+442079460958'],
    ['phone', '(415) 555-2671'],
    ['phone', '415-555-2671'],
    ['phone', '020 7946 0958'],
    ['phone', '(0171) 1234567'],
    ['phone', '0171/1234567'],
    ['phone', '01711234567'],
    ['phone', '+49 (171) 1234567'],
    ['phone', '+49-171-12 34 567'],
    ['phone', 'since +49 171 1234567 2026-11-21 00:00'],
    ['credit_card', '4111 1111 1111 1111'],
    ['credit_card', '4111-1111-1111-1111 2027'],
    ['credit_card', '378282246310005'],
    ['ssn', 'SSN 123-45-6789.'],
    ['iban', 'GB82 WEST 1234 5698 7654 32'],
    ['iban', 'DE89370400440532013000 PAID'],
    ['ip', 'from 192.168.10.20:80'],
    ['ip', 'at 2001:db8::8a2e:370:7334 now'],
  ])('find %s in %j', async (entity, text) => {
    expect(await matches({ type: 'pii', entities: [entity] }, text)).toBe(true);
  });

  it.each<[PersonalData, string]>([
    ['email', 'a @ b.c and x@y'],
    ['phone', '2026-11-21 12:14:33, 1,234,567 and 12.345.678'],
    ['phone', 'order 123456'],
    ['phone', `+${'1'.repeat(28)}`],
    ['phone', '0123 4567 8901 2345 6789'],
    ['phone', 'x+491711234567 and 01711234567x'],
    ['credit_card', '4111 1111 1111 1112'],
    ['credit_card', '12345678901234567890123'],
    ['ssn', '000-45-6789 and 123-45-67890'],
    ['iban', 'GB83 WEST 1234 5698 7654 32'],
    ['ip', 'version 1.2.3 at 12:34:56, 300.1.1.1, std::vector'],
  ])('do not find %s in %j', async (entity, text) => {
    expect(await matches({ type: 'pii', entities: [entity] }, text)).toBe(false);
  });

  it.each([
    ['AKIAIOSFODNN7EXAMPLE', true],
    [`sk-${'a1'.repeat(20)}`, true],
    [`ghp_${'a1'.repeat(18)}`, true],
    ['-----BEGIN RSA PRIVATE KEY-----', true],
    [`eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`, true],
    [`token:eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`, true],
    ['password = "hunter2hunter2"', true],
    ['risk-based approaches', false],
    ['the password is secret', false],
  ])('of type secret, given %j, return %j', async (text, expected) => {
    expect(await matches({ type: 'secret' }, text)).toBe(expected);
  });

  it.each([
    ['Secret', 'top SECRET!', true],
    ['secret', 'secretary', false],
    ['secret', 'top-secret', true],
    ['top secret', 'a Top Secret plan', true],
    ['top secret', 'top secrets', false],
    ['größe', 'GRÖSSE GRÖßE', true],
    ['机密', '这是机密文件', true],
    ['#x', 'a#x b', true],
    ['#x', 'a#xy b', false],
    ['c++', 'I like C++.', true],
    ['a', 'İ a', true],
  ])('of type keyword with %j, given %j, return %j', async (word, text, expected) => {
    expect(await matches({ type: 'keyword', words: [word] }, text)).toBe(expected);
  });

  it.each<[GuardrailRule, string]>([
    [{ type: 'pii', entities: ['phone'] }, `+${'1'.repeat(28)}a `],
    [{ type: 'pii', entities: ['phone'] }, `+1${'-1'.repeat(30)}a `],
    [{ type: 'pii', entities: ['phone'] }, `01${'11'.repeat(16)}a `],
    [{ type: 'pii', entities: ['phone'] }, `0${'1 '.repeat(25)}a,`],
    [{ type: 'pii', entities: ['credit_card'] }, `${'4111-'.repeat(10)}x`],
    [{ type: 'pii', entities: ['email'] }, `a@${'b.'.repeat(30)}1 `],
    [{ type: 'pii', entities: ['ip'] }, `${'abcd:'.repeat(7)}zz `],
    [{ type: 'pii', entities: ['iban'] }, `DE12 3${' A'.repeat(28)} `],
    [{ type: 'secret' }, 'eyJ-'],
    [{ type: 'secret' }, `eyJ-${'a'.repeat(200)}-`],
    [{ type: 'secret' }, `SG.${'a'.repeat(32)}.a `],
    [{ type: 'secret' }, `password${' '.repeat(8)}`],
  ])('%j scans repeated %j quickly', (rule, piece) => {
    const { finders } = guardrail(rule);
    const text = piece.repeat(32_000 / piece.length);
    const times = [1, 2, 3].map(() => {
      const startedMs = performance.now();
      for (const finder of finders) expect(finder.find(text, 0)).toBeUndefined();
      return performance.now() - startedMs;
    });
    // A text of 32,000 characters is scanned in one piece; a backtracking expression takes 0.2 s or
    // more.
    expect(Math.min(...times)).toBeLessThan(150);
  });

  it('run once, however often a guardrail repeats them', () => {
    const rules: GuardrailRule[] = [{ type: 'secret' }, { type: 'pii', entities: ['ip'] }];
    const made = (times: number): Guardrail =>
      toGuardrail({
        rules: Array.from({ length: times }, () => rules).flat(),
      } as GuardrailDefinition);
    expect(made(20).finders).toHaveLength(made(1).finders.length);
  });

  it.each([
    ['fal.on', '', 'a FALCON', false],
    ['fal.on', 'i', 'a FALCON', true],
    ['^b$', '', 'a\nb\nc', false],
    ['^b', 'm', 'a\nb', true],
    ['a.b', 's', 'a\nb', true],
    ['a.b', '', 'a\nb', false],
  ])('of type regex with /%s/%s, given %j, return %j', async (pattern, flags, text, expected) => {
    expect(await matches({ type: 'regex', pattern, flags }, text)).toBe(expected);
  });

  it('of type max_length count characters', async () => {
    const scan = async (characters: number): Promise<number> =>
      (await scanner.scan([guardrail({ type: 'max_length', max: 5 })], { texts: [''], characters }))
        .matched.length;
    expect([await scan(5), await scan(6)]).toEqual([0, 1]);
  });

  it('with a large pattern run in a thread, with the same outcome', async () => {
    const slow = guardrail(
      { type: 'regex', pattern: '(?i)(a.{0,300}b.{0,300}c.{0,300}d)\\b' },
      2e3,
    );
    const texts = ['x'.repeat(10)];
    const fine = await scanner.scan([slow], { texts, characters: 0 });
    expect([fine.matched, fine.unfinished]).toEqual([[], []]);
  });

  it('wait for more text where that could change the outcome', async () => {
    const class_ = guardrail({ type: 'keyword', words: ['class'] });
    const partial = { characters: 0, isPartial: true, from: 0 };
    const first = await scanner.scan([class_], { ...partial, texts: ['a class'] });
    expect(first).toMatchObject({ matched: [], undecidedFrom: 2 });
    expect(await scanner.scan([class_], { ...partial, texts: ['a classy'] })).toMatchObject({
      matched: [],
      undecidedFrom: Infinity,
    });
    expect(await scanner.scan([class_], { ...partial, texts: ['a class '] })).toMatchObject({
      matched: [class_],
    });
  });
});
