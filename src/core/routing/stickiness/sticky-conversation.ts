import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import type { PlannedRoute } from '../plan.js';
import { idOf, type PooledRoute } from '../pool/pool-member.js';
import { conversationKeyOf } from './conversation-key.js';
import { type ConversationPlace, type ConversationPlaces, isSame } from './conversation-places.js';

/** How long vendors keep what they have read since it was last used … */
const CACHE_TTL_MS = 300_000;
/** … and where the caller asks for more. */
const LONG_CACHE_TTL_MS = 3_600_000;
const LONG_TTL = '"1h"';

type PlannedRoutes = readonly [PlannedRoute, ...PlannedRoute[]];

/** Keeps the turns of one conversation at the route that has its beginning in its cache. */
export class StickyConversation {
  /** For the choice of accounts. */
  readonly preference = {
    preferredAccount: (routes: readonly PooledRoute[]) => this.preferredAccount(routes),
  };

  private constructor(
    readonly key: string,
    private readonly ttlMs: number,
    private readonly places: ConversationPlaces,
  ) {}

  /**
   * Undefined for a caller who says itself what is asked first.
   *
   * @param sessionId as the caller's header has it
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

  /** By its name, as `key` has it. */
  static named(key: string, places: ConversationPlaces): StickyConversation {
    return new StickyConversation(key, CACHE_TTL_MS, places);
  }

  /** Which account of a pool is first as long as it is well: where the conversation is, else one that all instances agree on. */
  preferredAccount(routes: readonly PooledRoute[]): string | undefined {
    const place = this.places.of(this.key);
    if (place && place.account !== undefined && place.provider === routes[0]?.provider) {
      const { account } = place;
      if (routes.some(({ pooled }) => idOf(pooled.member) === account)) return account;
    }
    return rendezvous(this.key, routes);
  }

  /**
   * The routes with the one where the conversation is before the others of its model. Shared capacity does not go before
   * a tenant's own account.
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

  /** Whether it was answered over this route last, so that the vendor may have its beginning in the cache. */
  isAt(route: PlannedRoute): boolean {
    const place = this.places.of(this.key);
    return place !== undefined && isSame(place, placeOf(route));
  }

  /** The conversation is answered over this route. */
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
 * Highest random weight: the same account wherever it is asked, in proportion to weights, and when accounts come or go
 * only conversations move that have to.
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

/** Evenly spread over 0 to 1, without either. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}
