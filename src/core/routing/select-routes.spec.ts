import { describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute, tokenPricing } from '../../../test/support/catalogue-models.js';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { embeddingRequest } from '../../../test/support/embedding-requests.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import { exactPricingOf } from '../catalogue/exact-pricing-of.js';
import type { Model } from '../catalogue/catalogue.types.js';
import { NotFoundError, ProviderUnavailableError } from '../../platform/errors/gateway-errors.js';
import { ByokCredential } from '../credentials/credential.repository.js';
import { estimateTokens } from '../../canonical/prompt-size.js';
import { readAllowance } from '../../vendors/account-allowance.js';
import type { ByokAccess } from '../credentials/byok-upstreams.service.js';
import type { CanonicalRequest, VendorHeaders } from '../../canonical/canonical-request.js';
import { messagesRequest } from '../../../test/support/messages-requests.js';
import type { Pricing } from '../catalogue/catalogue.types.js';
import type { LeftOutRoute } from './plan.js';
import { selectRoutes, type RoutingState } from './select-routes.js';

const LIMITS = {
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: undefined,
  idleTimeoutMs: 60_000,
  requestTimeoutMs: 600_000,
  cooldownMs: 30_000,
};

const NOTHING_PARTICULAR: RoutingState = {
  isConfigured: () => true,
  vendorOf: () => ({}),
  isCooling: () => false,
  isPaused: () => false,
  speedOf: () => undefined,
  wholeLatencyMs: () => undefined,
  isToBeMeasured: () => false,
  limits: LIMITS,
  byokFeePercent: 5,
  byok: [],
};

const gpt = chatModel('openai/gpt', [modelRoute('openai'), modelRoute('azure')]);
const claude = chatModel('anthropic/claude', [
  modelRoute('anthropic'),
  modelRoute('bedrock'),
  modelRoute('vertex'),
]);

interface Situation {
  unconfigured?: string[];
  cooling?: string[];
  paused?: string[];
  latencies?: Record<string, number>;
  limits?: Partial<RoutingState['limits']>;
  byok?: ByokAccess[];
}

function select(
  fields: Record<string, unknown> = {},
  {
    unconfigured = [],
    cooling = [],
    paused = [],
    latencies = {},
    limits,
    byok = [],
  }: Situation = {},
  models = [gpt, claude],
) {
  return selectRoutes(chatRequest(fields), models, {
    isConfigured: (provider) => !unconfigured.includes(provider),
    vendorOf: () => ({}),
    isCooling: ({ provider }) => cooling.includes(provider),
    isPaused: ({ provider }) => paused.includes(provider),
    speedOf: () => undefined,
    wholeLatencyMs: ({ provider }) => latencies[provider],
    isToBeMeasured: () => false,
    limits: { ...LIMITS, ...limits },
    byokFeePercent: 5,
    byok,
  });
}

const providersOf = (...rest: Parameters<typeof select>) =>
  select(...rest).map(({ provider }) => provider);

