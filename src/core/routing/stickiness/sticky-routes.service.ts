import { randomUUID } from 'node:crypto';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { InstanceChannel } from '../../../platform/channel/instance-channel.js';
import { boundedCache } from '../../../platform/memory/bounded-cache.js';
import type { ConversationPlace, ConversationPlaces } from './conversation-places.js';

const TOPIC = 'conversations';
/** Moves within this time share a message. */
const GATHER_MS = 100;
/** Most moves per message interval; older ones are not reported, and the hash mostly gives them the same route. */
const MAX_WAITING = 2_000;
const MAX_PER_TEXT = 100;
const KEY = /^[\w-]{16}$/;
const MAX_NAME = 256;
const MAX_TTL_MS = 3_600_000;

/** A conversation in a message: key, model, provider, account, TTL in ms. */
type Move = readonly [
  key: string,
  model: string,
  provider: string,
  account: string | null,
  ttlMs: number,
];

/**
 * Shares with other instances where conversations start and move to, off the request path. Lost
 * messages are not repeated; each instance then uses what it knows.
 */
export class StickyRoutes implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly id = randomUUID();
  private readonly waiting = boundedCache<string, Move>(MAX_WAITING);
  private gathering: NodeJS.Timeout | undefined;

  /**
   * @param channel undefined without one that can carry the load
   */
  constructor(
    private readonly places: ConversationPlaces,
    private readonly channel: InstanceChannel | undefined,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.channel) return;
    this.places.onMoved = (key, place, ttlMs) => this.enqueue(key, place, ttlMs);
    this.channel.listen(
      TOPIC,
      (text) => this.receive(text),
      () => undefined,
    );
  }

  onApplicationShutdown(): void {
    this.places.onMoved = undefined;
    clearTimeout(this.gathering);
  }

  private enqueue(
    key: string,
    { model, provider, account }: ConversationPlace,
    ttlMs: number,
  ): void {
    this.waiting.set(key, [key, model, provider, account ?? null, ttlMs]);
    this.gathering ??= setTimeout(() => this.send(), GATHER_MS).unref();
  }

  private send(): void {
    this.gathering = undefined;
    const all = [...this.waiting.rvalues()];
    this.waiting.clear();
    for (let first = 0; first < all.length; first += MAX_PER_TEXT) {
      const text = JSON.stringify([this.id, ...all.slice(first, first + MAX_PER_TEXT)]);
      void this.channel?.publish(TOPIC, text);
    }
  }

  /** Validates a message from the channel, which may hold anything. */
  private receive(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (!Array.isArray(message) || message[0] === this.id) return;
    for (const each of message.slice(1, 1 + MAX_PER_TEXT)) {
      if (!isMove(each)) continue;
      const [key, model, provider, account, ttlMs] = each;
      this.places.learn(key, { model, provider, account: account ?? undefined }, ttlMs);
    }
  }
}

function isMove(value: unknown): value is Move {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [];
  const [key, model, provider, account, ttlMs] = parts;
  return (
    typeof key === 'string' &&
    KEY.test(key) &&
    isName(model) &&
    isName(provider) &&
    (account === null || isName(account)) &&
    typeof ttlMs === 'number' &&
    ttlMs > 0 &&
    ttlMs <= MAX_TTL_MS
  );
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME;
}
