import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { bedrockTraits } from './bedrock-models.js';

interface Row {
  kind: string;
  supported_parameters?: string[];
  routes: { provider: string; model: string }[];
}

/** Models of the built-in catalogue on Bedrock, with their parameters. */
const rows = (
  JSON.parse(readFileSync('src/core/catalogue/data/bedrock.json', 'utf8')) as { models: Row[] }
).models
  .filter(({ kind }) => kind === 'chat')
  .flatMap(({ routes, supported_parameters = [] }) =>
    routes
      .filter(({ provider }) => provider === 'bedrock')
      .map(({ model }) => [model, new Set(supported_parameters)] as const),
  );

describe(bedrockTraits.name, () => {
  it('covers the whole catalogue', () => {
    expect(rows.length).toBeGreaterThan(15);
  });

  it.each(rows)('of %s agree with the catalogue', (model, parameters) => {
    const traits = bedrockTraits(model);
    expect(traits.samplers !== 'none').toBe(parameters.has('temperature'));
    expect(traits.stops !== 'none').toBe(parameters.has('stop'));
    if (traits.reasoning.kind !== 'none') expect(parameters).toContain('reasoning');
    if (parameters.has('response_format')) {
      expect(traits.nativeSchemas || traits.forcedTools !== 'none').toBe(true);
    }
  });

  it.each([
    ['anthropic.claude-3-5-sonnet-20241022-v2:0', 'none', 'anthropic', 'both'],
    ['us.anthropic.claude-3-7-sonnet-20250219-v1:0', 'budget', 'anthropic', 'one'],
    ['anthropic.claude-sonnet-4-20250514-v1:0', 'budget', 'anthropic', 'one'],
    ['anthropic.claude-opus-4-1-20250805-v1:0', 'budget', 'anthropic', 'one'],
    ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'budget', 'anthropic', 'one'],
    ['anthropic.claude-opus-4-6-v1', 'adaptive', 'anthropic', 'one'],
    ['us.anthropic.claude-opus-4-8', 'adaptive', 'anthropic', 'none'],
    ['global.anthropic.claude-opus-5', 'adaptive', 'anthropic', 'none'],
    ['global.anthropic.claude-opus-5-5', 'adaptive', 'anthropic', 'none'],
    ['anthropic.claude-fable-5', 'adaptive', 'anthropic', 'none'],
    ['anthropic.claude-something-9', 'adaptive', 'anthropic', 'none'],
    [
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0',
      'budget',
      'anthropic',
      'one',
    ],
    ['global.amazon.nova-2-lite-v1:0', 'reasoning-config', 'bedrock', 'both'],
    ['amazon.nova-pro-v1:0', 'none', 'bedrock', 'both'],
    ['openai.gpt-oss-120b-1:0', 'flat-effort', 'bedrock', 'both'],
    ['us.openai.gpt-5.6-sol', 'nested-effort', 'bedrock', 'none'],
    [
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc',
      'none',
      'bedrock',
      'both',
    ],
  ])('of %s: reasoning %s, signed by %s, samplers %s', (model, kind, signatureIssuer, samplers) => {
    const traits = bedrockTraits(model);
    expect([traits.reasoning.kind, traits.signatureIssuer, traits.samplers]).toEqual([
      kind,
      signatureIssuer,
      samplers,
    ]);
  });

  it('enforce schemas on the newest models, which cannot be forced to call a tool', () => {
    const abilities = (model: string) => {
      const { nativeSchemas, forcedTools, strictTools } = bedrockTraits(model);
      return [nativeSchemas, forcedTools, strictTools];
    };
    expect(abilities('us.anthropic.claude-sonnet-4-5-x')).toEqual([true, 'any-or-named', true]);
    expect(abilities('us.anthropic.claude-opus-5')).toEqual([false, 'any-or-named', false]);
    expect(abilities('us.anthropic.claude-opus-5-5')).toEqual([true, 'none', false]);
    expect(abilities('us.anthropic.claude-haiku-5-5')).toEqual([true, 'any-or-named', false]);
    expect(abilities('us.meta.llama4-scout-17b-instruct-v1:0')).toEqual([false, 'none', false]);
  });

  it('give no redacted reasoning of one family to another', () => {
    const makers = ['anthropic.claude-x', 'amazon.nova-x', 'openai.gpt-x', 'unknown'].map(
      (model) => bedrockTraits(model).redactedIssuer,
    );
    expect(new Set(makers).size).toBe(makers.length);
  });
});