describe(selectRoutes.name, () => {
  it('gives the routes of each model in the order of the chain', () => {
    expect(select().map(({ model, provider }) => `${model} at ${provider}`)).toEqual([
      'openai/gpt at openai',
      'openai/gpt at azure',
      'anthropic/claude at anthropic',
      'anthropic/claude at bedrock',
      'anthropic/claude at vertex',
    ]);
  });

  it('tries no route that is paused, not even where all others are cooling down', () => {
    const situation = { paused: ['openai'], cooling: ['azure', 'anthropic', 'bedrock', 'vertex'] };
    expect(providersOf({}, situation)).toEqual(['azure']);
    expect(providersOf({}, { paused: ['azure', 'vertex'] })).toEqual([
      'openai',
      'anthropic',
      'bedrock',
    ]);
  });

  it('says that all routes are paused, also where only the wishes of the caller leave no other', () => {
    const refusal = expect.objectContaining({
      status: 503,
      type: 'provider_unavailable',
      message: expect.stringMatching(/paused every route to openai\/gpt that/),
    });
    expect(() => select({}, { paused: ['openai', 'azure'] }, [gpt])).toThrow(refusal);
    const wish = { provider: { only: ['openai'] } };
    expect(() => select(wish, { paused: ['openai'] }, [gpt])).toThrow(refusal);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    [
      'order',
      { order: ['vertex', 'azure'] },
      ['azure', 'openai', 'vertex', 'anthropic', 'bedrock'],
    ],
    ['order of strangers', { order: ['x'] }, ['openai', 'azure', 'anthropic', 'bedrock', 'vertex']],
    ['only', { only: ['azure', 'bedrock'] }, ['azure', 'bedrock']],
    ['ignore', { ignore: ['openai', 'anthropic'] }, ['azure', 'bedrock', 'vertex']],
    ['only and ignore', { only: ['azure', 'vertex'], ignore: ['azure'] }, ['vertex']],
    ['no fallbacks', { allow_fallbacks: false }, ['openai']],
    ['no fallbacks and order', { allow_fallbacks: false, order: ['azure'] }, ['azure']],
  ])('minds %s', (_, provider, expected) => {
    expect(providersOf({ provider })).toEqual(expected);
  });

  it('leaves out providers that are not configured or cooling down', () => {
    expect(providersOf({}, { unconfigured: ['openai'], cooling: ['bedrock'] })).toEqual([
      'azure',
      'anthropic',
      'vertex',
    ]);
  });

  it('takes the next one when fallbacks are off and the first cools down', () => {
    const provider = { allow_fallbacks: false };
    expect(providersOf({ provider }, { cooling: ['openai'] })).toEqual(['azure']);
  });

  it('tries the best one all the same when all cool down', () => {
    const cooling = ['openai', 'azure', 'anthropic', 'bedrock', 'vertex'];
    expect(providersOf({}, { cooling })).toEqual(['openai']);
    expect(providersOf({ provider: { ignore: ['openai'] } }, { cooling })).toEqual(['azure']);
    expect(providersOf({ provider: { order: ['azure'] } }, { cooling })).toEqual(['azure']);
  });

  it('says which models no provider is configured for', () => {
    const unconfigured = ['openai', 'azure', 'anthropic', 'bedrock', 'vertex'];
    expect(() => select({}, { unconfigured })).toThrow(ProviderUnavailableError);
    expect(() => select({}, { unconfigured })).toThrow('openai/gpt, anthropic/claude');
  });

  it.each([
    { only: ['fish-audio'] },
    { only: [] },
    { ignore: ['openai', 'azure', 'anthropic', 'bedrock', 'vertex'] },
    { only: ['openai'], ignore: ['openai'] },
  ])('finds nothing left by %j', (provider) => {
    expect(() => select({ provider })).toThrow(NotFoundError);
    expect(() => select({ provider })).toThrow(expect.objectContaining({ param: 'provider' }));
  });

  describe('sorted', () => {
    const priced = (provider: string, prompt: string, completion: string) =>
      modelRoute(provider, { pricing: tokenPricing(prompt, completion) });
    const models = [
      chatModel('a/dear', [
        priced('a', '0.000003', '0.000009'),
        priced('b', '0.000002', '0.000009'),
      ]),
      chatModel('c/cheap', [
        priced('c', '0.000001', '0.000001'),
        priced('d', '0.000001', '0.000001'),
      ]),
    ];
    const sorted = (fields: Record<string, unknown> = {}, situation: Situation = {}) =>
      providersOf({ route: 'sort', ...fields }, situation, models);

    it('puts the cheapest first, over all models', () => {
      expect(sorted()).toEqual(['c', 'd', 'b', 'a']);
    });

    it('weighs prompt and completion as the request needs them', () => {
      const routes = [priced('in', '0.00001', '0.000001'), priced('out', '0.000001', '0.00001')];
      const model = chatModel('in/x', routes);
      const cheapest = (fields: Record<string, unknown>) =>
        providersOf({ route: 'sort', ...fields }, {}, [model])[0];
      const long = [{ role: 'user', content: 'x'.repeat(3_000) }];
      expect(cheapest({ max_tokens: 4_000 })).toBe('in');
      expect(cheapest({ max_tokens: 1, messages: long })).toBe('out');
    });

    it('decides between equal prices by latency, the unknown last', () => {
      expect(sorted({}, { latencies: { d: 50 } })).toEqual(['d', 'c', 'b', 'a']);
      expect(sorted({}, { latencies: { d: 50, c: 20 } })).toEqual(['c', 'd', 'b', 'a']);
    });

    it('weighs other units than tokens', () => {
      const spoken = (provider: string, prices: object) =>
        modelRoute(provider, { pricing: exactPricingOf(prices) });
      const model = chatModel('a/x', [
        spoken('by-character', { audio_character: '0.00001' }),
        spoken('by-byte', { audio_byte: '0.000004' }),
        spoken('by-minute', { audio_minute: '0.006' }),
      ]);
      const cheapest = (used: Partial<Usage>) =>
        selectRoutes(
          { ...embeddingRequest({ route: 'sort' }), ceiling: { ...NO_USAGE, ...used } },
          [model],
          NOTHING_PARTICULAR,
        ).map(({ provider }) => provider);
      const minute = { audioMs: 60_000 };
      expect(cheapest({ inputCharacters: 10, inputBytes: 10, ...minute })).toEqual([
        'by-byte',
        'by-character',
        'by-minute',
      ]);
      expect(cheapest({ inputCharacters: 10, inputBytes: 30, audioMs: 1_100 })).toEqual([
        'by-character',
        'by-minute',
        'by-byte',
      ]);
    });

    it('still minds the other preferences', () => {
      expect(sorted({ provider: { ignore: ['c'], allow_fallbacks: false } })).toEqual(['d']);
      expect(sorted({}, { cooling: ['c', 'd'] })).toEqual(['b', 'a']);
      expect(sorted({}, { cooling: ['a', 'b', 'c', 'd'] })).toEqual(['c']);
    });
  });

  describe('ceiling', () => {
    const ceilingOf = (fields: Record<string, unknown>, max: number | null = null) => {
      const model = chatModel('a/b', [modelRoute('a')], { max_completion_tokens: max });
      return select(fields, {}, [model])[0].ceiling;
    };
    const outputOf = (fields: Record<string, unknown>, max: number | null = null) =>
      select(fields, {}, [chatModel('a/b', [modelRoute('a')], { max_completion_tokens: max })])[0]
        .output;

    it.each<[string, Record<string, unknown>, number | null, number]>([
      ['max_tokens', { max_tokens: 10 }, 100, 10],
      ['max_tokens beyond what the model can do', { max_tokens: 1_000 }, 100, 1_000],
      ['the larger of both limits', { max_tokens: 10, max_completion_tokens: 20 }, null, 20],
      ["the model's maximum", {}, 100, 100],
      ['4,096 where the maximum is larger', {}, 100_000, 4_096],
      ['4,096 where there is none', {}, null, 4_096],
      ['each of several answers', { n: 3, max_tokens: 10 }, null, 30],
    ])('counts %s', (_, fields, max, outputTokens) => {
      expect(ceilingOf(fields, max)).toMatchObject({ outputTokens, cacheReadTokens: 0 });
    });

    it.each<[string, Record<string, unknown>, number | null, object]>([
      ["the caller's limit", { max_tokens: 10 }, 100, { least: 10, most: 10, tokens: 10 }],
      ['up to the longest answer', {}, 9_000, { least: 4_096, most: 9_000, tokens: 4_096 }],
      ['up to the context where that is not known', {}, null, { least: 4_096, most: 128_000 }],
      ['a short longest answer', { n: 2 }, 100, { least: 100, most: 100, choices: 2 }],
    ])('lets the output be %s', (_, fields, max, expected) => {
      expect(outputOf(fields, max)).toMatchObject({ ...expected, isShort: false });
    });

    it('leaves room for the answer beside the prompt, as far as can be told', () => {
      const messages = [{ role: 'user', content: 'x'.repeat(3_000) }];
      expect(outputOf({ messages })!.fitting).toBe(128_000 - 1_008);
      expect(
        outputOf({ messages: [{ role: 'user', content: 'x'.repeat(400_000) }] })!.fitting,
      ).toBe(1_024);
    });

    const image = { type: 'image_url', image_url: { url: 'https://a.b/c.png' } };
    const pictures = (count: number) => ({
      messages: [{ role: 'user', content: Array.from({ length: count }, () => image) }],
    });

    it("counts pictures by the model's figure, and never beyond its context", () => {
      const tokensOf = (count: number, overrides: object) =>
        select(pictures(count), {}, [chatModel('a/b', [modelRoute('a')], overrides)])[0].ceiling
          .inputTokens;
      expect(tokensOf(2, { media_tokens: { image: 100 } })).toBe(208);
      expect(tokensOf(2, {})).toBe(10_008);
      expect(tokensOf(100, {})).toBe(128_000);
    });

    it('takes all of the prompt for written to the cache where that is billed', () => {
      const ceilingWith = (prices: object, text = 'x') =>
        select({ messages: [{ role: 'user', content: text }] }, {}, [
          chatModel('a/b', [modelRoute('a', { pricing: { ...tokenPricing(), ...prices } })]),
        ])[0].ceiling;
      const short = {
        cacheWrite: 2n * tokenPricing().prompt,
        cacheWriteLong: 2n * tokenPricing().prompt,
      };
      const long = { ...short, cacheWriteLong: 3n * tokenPricing().prompt };
      expect(ceilingWith({})).toMatchObject({ cacheWriteTokens: 0 });
      expect(ceilingWith(short)).toMatchObject({ cacheWriteTokens: 9, cacheWriteLongTokens: 0 });
      expect(ceilingWith(long)).toMatchObject({ cacheWriteTokens: 9, cacheWriteLongTokens: 0 });
      const marked = [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } }];
      const { ceiling } = select({ messages: [{ role: 'user', content: marked }] }, {}, [
        chatModel('a/b', [modelRoute('a', { pricing: { ...tokenPricing(), ...long } })]),
      ])[0];
      expect(ceiling).toMatchObject({ cacheWriteTokens: 9, cacheWriteLongTokens: 9 });
    });

    it('takes all output for reasoning where that is dearer', () => {
      const pricing = { ...tokenPricing(), reasoning: 3n * tokenPricing().completion };
      const model = chatModel('a/b', [modelRoute('a', { pricing })]);
      const { ceiling } = select({ max_tokens: 7 }, {}, [model])[0];
      expect(ceiling).toMatchObject({ outputTokens: 7, reasoningTokens: 7 });
    });

    it('counts the prompt', () => {
      const messages = [{ role: 'user', content: 'x'.repeat(3_000) }];
      expect(ceilingOf({ messages }).inputTokens).toBeGreaterThanOrEqual(1_000);
    });
  });

  describe('time limits', () => {
    const limitsOf = (stream: boolean, timeouts = {}, limits = {}) =>
      select({ stream }, { limits }, [chatModel('a/b', [modelRoute('a', { timeouts })])])[0].limits;

    it('are patient with whole answers', () => {
      expect(limitsOf(true)).toEqual({ firstByteMs: 60_000, idleMs: 60_000, requestMs: 600_000 });
      expect(limitsOf(false).firstByteMs).toBe(300_000);
    });

    it('follow the settings, and the catalogue before them', () => {
      const settings = { firstByteTimeoutMs: 1, idleTimeoutMs: 2, requestTimeoutMs: 3 };
      expect(limitsOf(true, {}, settings)).toEqual({ firstByteMs: 1, idleMs: 2, requestMs: 3 });
      const timeouts = { first_byte_ms: 7, idle_ms: 8, request_ms: 9 };
      expect(limitsOf(false, timeouts, settings)).toEqual({
        firstByteMs: 7,
        idleMs: 8,
        requestMs: 9,
      });
    });
  });

  it('carries everything that a call and the ledger need', () => {
    expect(select()[1]).toMatchObject({
      model: 'openai/gpt',
      catalogueId: 'openai/gpt',
      provider: 'azure',
      upstreamModel: 'azure-model',
      trafficMode: 'shared',
      pricing: tokenPricing(),
    });
  });

  describe("with the caller's own accounts", () => {
    const own = (
      provider: string,
      {
        id = `own ${provider}`,
        allowSharedFallback = false,
        hasTenantAddress = false,
        isOfRoutingKey = false,
        weight = 0,
      } = {},
    ): ByokAccess => ({
      credential: new ByokCredential({
        id,
        provider,
        allowSharedFallback,
        isOfRoutingKey,
        settings: {},
        encryptedKey: Buffer.from('signed'),
      }),
      hasTenantAddress,
      ...(weight > 0 && {
        member: {
          key: id,
          weight,
          requestsPerMinute: undefined,
          tokensPerMinute: undefined,
          readAllowance,
        },
      }),
    });
    const waysOf = (...rest: Parameters<typeof select>) =>
      select(...rest).map(
        (route) => `${route.trafficMode} ${route.byok?.credential.id ?? route.provider}`,
      );
    const both = { provider: { order: ['openai'] } };

    it('puts an account before the shared capacity of its provider, if that may follow', () => {
      const allowing = own('openai', { allowSharedFallback: true });
      expect(waysOf(both, { byok: [allowing] }, [gpt])).toEqual([
        'byok own openai',
        'shared openai',
        'shared azure',
      ]);
      expect(waysOf({}, { byok: [own('azure', { allowSharedFallback: true })] }, [gpt])).toEqual([
        'shared openai',
        'byok own azure',
        'shared azure',
      ]);
    });

    it('leaves no shared capacity behind an account that does not allow it, but other models', () => {
      expect(waysOf({}, { byok: [own('openai')] }, [gpt, claude])).toEqual([
        'byok own openai',
        'shared anthropic',
        'shared bedrock',
        'shared vertex',
      ]);
    });

    it('takes a paused account for no leave to use shared capacity', () => {
      const situation = { byok: [own('openai')], paused: ['openai'] };
      expect(() => select({}, situation, [gpt])).toThrow(ProviderUnavailableError);
    });

    it('lets the caller choose the shared capacity of another provider all the same', () => {
      const chosen = { provider: { only: ['azure'] } };
      expect(waysOf(chosen, { byok: [own('openai')] }, [gpt])).toEqual(['shared azure']);
    });

    it('tries several accounts in their order, and shared capacity if all of them allow it', () => {
      const [newer, older] = [
        own('openai', { id: 'newer', allowSharedFallback: true }),
        own('openai', { id: 'older' }),
      ];
      expect(waysOf({}, { byok: [newer, older] }, [gpt])).toEqual(['byok newer', 'byok older']);
    });

    it('spreads those of a pool, which the others of the tenant are none of', () => {
      const pooled = [
        own('openai', { id: 'a', weight: 2 }),
        own('openai', { id: 'b', weight: 3 }),
        own('openai', { id: 'c', isOfRoutingKey: true }),
      ];
      const byok = [...pooled, own('azure', { id: 'd' })];
      const request = chatRequest({});
      const asked: (string | undefined)[] = [];
      const routes = selectRoutes(request, [gpt], {
        ...NOTHING_PARTICULAR,
        byok,
        preferredAccount: (ways) => {
          expect(ways.map(({ pooled: { member } }) => [member.key, member.weight])).toEqual([
            ['a', 2],
            ['b', 3],
          ]);
          return 'b';
        },
        pools: {
          order: (ways, preferred) => {
            asked.push(preferred);
            return [...ways].reverse();
          },
          waitMs: () => 0,
          expectedTokens: () => 100,
        },
      });
      expect(asked).toEqual(['b']);
      expect(
        routes.map(({ byok: account, pooled: part }) => [account?.credential.id, part?.tokens]),
      ).toEqual([
        ['b', 100 + estimateTokens(request.promptSize.characters)],
        ['a', 100 + estimateTokens(request.promptSize.characters)],
        ['c', undefined],
        ['d', undefined],
      ]);
      expect(routes.every(({ trafficMode }) => trafficMode === 'byok')).toBe(true);
    });

    it('serves what the operator has not configured', () => {
      const situation = { unconfigured: ['openai', 'azure'], byok: [own('azure')] };
      expect(waysOf({}, situation, [gpt])).toEqual(['byok own azure']);
    });

    it('sorts by what is charged, which is the fee', () => {
      const situation = { byok: [own('azure', { allowSharedFallback: true })] };
      expect(waysOf({ route: 'sort' }, situation, [gpt])[0]).toBe('byok own azure');
    });

    it('gives fields that shared capacity refuses to own accounts only', () => {
      const bound = { service_tier: 'priority' };
      expect(waysOf(bound, { byok: [own('azure', { allowSharedFallback: true })] }, [gpt])).toEqual(
        ['byok own azure'],
      );
      // Even if that account has a pause: shared capacity is no way out.
      const cooling = { byok: [own('azure')], cooling: ['azure'] };
      expect(waysOf(bound, cooling, [gpt])).toEqual(['byok own azure']);
      expect(() => select(bound, {}, [gpt])).toThrow(
        expect.objectContaining({ status: 400, param: 'service_tier' }),
      );
    });
  });

  describe('what a vendor’s figures are held against', () => {
    const bounded: Model = { ...gpt, context_length: 1_000, max_completion_tokens: 100 };
    const boundsOf = (fields: Record<string, unknown>, model = bounded) =>
      select(fields, {}, [model])[0].bounds;

    it('is the model’s context and its output, for each choice', () => {
      expect(boundsOf({})).toEqual({ inputTokens: 1_000, outputTokens: 100 });
      expect(boundsOf({ n: 3 })).toEqual({ inputTokens: 1_000, outputTokens: 300 });
    });

    it('is not less for a caller’s own limit, which the vendor may have ignored', () => {
      expect(boundsOf({ max_tokens: 5 })).toMatchObject({ outputTokens: 100 });
    });

    it('is the context where the model’s output has no limit of its own', () => {
      expect(boundsOf({}, { ...bounded, max_completion_tokens: null })).toMatchObject({
        outputTokens: 1_000,
      });
    });

    it('reaches for a prompt that may be longer than the context as priced', () => {
      const content = 'x'.repeat(30_000);
      const { inputTokens } = boundsOf({ messages: [{ role: 'user', content }] })!;
      expect(inputTokens).toBeGreaterThanOrEqual(10_000);
    });
  });

  describe('with what only some vendors get, and not every model has a price for', () => {
    const BOUND = { param: 'anthropic-beta', message: 'No.' };
    const SEARCH = { param: 'tools.0.type', message: 'No searches.' };
    const selectMessages = (fields: Partial<CanonicalRequest>, prices: Partial<Pricing> = {}) => {
      const priced = {
        ...claude,
        routes: claude.routes.map((route) => ({
          ...route,
          pricing: exactPricingOf({ prompt: '0.000001', completion: '0.000002', ...prices }),
        })),
      };
      return selectRoutes({ ...messagesRequest(), ...fields }, [priced, gpt], {
        ...NOTHING_PARTICULAR,
        vendorOf: (provider) => ({
          passesVendorHeaders: provider === 'anthropic',
          runsWebSearch: () => provider === 'anthropic' || provider === 'vertex',
        }),
      }).map(({ provider }) => provider);
    };
    const ALL = ['anthropic', 'bedrock', 'vertex', 'openai', 'azure'];
    const headers = (fields: Partial<VendorHeaders>): Partial<CanonicalRequest> => ({
      vendorHeaders: {
        own: {},
        shared: {},
        dropped: [],
        bound: undefined,
        longContext: undefined,
        ...fields,
      },
    });

    it('leaves out those that would get an unpriced header', () => {
      expect(selectMessages(headers({}))).toEqual(ALL);
      expect(selectMessages(headers({ bound: BOUND }))).toEqual(ALL.slice(1));
    });

    it('refuses when nothing is left', () => {
      const routing = { ...messagesRequest().routing, only: ['anthropic'] };
      expect(() => selectMessages({ ...headers({ bound: BOUND }), routing })).toThrow('No.');
    });

    it('allows long prompts where the price reaches that far', () => {
      const { context_length: context } = claude;
      const longer = { ...BOUND, tokens: context + 1 };
      expect(selectMessages(headers({ longContext: longer }))).toEqual(ALL.slice(1));
      const priced = { ...BOUND, tokens: context };
      expect(selectMessages(headers({ longContext: priced }))).toEqual(ALL);
    });

    it('sets aside what searches cost, and another reading of the prompt for each', () => {
      const ceilingOf = (most: number) =>
        selectRoutes(
          { ...messagesRequest(), webSearch: { most, bound: SEARCH } },
          [gpt],
          NOTHING_PARTICULAR,
        )[0].ceiling;
      const { inputTokens: prompt } = ceilingOf(0);
      expect(ceilingOf(3)).toMatchObject({
        webSearches: 3,
        inputTokens: 4 * prompt + 3 * 10_000,
      });
    });

    it('leaves out those that would search for nothing', () => {
      const webSearch = { most: 10, bound: SEARCH };
      expect(selectMessages({ webSearch })).toEqual(['bedrock', 'openai', 'azure']);
      expect(selectMessages({ webSearch }, { web_search: '0.01' })).toEqual(ALL);
      const routing = { ...messagesRequest().routing, only: ['vertex'] };
      expect(() => selectMessages({ webSearch, routing })).toThrow('No searches.');
    });
  });
});

