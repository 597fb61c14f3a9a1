import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import type { PlannedRoute } from '../plan.js';
import { idOf, type PooledRoute } from '../pool/pool-member.js';
import { conversationKeyOf } from './conversation-key.js';
import { type ConversationPlace, type ConversationPlaces, isSame } from './conversation-places.js';

/** How long vendors cache prompts after their last use. */
const CACHE_TTL_MS = 300_000;
/** The same where the caller asks for the longer TTL. */
const LONG_CACHE_TTL_MS = 3_600_000;
const LONG_TTL = '"1h"';

type PlannedRoutes = readonly [PlannedRoute, ...PlannedRoute[]];

/** Keeps the turns of a conversation on the route that has its beginning cached. */
export class StickyConversation {
  /** Input of account selection. */
  readonly preference = {
    preferredAccount: (routes: readonly PooledRoute[]) => this.preferredAccount(routes),
  };

  private constructor(
    readonly key: string,
    private readonly ttlMs: number,
    private readonly places: ConversationPlaces,
  ) {}

  /**
   * Returns undefined when the caller chooses the order of routes.
   *
   * @param sessionId from the caller's header
   */
  static of(
    tenantId: string,
    request: CanonicalRequest,
    sessionId: string | undefined,
    places: ConversationPlaces,
  ): StickyConversation | undefined {
    const { order, only, sort, strategy } = request.routing;
    if (order.length > 0 || only || sort || strategy === 'sort') return undefined;
    const key = conversationKeyOf(tenantId, request, sessionId);
    return new StickyConversation(key, ttlOf(request), places);
  }

  /** Returns the conversation of a key. */
  static named(key: string, places: ConversationPlaces): StickyConversation {
    return new StickyConversation(key, CACHE_TTL_MS, places);
  }

  /**
   * Returns the pooled account to use first while it is healthy: the conversation's, or one on
   * which all instances agree.
   */
  preferredAccount(routes: readonly PooledRoute[]): string | undefined {
    const place = this.places.of(this.key);
    if (place && place.account !== undefined && place.provider === routes[0]?.provider) {
      const { account } = place;
      if (routes.some(({ pooled }) => idOf(pooled.member) === account)) return account;
    }
    return rendezvous(this.key, routes);
  }

  /**
   * Moves the conversation's route before others of its model, but never shared capacity before a
   * BYOK account.
   */
  lead(routes: PlannedRoutes): PlannedRoutes {
    const place = this.places.of(this.key);
    if (!place) return routes;
    const index = routes.findIndex((route) => isSame(place, placeOf(route)));
    const first = routes.findIndex(({ model }) => model === place.model);
    const found = routes[index];
    if (!found || index === first) return routes;
    if (routes[first]?.byok && !found.byok) return routes;
    const others = routes.filter((route) => route !== found);
    const [lead = found, ...rest] = [...others.slice(0, first), found, ...others.slice(first)];
    return [lead, ...rest];
  }

  /** Returns whether this route answered last, so that the vendor may have the prompt cached. */
  isAt(route: PlannedRoute): boolean {
    const place = this.places.of(this.key);
    return place !== undefined && isSame(place, placeOf(route));
  }

  /** Records that this route answers the conversation. */
  note(route: PlannedRoute): void {
    this.places.note(this.key, placeOf(route), this.ttlMs);
  }
}

function placeOf({ model, provider, account, byok }: PlannedRoute): ConversationPlace {
  return { model, provider, account: account ?? byok?.credential.id };
}

function ttlOf({ body }: CanonicalRequest): number {
  const isLong = body.value.prompt_cache_retention === '24h' || body.bytes.includes(LONG_TTL);
  return isLong ? LONG_CACHE_TTL_MS : CACHE_TTL_MS;
}

/**
 * Rendezvous hashing (highest random weight): returns the same account everywhere, in proportion to
 * weights, and moves as few conversations as possible when accounts change.
 */
export function rendezvous(key: string, routes: readonly PooledRoute[]): string | undefined {
  let best: string | undefined;
  let most = -Infinity;
  for (const { pooled } of routes) {
    const id = idOf(pooled.member);
    const score = pooled.member.weight / -Math.log(shareOf(`${key} ${id}`));
    if (score > most) [best, most] = [id, score];
  }
  return best;
}

/** Returns a uniform number between 0 and 1, exclusive. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}
