import { setTimeout as wait } from 'node:timers/promises';
import { told } from '../table.mjs';
import { makeBody } from './prompts.mjs';
import { addGuardrail, deleteGuardrails } from './share-attack.mjs';

const CALLERS = 40;
const LASTS_MS = 6_000;
const GUARDRAILS_OF_IT = 40;
/** Near misses of numbers and tokens, which cost the gateway's built-in expressions the most time. */
const SHORT_PROMPTS = [`+${'1'.repeat(28)}a `.repeat(1_000), 'eyJ-'.repeat(8_000)];
const LONG_PROMPTS = SHORT_PROMPTS.map((prompt) => prompt.repeat(10));
const PERSONAL_DATA = ['email', 'phone', 'credit_card', 'ssn', 'iban', 'ip'];

/** One tenant has many built-in guardrails and prompts that are hard on them. */
export const ownRulesAttack = {
  id: 'own-rules',
  before: {
    "the neighbour's p99": '9438 ms, 280 of 340 lost',
    'the process': 'no response within 10 s',
  },
  async run(stronghold) {
    const common = [{ type: 'secret' }, { type: 'pii', entities: PERSONAL_DATA }];
    for (let index = 0; index < GUARDRAILS_OF_IT; index++) {
      await addGuardrail(stronghold, { rules: [...common, nearWords(index)] });
    }
    const bodies = [...SHORT_PROMPTS, ...LONG_PROMPTS].map((prompt) =>
      JSON.stringify(makeBody('chat', { model: 'bench/liar', plan: {}, prompt })),
    );
    const untilMs = Date.now() + LASTS_MS;
    let answers = 0;
    const ask = async (first) => {
      for (let next = first; Date.now() < untilMs; next++) {
        const body = bodies[next % bodies.length];
        const signal = AbortSignal.timeout(Math.max(1, untilMs - Date.now()));
        await stronghold.call('/v1/chat/completions', { body, signal }).then(
          () => answers++,
          () => wait(10),
        );
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, index) => ask(index)));
    return [told('answers', answers)];
  },
  async cleanUp(stronghold) {
    await deleteGuardrails(stronghold, stronghold.keys.attacker);
  },
};

/** Phrases that begin like the prompts, different in each guardrail. */
function nearWords(guardrail) {
  const words = Array.from({ length: 50 }, (_, index) => `eyJ-eyJ-x${guardrail}-${index}`);
  return { type: 'keyword', words };
}