describe('routes that are left out', () => {
  const reasonsOf = (fields: Record<string, unknown>, rest: Partial<RoutingState>) => {
    const leftOut: LeftOutRoute[] = [];
    const state = { ...NOTHING_PARTICULAR, ...rest, leftOut };
    try {
      selectRoutes(chatRequest(fields), [gpt, claude], state);
    } catch (error) {
      leftOut.push({ route: { model: (error as Error).name, provider: '' }, reason: 'unpriced' });
    }
    return leftOut.map(({ route: { model, provider }, reason }) => [model, provider, reason]);
  };
  const at =
    (...providers: string[]) =>
    ({ provider }: { provider: string }): boolean =>
      providers.includes(provider);

  it('are named with the reason', () => {
    const fields = { provider: { ignore: ['vertex'], allow_fallbacks: false } };
    const state = {
      isConfigured: (provider: string) => provider !== 'azure',
      isPaused: at('bedrock'),
    };
    expect(reasonsOf(fields, state)).toEqual([
      ['openai/gpt', 'azure', 'not_configured'],
      ['anthropic/claude', 'vertex', 'preferences'],
      ['anthropic/claude', 'bedrock', 'paused'],
      ['anthropic/claude', 'anthropic', 'no_fallbacks'],
    ]);
    expect(reasonsOf({}, { isCooling: at('azure', 'vertex') })).toEqual([
      ['openai/gpt', 'azure', 'cooling'],
      ['anthropic/claude', 'vertex', 'cooling'],
    ]);
  });

  it('are those behind the best where all are cooling down', () => {
    const reasons = reasonsOf({}, { isCooling: () => true });
    expect(reasons.map(([, provider]) => provider)).toEqual([
      'azure',
      'anthropic',
      'bedrock',
      'vertex',
    ]);
  });

  it.each<[string, Record<string, unknown>, Partial<RoutingState>, string, string]>([
    ['paused', {}, { isPaused: () => true }, 'paused', 'ProviderUnavailableError'],
    [
      'priced too high',
      { provider: { max_price: { prompt: 0 } } },
      {},
      'max_price',
      'NotFoundError',
    ],
    ['without a price', { service_tier: 'flex' }, {}, 'unpriced', 'InvalidRequestError'],
  ])('are named where all are %s', (_, fields, state, reason, error) => {
    const named = reasonsOf(fields, state);
    expect(named.slice(0, 5).map((entry) => entry[2])).toEqual(Array(5).fill(reason));
    expect(named.at(-1)?.[0]).toBe(error);
  });
});
