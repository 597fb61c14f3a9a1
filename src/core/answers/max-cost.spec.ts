import { describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute } from '../../../test/support/catalogue-models.js';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { SeededRandom } from '../../../test/support/seeded-random.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { CoarseTimer } from '../../platform/time/coarse-timer.js';
import { MaxCostError } from '../../platform/errors/gateway-errors.js';
import type { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import type { Caller } from '../access/caller.js';
import { InProcessRateLimiter } from '../access/rate-limiters.js';
import { RequestRates } from '../access/request-rates.js';
import { exactPricingOf } from '../catalogue/exact-pricing-of.js';
import type { Model } from '../catalogue/catalogue.types.js';
import type { ByokAccess } from '../credentials/byok-upstreams.service.js';
import { ByokCredential } from '../credentials/credential.repository.js';
import type { AbandonedAnswers } from '../ledger/abandoned-answers.js';
import { AccountStates } from '../ledger/account-states.js';
import { admitRequests } from '../ledger/admit-requests.js';
import { CoverEntry, HoldEntry, SettleEntry } from '../ledger/ledger-entry.js';
import type {
  CoverOperation,
  HoldOperation,
  SettleOperation,
} from '../ledger/ledger-operations.js';
import { LedgerService } from '../ledger/ledger.service.js';
import type { LedgerStore } from '../ledger/ledger-store.js';
import { MaxCost } from '../ledger/max-cost.js';
import { priceRoute, totalOf } from '../ledger/pricing.js';
import { settleGroup } from '../ledger/settle-group.js';
import { Plan, type PlannedRoute } from '../routing/plan.js';
import type { RoutingState } from '../routing/routing-state.js';
import { selectRoutes } from '../routing/select-routes.js';
import { toTextCall } from '../routing/to-upstream-call.js';

const REQUESTS = 1_000;
const SEED = 22;
const PROVIDERS = ['one', 'two', 'three'];
const CALLER = { tenantId: 'tenant', apiKeyId: 'key' } as Caller;
const TIMER = { watch: () => undefined, unwatch: () => undefined } as unknown as CoarseTimer;

/** The ledger's arithmetic over one account, in memory. */
class Books {
  accounts: AccountStates;
  readonly holds = new Map<string, number>();
  last: { charge: number; cost: number; shortfall: number } | undefined;

  constructor(private readonly credits: number) {
    this.accounts = new AccountStates();
    this.accounts.add('tenant', credits, 0);
  }

  get store(): LedgerStore {
    const store = {
      hold: async (operation: HoldOperation) => {
        const entry = new HoldEntry(operation, TIMER);
        admitRequests(this.accounts, [entry], new Set());
        const { outcome } = entry;
        if (outcome?.admitted) {
          this.holds.set(operation.requestId, outcome.granted ?? operation.amount);
        }
        return outcome;
      },
      cover: (operation: CoverOperation) => this.enlarge(new CoverEntry(operation, TIMER)),
      settle: async ({ charge, log }: SettleOperation) => {
        const entry = new SettleEntry(log, charge, true);
        this.accounts.end('tenant', this.holds.get(log.requestId)!);
        settleGroup(this.accounts, [entry], this.holds, new Map());
        this.holds.delete(log.requestId);
        this.last = { charge: totalOf(charge), ...entry.outcome! };
        return entry.outcome;
      },
    };
    return store as unknown as LedgerStore;
  }

  get spent(): number {
    return this.credits - this.accounts.available('tenant');
  }

  private async enlarge(entry: CoverEntry): Promise<number | undefined> {
    admitRequests(this.accounts, [entry], new Set([entry.requestId]));
    if (!entry.outcome) return undefined;
    this.holds.set(entry.requestId, this.holds.get(entry.requestId)! + entry.granted);
    return entry.granted;
  }
}

/** USD per unit, from nothing to 1,000 credits. */
function price(random: SeededRandom): string {
  const digits = random.pick([0, 1, 7, 42, 999, 12_345, 1_000_000]);
  return (digits / 1e9).toFixed(9);
}

function makeModel(random: SeededRandom, id: string): Model {
  const routes = PROVIDERS.slice(0, 1 + random.below(PROVIDERS.length)).map((provider) =>
    modelRoute(provider, {
      pricing: exactPricingOf({
        prompt: price(random),
        completion: price(random),
        ...(random.next() < 0.4 && { reasoning: price(random) }),
        ...(random.next() < 0.4 && { input_cache_write: price(random) }),
        ...(random.next() < 0.2 && { request: price(random) }),
      }),
    }),
  );
  const longest = random.pick([null, 1, 15, 400, 64_000]);
  return chatModel(id, routes, {
    context_length: random.pick([1_000, 128_000]),
    max_completion_tokens: longest,
  });
}

function makeAccounts(random: SeededRandom): ByokAccess[] {
  if (random.next() < 0.7) return [];
  const credential = new ByokCredential({
    id: 'own',
    provider: random.pick(PROVIDERS),
    allowSharedFallback: random.next() < 0.8,
    settings: {},
    encryptedKey: Buffer.alloc(0),
  });
  return [{ credential } as unknown as ByokAccess];
}

function makeState(random: SeededRandom): RoutingState {
  return {
    isConfigured: () => true,
    vendorOf: () => ({}),
    isCooling: () => false,
    isPaused: () => false,
    speedOf: () => undefined,
    wholeLatencyMs: () => undefined,
    isToBeMeasured: () => false,
    limits: {
      connectTimeoutMs: 5_000,
      firstByteTimeoutMs: undefined,
      idleTimeoutMs: 60_000,
      requestTimeoutMs: 600_000,
      cooldownMs: 30_000,
    },
    byokFeePercent: random.pick([0, 1, 5, 33, 100, 250]),
    byok: makeAccounts(random),
  };
}

/** A vendor's usage report, possibly false. */
function lie(random: SeededRandom): Usage {
  const tokens = (): number => random.pick([0, 1, 50, 5_000, 10_000_000, 999_999_999]);
  const [inputTokens, outputTokens] = [tokens(), tokens()];
  return {
    ...NO_USAGE,
    inputTokens,
    outputTokens,
    cacheWriteTokens: random.next() < 0.3 ? inputTokens : 0,
    reasoningTokens: random.next() < 0.3 ? outputTokens : 0,
    webSearches: random.next() < 0.1 ? tokens() : 0,
  };
}

async function* answerOf(
  random: SeededRandom,
  plan: Plan,
  route: PlannedRoute,
): AsyncGenerator<CanonicalEvent> {
  const startedAt = new Date();
  plan.attempts.push({
    ...{ route, startedAt, sentAt: startedAt, durationMs: 0 },
    outcome: 'answered',
  });
  yield { type: 'route', route, droppedParams: [] };
  yield { type: 'text', choice: 0, text: 'Hi' };
  if (random.next() < 0.1) throw new Error('interrupted');
  yield { type: 'finish', choice: 0, reason: 'stop' };
  yield { type: 'usage', usage: lie(random) };
}

function makeLedger(random: SeededRandom, books: Books): LedgerService {
  const ignored = () => undefined;
  const metrics = {
    ...{ track: ignored, observeHold: ignored, observeSettle: ignored, observeRequest: ignored },
    observeCappedUsage: ignored,
  };
  const abandoned = {
    endGraces: ignored,
    beginGrace: () => ignored,
    read: async () => lie(random),
  };
  const ledger = new LedgerService(
    books.store,
    metrics as unknown as GatewayMetrics,
    abandoned as unknown as AbandonedAnswers,
    { settle: 'before-end' },
    new RequestRates(new InProcessRateLimiter()),
  );
  Object.assign(ledger['plausible'], { logger: { warn: ignored } });
  return ledger;
}

/** Matchers would take most of the time. */
function check(holds: boolean, request: number): void {
  if (!holds) throw new Error(`the invariant fails for request ${request}`);
}

describe('max_cost', () => {
  it(`holds over ${REQUESTS} random requests, prices, fallbacks and false usage reports (seed ${SEED})`, async () => {
    const random = new SeededRandom(SEED);
    const seen = { refused: 0, fitted: 0, covered: 0, capped: 0, byok: 0, charged: 0, left: 0 };
    for (let index = 0; index < REQUESTS; index++) {
      const maxCost = 1 + Math.floor(10 ** (random.next() * 8));
      const mode = random.pick(['strict', 'fit'] as const);
      const ownLimit = random.pick([undefined, 1, 20, 700, 50_000]);
      const request = chatRequest({
        messages: [{ role: 'user', content: 'x'.repeat(1 + random.below(3_000)) }],
        n: random.pick([1, 1, 1, 3]),
        ...(ownLimit !== undefined && { max_tokens: ownLimit }),
      });
      const models = ['a/a', 'b/b']
        .slice(0, 1 + random.below(2))
        .map((id) => makeModel(random, id));
      const leastOutput = random.pick([1, 16]);
      const limit = new MaxCost(maxCost, mode, leastOutput);
      const state = { ...makeState(random), costLimit: limit };
      let routes: [PlannedRoute, ...PlannedRoute[]];
      try {
        routes = selectRoutes(request, models, state);
      } catch (error) {
        if (!(error instanceof MaxCostError)) throw error;
        const needed = Number(/`max_cost`: (\d+)/.exec(error.message)?.[1]);
        check(needed > maxCost, index);
        // That many credits would have been enough.
        const enough = new MaxCost(needed, mode, leastOutput);
        check(selectRoutes(request, models, { ...state, costLimit: enough }).length > 0, index);
        seen.refused++;
        continue;
      }
      const books = new Books(random.pick([1_000, 1_000_000, 1e15]));
      const ledger = makeLedger(random, books);
      const gone = new AbortController();
      const plan = new Plan(request, routes, {
        requestId: `request ${index}`,
        endpoint: 'chat',
        receivedAt: new Date(),
        callerGone: gone.signal,
      });
      const hold = await ledger.hold(CALLER, plan).catch(() => undefined);
      if (!hold) continue;
      check(hold.credits <= maxCost, index);
      let answering: PlannedRoute = routes[0];
      for (const route of routes.slice(1, 1 + random.below(3))) {
        if (!(await hold.cover(route))) continue;
        answering = route;
        seen.covered++;
        check(hold.credits <= maxCost, index);
      }
      if (answering.output?.isFitted) {
        seen.fitted++;
        const told = toTextCall(plan, answering, answering.limits);
        const tokens = told.request.maxOutputTokens ?? told.ownOutputLimit ?? Infinity;
        check(tokens === told.ownOutputLimit, index);
        check(tokens <= (ownLimit ?? Infinity), index);
        const outputTokens = tokens * request.choices;
        const all = { ...answering.ceiling, outputTokens, reasoningTokens: 0 };
        check(totalOf(priceRoute(all, answering)) <= maxCost, index);
      } else if (ownLimit !== undefined) {
        const told = toTextCall(plan, answering, answering.limits);
        check(told.request.maxOutputTokens === ownLimit, index);
      }

      const events = ledger.settle(hold, answerOf(random, plan, answering));
      const leaves = random.next() < 0.2;
      try {
        for await (const event of events) {
          if (leaves && event.type === 'text') break;
        }
      } catch {
        // Interrupted answers are free.
      }
      if (leaves) seen.left++;
      const { charge, cost, shortfall } = books.last!;
      check(cost <= maxCost, index);
      check(cost + shortfall === charge, index);
      check(books.spent === cost, index);
      check(books.holds.size === 0, index);
      if (shortfall > 0) seen.capped++;
      if (cost > 0) seen.charged++;
      if (answering.trafficMode === 'byok') seen.byok++;
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(30);
  }, 120_000);

  it('names the credits that the shortest or longest answer needs', () => {
    const model = chatModel('a/a', [modelRoute('one')], { max_completion_tokens: 1_000 });
    const state = makeState(new SeededRandom(1));
    const refusalOf = (mode: 'strict' | 'fit') => {
      const costLimit = new MaxCost(1, mode, 16);
      return () => selectRoutes(chatRequest(), [model], { ...state, byok: [], costLimit });
    };
    // 9 prompt tokens at one credit, and output at 2 credits per token.
    expect(refusalOf('strict')).toThrow(
      expect.objectContaining({
        status: 402,
        type: 'budget_exceeded',
        param: 'max_cost',
        message: expect.stringMatching(
          /could cost 2009. Send `max_cost`: 2009, set an output limit/,
        ),
      }),
    );
    expect(refusalOf('fit')).toThrow(/shortest answer need 41. Send `max_cost`: 41, shorten/);
  });

  it('keeps the first route that fits when fallbacks are off', () => {
    const expensive = modelRoute('one', {
      pricing: exactPricingOf({ prompt: '1', completion: '1' }),
    });
    const model = chatModel('a/a', [expensive, modelRoute('two')], { max_completion_tokens: 100 });
    const request = chatRequest({ provider: { allow_fallbacks: false } });
    const state = { ...makeState(new SeededRandom(1)), byok: [] };
    const costLimit = new MaxCost(1_000, 'strict', 1);
    const routes = selectRoutes(request, [model], { ...state, costLimit });
    expect(routes.map(({ provider, maxCost }) => [provider, maxCost])).toEqual([['two', 1_000]]);
  });
});
