import { describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute } from '../../../../test/support/catalogue-models.js';
import { limited, World, type Script } from '../../../../test/support/routing-environment.js';
import type { PoolAccount, ProviderConfig } from '../../../platform/config/app-config.js';
import type { PooledRoute } from '../pool/pool-member.js';
import { rendezvous, StickyConversation } from './sticky-conversation.js';

const pool = (...accounts: string[]): ProviderConfig[] => [
  {
    id: 'openai',
    name: 'openai',
    adapter: 'openai',
    type: 'openai',
    baseUrl: 'https://example.com/v1',
    apiKey: undefined,
    settings: {},
    accounts: accounts.map((id): PoolAccount => ({ id, apiKey: id, weight: 1 })),
  },
];

const gpt = chatModel('openai/gpt', [modelRoute('openai'), modelRoute('azure')]);
const alone = chatModel('openai/alone', [modelRoute('openai')]);
const RULES = 'Rules of a conversation. '.repeat(170);

const world = (providers: ProviderConfig[], scripts: Record<string, Script[]> = {}) =>
  new World(scripts, [gpt, alone], undefined, providers);

/** Returns a conversation's messages up to its nth turn. */
function messagesOf(name: string, turns: number) {
  const messages = [
    { role: 'system', content: `${name}: ${RULES}` },
    { role: 'user', content: `I am ${name}.` },
  ];
  for (let turn = 1; turn < turns; turn++) {
    messages.push({ role: 'assistant', content: `Answer ${turn}.` });
    messages.push({ role: 'user', content: `Question ${turn} of ${name}.` });
  }
  return messages;
}

/** Sends one turn and returns where it was answered. */
async function turn(at: World, name: string, turns: number, fields = {}): Promise<string> {
  const body = { model: 'openai/alone', messages: messagesOf(name, turns), ...fields };
  const { plan, failure } = await at.open(body);
  expect(failure).toBeUndefined();
  const { provider, account } = plan.attempts.at(-1)!.route;
  return account === undefined ? provider : `${provider}@${account}`;
}

/** Simulates vendors that cache prompts per account, up to each message. */
class PromptCaches {
  /** Cached tokens read since the last reset. */
  cachedTokens = 0;
  private readonly known = new Set<string>();

  read(account: string, messages: readonly { content: string }[]): void {
    let prefix = account;
    let isCached = true;
    for (const { content } of messages) {
      prefix += `\n${content}`;
      isCached &&= this.known.has(prefix);
      if (isCached) this.cachedTokens += content.length / 4;
      this.known.add(prefix);
    }
  }
}

const NAMES = Array.from({ length: 100 }, (_, index) => `number ${index}`);

/**
 * @returns cached tokens of the turns after an account was possibly added
 */
async function converse(isAdded: boolean): Promise<number> {
  const one = world(pool('a', 'b', 'c'));
  const caches = new PromptCaches();
  for (let turns = 1; turns <= 6; turns++) {
    if (turns === 4) {
      caches.cachedTokens = 0;
      if (isAdded) one.providers = pool('a', 'b', 'c', 'd');
    }
    for (const name of NAMES) {
      caches.read(await turn(one, name, turns), messagesOf(name, turns));
    }
  }
  return caches.cachedTokens;
}

