import { request } from 'undici';
import { told } from '../table.mjs';

/** What the service shows to everybody, the costly pages among them. */
const OPEN_PATHS = [
  '/docs',
  '/docs-json',
  '/docs/swagger-ui-bundle.js',
  '/metrics',
  '/console/',
  '/healthz',
  '/readyz',
  '/',
  '/nothing-here',
];
const CALLERS = 24;
const LASTS_MS = 4_000;

/** Callers without a key, who fetch what needs none over and over, as often as they get it. */
export const doorsAttack = {
  id: 'doors',
  before: {},
  async run(stronghold) {
    const untilMs = Date.now() + LASTS_MS;
    const served = Object.fromEntries(OPEN_PATHS.map((path) => [path, 0]));
    let lost = 0;
    const fetchAll = async (first) => {
      for (let next = first; Date.now() < untilMs; next++) {
        const path = OPEN_PATHS[next % OPEN_PATHS.length];
        try {
          const { body } = await request(stronghold.url + path, { dispatcher: stronghold.agent });
          await body.dump({ limit: Infinity });
          served[path]++;
        } catch {
          lost++;
        }
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, index) => fetchAll(index)));
    const answers = Object.values(served).reduce((sum, count) => sum + count, 0);
    return [told('answers to callers without a key', answers), told('not answered at all', lost)];
  },
};
