import { expect } from '@jest/globals';
import { userMessage } from '../../support/canonical-requests.js';
import type { ContractBench } from '../contract-bench.js';
import type { ContractCase } from '../contract-case.js';
import { firstTurn, LAST_WORD, secondTurn, TWO_CALLS } from '../contract-conversation.js';
import type { ReadRequest } from '../contract-vendor.js';
import { expectAnswer } from './answer-cases.js';

const FIRST_TURNS: ReadRequest['turns'] = [
  { role: 'user', text: 'What is the weather, and the time?', toolCalls: [], toolResults: [] },
  {
    role: 'assistant',
    text: 'Let me see.',
    toolCalls: [
      { name: 'get_weather', arguments: { city: 'Zürich', days: 2 } },
      { name: 'get_time', arguments: {} },
    ],
    toolResults: [],
  },
];
const RESULTS = ['Sunny, 21 degrees.', '12:30'];

/** The vendor gets what the caller requests. */
export const REQUEST_CASES: readonly ContractCase[] = [
  {
    name: 'a conversation of several turns, with instructions and controls',
    async run(bench, streamed) {
      const more = userMessage('Thanks. And tomorrow?');
      const prompt = {
        ...secondTurn(['call_one', 'call_two'], more),
        toolChoice: { name: 'get_weather' },
        sampling: { temperature: 0.5, stop: ['END', 'STOP'] },
      };
      await bench.answered(LAST_WORD, streamed, { prompt });
      expect(lastRequest(bench)).toEqual({
        system: 'Be brief.',
        turns: [
          ...FIRST_TURNS,
          { role: 'user', text: 'Thanks. And tomorrow?', toolCalls: [], toolResults: RESULTS },
        ],
        tools: ['get_weather', 'get_time'],
        toolChoice: { name: 'get_weather' },
        maxOutputTokens: 256,
        temperature: 0.5,
        stop: ['END', 'STOP'],
        stream: streamed,
      });
    },
  },
  {
    name: 'a required tool call',
    async run(bench, streamed) {
      const prompt = { ...firstTurn(), toolChoice: 'required' as const };
      await bench.answered(TWO_CALLS, streamed, { prompt });
      expect(lastRequest(bench).toolChoice).toBe('required');
    },
  },
  {
    name: 'the second turn, with the results of both tools',
    async run(bench, streamed) {
      const first = await bench.answered(TWO_CALLS, streamed, { prompt: firstTurn() });
      const ids = first.answer.toolCalls.map((call) => call.id);
      const second = await bench.answered(LAST_WORD, streamed, { prompt: secondTurn(ids) });
      expectAnswer(second, LAST_WORD);
      expect(lastRequest(bench).turns).toEqual([
        ...FIRST_TURNS,
        { role: 'user', text: '', toolCalls: [], toolResults: RESULTS },
      ]);
    },
  },
];

/** Returns the vendor's last request; consecutive turns of one role count as one. */
function lastRequest(bench: ContractBench): ReadRequest {
  const read = bench.vendor.readRequest(bench.server.calls.at(-1)!);
  const turns: ReadRequest['turns'] = [];
  for (const turn of read.turns) {
    const last = turns.at(-1);
    if (last?.role !== turn.role) turns.push({ ...turn });
    else {
      last.text += turn.text;
      last.toolCalls = [...last.toolCalls, ...turn.toolCalls];
      last.toolResults = [...last.toolResults, ...turn.toolResults];
    }
  }
  return { ...read, turns };
}