describe(StickyConversation.name, () => {
  it('keeps 95 % of cached tokens when an account is added', async () => {
    const before = await converse(false);
    const after = await converse(true);
    expect(before).toBeGreaterThan(0);
    expect(after / before).toBeGreaterThanOrEqual(0.95);
  });

  it('distributes conversations over accounts, and gives a new account its share of new ones', async () => {
    const one = world(pool('a', 'b', 'c'));
    const counts: Record<string, number> = {};
    for (const name of NAMES) {
      const place = await turn(one, name, 1);
      counts[place] = (counts[place] ?? 0) + 1;
    }
    expect(Object.keys(counts).sort()).toEqual(['openai@a', 'openai@b', 'openai@c']);
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(15);
  });

  it('moves a conversation whose account fails, and keeps it there', async () => {
    const scripts: Record<string, Script[]> = {};
    const one = world(pool('a', 'b', 'c'), scripts);
    const first = await turn(one, 'x', 1);
    scripts[first] = [limited(30)];
    const second = await turn(one, 'x', 2);
    expect(second).not.toBe(first);
    // The first account is healthy again.
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(await turn(one, 'x', 3)).toBe(second);
    expect(await turn(one, 'x', 4)).toBe(second);
  });

  it('stays with another provider that answered in place of the first', async () => {
    const one = world([], { openai: [limited(0)] });
    const fields = { model: 'openai/gpt' };
    expect(await turn(one, 'x', 1, fields)).toBe('azure');
    expect(await turn(one, 'x', 2, fields)).toBe('azure');
    expect(await turn(one, 'y', 1, fields)).toBe('openai');
    // The caller's order takes precedence.
    const provider = { order: ['openai'] };
    expect(await turn(one, 'x', 3, { ...fields, provider })).toBe('openai');
    // Short prompts are not remembered.
    const { size } = one.conversations;
    await one.open({ model: 'openai/gpt', messages: [{ role: 'user', content: 'Hi' }] });
    expect(one.conversations.size).toBe(size);
  });

  it('agrees with other instances, which receive the moves', async () => {
    const scripts: Record<string, Script[]> = {};
    const [one, other] = [world(pool('a', 'b', 'c'), scripts), world(pool('a', 'b', 'c'))];
    for (const name of NAMES) expect(await turn(other, name, 2)).toBe(await turn(one, name, 1));
    one.conversations.onMoved = (...moved) => other.conversations.learn(...moved);
    const first = await turn(one, 'z', 1);
    scripts[first] = [limited(60_000)];
    const second = await turn(one, 'z', 2);
    expect(second).not.toBe(first);
    expect(await turn(other, 'z', 3)).toBe(second);
  });

  it('keeps concurrent turns together', async () => {
    const one = world(pool('a', 'b', 'c', 'd', 'e'));
    const fields = { model: 'openai/alone', messages: messagesOf('x', 1) };
    const plans = await Promise.all(Array.from({ length: 8 }, () => one.plan(fields)));
    expect(new Set(plans.map(({ routes }) => routes[0].account)).size).toBe(1);
  });
});

describe('a conversation’s route', () => {
  it('is known to its next plan only', async () => {
    const one = world(pool('a', 'b', 'c'));
    const at = await turn(one, 'x', 1);
    const warmOf = async (name: string) => {
      const fields = { model: 'openai/alone', messages: messagesOf(name, 2) };
      const { routes, conversation } = await one.plan(fields);
      return routes
        .filter((route) => conversation?.isAt(route))
        .map(({ provider, account }) => `${provider}@${account}`);
    };
    expect(await warmOf('x')).toEqual([at]);
    expect(await warmOf('y')).toEqual([]);
  });
});

describe(rendezvous.name, () => {
  const routes = (weights: Record<string, number>): PooledRoute[] =>
    Object.entries(weights).map(([account, weight]) => ({
      provider: 'p',
      account,
      upstreamModel: 'm',
      pooled: {
        member: { key: `p@${account}`, account, weight, readAllowance: () => undefined },
        tokens: 1,
      },
    }));
  const KEYS = Array.from({ length: 10_000 }, (_, index) => `key-${index}`);

  it('distributes by weight', () => {
    const counts = new Map<string, number>();
    for (const key of KEYS) {
      const id = rendezvous(key, routes({ a: 1, b: 2, c: 7 }))!;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    expect(Math.abs(counts.get('a')! - 1_000)).toBeLessThan(150);
    expect(Math.abs(counts.get('b')! - 2_000)).toBeLessThan(200);
    expect(Math.abs(counts.get('c')! - 7_000)).toBeLessThan(300);
  });

  it('moves conversations only to a new account', () => {
    const moved = KEYS.filter(
      (key) =>
        rendezvous(key, routes({ a: 1, b: 1 })) !== rendezvous(key, routes({ b: 1, a: 1, c: 1 })),
    );
    expect(moved.every((key) => rendezvous(key, routes({ a: 1, b: 1, c: 1 })) === 'c')).toBe(true);
    expect(Math.abs(moved.length - KEYS.length / 3)).toBeLessThan(250);
    expect(rendezvous('x', [])).toBeUndefined();
  });
});
