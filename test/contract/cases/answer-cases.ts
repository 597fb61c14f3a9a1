import { expect } from '@jest/globals';
import { NO_USAGE } from '../../../src/canonical/usage.js';
import type { BenchAnswer, ContractBench, Outcome } from '../contract-bench.js';
import type { ContractCase } from '../contract-case.js';
import { firstTurn, LAST_WORD, TWO_CALLS, USAGE } from '../contract-conversation.js';
import type { ScriptedAnswer } from '../contract-vendor.js';

const text = 'Grüße, 世界 👩‍🚀: "a"\n\\b';

/** The caller gets what the vendor answers. */
export const ANSWER_CASES: readonly ContractCase[] = [
  answerCase('text', { text, finish: 'stop', usage: USAGE }),
  answerCase('reasoning before text', {
    reasoning: { text: 'Let me think.', signature: 'c2lnbmF0dXJl' },
    text,
    finish: 'stop',
    usage: USAGE,
  }),
  answerCase('an end by length', { text: 'Once upon', finish: 'length', usage: USAGE }),
  answerCase('an end by the content filter', {
    text: 'Well',
    finish: 'content_filter',
    usage: USAGE,
  }),
  {
    name: 'two parallel tool calls',
    async run(bench, streamed) {
      const outcome = await bench.answered(TWO_CALLS, streamed, { prompt: firstTurn() });
      expectAnswer(outcome, TWO_CALLS);
      const ids = outcome.answer.toolCalls.map((call) => call.id);
      expect(new Set(ids.filter((id) => id !== '')).size).toBe(2);
    },
  },
  {
    name: 'exact usage, cached and reasoning tokens included',
    async run(bench, streamed) {
      const { answer } = await bench.answered({ ...LAST_WORD, usage: USAGE }, streamed);
      expect(asAllVendorsSay(answer.usage)).toEqual({
        ...NO_USAGE,
        inputTokens: USAGE.input,
        outputTokens: USAGE.output,
        cacheReadTokens: USAGE.cacheRead,
      });
      const counted = bench.vendor.countsReasoning
        ? [USAGE.reasoning]
        : [USAGE.reasoning, NO_USAGE.reasoningTokens];
      expect(counted).toContain(answer.usage?.reasoningTokens);
    },
  },
  {
    name: 'the same answer and usage as whole',
    only: 'streamed',
    async run(bench) {
      for (const answer of [TWO_CALLS, { ...LAST_WORD, usage: USAGE }]) {
        const whole = await bench.answered(answer, false, { prompt: firstTurn() });
        const streamed = await bench.answered(answer, true, { prompt: firstTurn() });
        expect(withoutIds(streamed.answer)).toEqual(withoutIds(whole.answer));
      }
    },
  },
];

function answerCase(name: string, answer: ScriptedAnswer): ContractCase {
  return {
    name,
    run: async (bench: ContractBench, streamed: boolean) =>
      expectAnswer(await bench.answered(answer, streamed), answer),
  };
}

/** Expects a complete answer with exactly the scripted content. */
export function expectAnswer({ answer, failure }: Outcome, scripted: ScriptedAnswer): void {
  expect(failure).toBeUndefined();
  expect({ ...withoutIds(answer), usage: undefined }).toEqual({
    text: scripted.text ?? '',
    reasoning: scripted.reasoning?.text ?? '',
    toolCalls: (scripted.toolCalls ?? []).map((call) => ({
      name: call.name,
      arguments: JSON.parse(call.arguments) as unknown,
    })),
    finish: scripted.finish,
    usage: undefined,
  });
  expect(answer.usage).toMatchObject({
    inputTokens: scripted.usage.input,
    outputTokens: scripted.usage.output,
  });
}

/** Removes ids, since the gateway creates them for vendors without any. */
export function withoutIds(answer: BenchAnswer): object {
  const toolCalls = answer.toolCalls.map(({ name, arguments: args }) => ({
    name,
    arguments: args,
  }));
  return { ...answer, toolCalls };
}

/** Removes usage figures that not every vendor reports. */
export function asAllVendorsSay(usage: BenchAnswer['usage']): object {
  return { ...usage, reasoningTokens: 0, servedTier: undefined };
}
