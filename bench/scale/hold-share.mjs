/**
 * Simulates which share of available credits a request without an output limit may hold: 200 concurrent
 * callers with five requests each, on accounts of several sizes. Pure arithmetic with a seeded
 * generator; prints the table of docs/decisions/0018.
 *
 *   node bench/scale/hold-share.mjs
 */
import { Random } from '../seeded-random.mjs';

const CALLERS = 200;
const REQUESTS_EACH = 5;
const PROMPT_TOKENS = 1_000;
const TOKENS_PER_SECOND = 60;

/** Prices in credits per token, longest answer in tokens. */
const MODELS = [
  { name: 'small', prompt: 0.15, completion: 0.6, longest: 16_384 },
  { name: 'middle', prompt: 2, completion: 10, longest: 128_000 },
  { name: 'large', prompt: 5, completion: 25, longest: 128_000 },
];
const USD = [1, 10, 1_000];
/** Share and floor. Without a share: a fixed limit of 4,096 tokens, sent to the vendor. */
const RULES = [
  { share: 8, floor: 4_096 },
  { share: 16, floor: 4_096 },
  { share: 32, floor: 4_096 },
  { share: 64, floor: 4_096 },
  { share: undefined, floor: 4_096 },
  { share: 32, floor: 1_024 },
  { share: 32, floor: 16_384 },
];

/** Log-normal: half are shorter than 600 tokens, 6 % longer than 4,096, 0.4 % longer than 16,384. */
function wantedLength(random) {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.max(1, Math.round(600 * Math.exp(1.25 * normal)));
}

function simulate({ share, floor }, model, credits) {
  const numbers = new Random(18);
  const random = () => numbers.next();
  const base = Math.ceil(PROMPT_TOKENS * model.prompt);
  const priceOf = (tokens) => Math.ceil(PROMPT_TOKENS * model.prompt + tokens * model.completion);
  const least = priceOf(Math.min(floor, model.longest));
  const most = priceOf(model.longest);
  const asks = Array.from({ length: CALLERS }, (_, caller) => ({
    atMs: caller,
    left: REQUESTS_EACH,
  }));
  const events = asks.map((ask) => ({ ...ask, kind: 'ask' }));
  let balance = credits;
  let held = 0;
  const result = { atOnce: 0, served: 0, cut: 0, shortfall: 0 };
  while (events.length > 0) {
    events.sort((one, other) => other.atMs - one.atMs);
    const event = events.pop();
    if (event.kind === 'end') {
      held -= event.hold;
      const charge = Math.min(event.charge, balance);
      result.shortfall += event.charge - charge;
      balance -= charge;
      if (event.left > 1) events.push({ kind: 'ask', atMs: event.atMs + 1, left: event.left - 1 });
      continue;
    }
    const wanted = Math.min(wantedLength(random), model.longest);
    const available = balance - held;
    const part =
      share === undefined ? 0 : Math.min(available, base + Math.floor(available / share));
    const hold = Math.min(most, Math.max(least, part));
    if (hold > available) continue;
    held += hold;
    const limit = Math.min(model.longest, Math.floor((hold - base) / model.completion));
    const length = Math.min(wanted, limit);
    result.served++;
    if (event.left === REQUESTS_EACH) result.atOnce++;
    if (wanted > limit) result.cut++;
    const atMs = event.atMs + 300 + (length / TOKENS_PER_SECOND) * 1_000;
    events.push({ kind: 'end', atMs, hold, charge: priceOf(length), left: event.left });
  }
  return result;
}

const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;

process.stdout.write(
  '| account | model | share | floor | at once | served | cut short | shortfall |\n',
);
process.stdout.write(
  '| ------- | ----- | ----- | ----: | ------: | -----: | --------: | --------: |\n',
);
for (const usd of USD) {
  for (const model of MODELS) {
    for (const rule of RULES) {
      const { atOnce, served, cut, shortfall } = simulate(rule, model, usd * 1_000_000);
      const cells = [
        `${usd} USD`,
        model.name,
        rule.share === undefined ? 'none' : `1/${rule.share}`,
        rule.floor,
        atOnce,
        served,
        percent(cut, served || 1),
        shortfall,
      ];
      process.stdout.write(`| ${cells.join(' | ')} |\n`);
    }
  }
}
