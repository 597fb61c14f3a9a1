import type { PlannedRoute } from '../../core/routing/plan.js';
import type { UpstreamErrorFields } from '../../vendors/upstream-error.js';
import type { Window } from './log-window.js';

/** How what is taken away fails; `gone`: as if it were not configured. */
export const FAULT_KINDS = ['503', '429', 'timeout', 'connect', 'gone'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** What a vendor that is down does. */
export interface FaultAnswer extends Pick<UpstreamErrorFields, 'failure' | 'status'> {
  /** Until it says so; `limit`: it never does, and the request's own limits end the call. */
  readonly afterMs: number | 'limit';
}

const FAULT_ANSWERS: Record<Exclude<FaultKind, 'gone'>, FaultAnswer> = {
  '503': { failure: 'server', status: 503, afterMs: 250 },
  '429': { failure: 'rate_limited', status: 429, afterMs: 150 },
  timeout: { failure: 'timeout', afterMs: 'limit' },
  connect: { failure: 'connect', afterMs: 50 },
};

/** Something that is taken away. */
export interface Target {
  /** As it was written. */
  readonly text: string;
  readonly provider: string;
  /** An account of a provider's pool, or its region; undefined: all of them. */
  readonly account: string | undefined;
  /** An alias, its part behind the slash, or the provider's own name for it; undefined: all of them. */
  readonly model: string | undefined;
}

/** `provider`, `provider:model`, `provider@account` or `provider@account:model`; undefined: it is none. */
export function readTarget(text: string): Target | undefined {
  const match = /^([\w.-]+)(?:@([^:]+))?(?::(.+))?$/u.exec(text);
  if (!match) return undefined;
  return { text, provider: match[1]!, account: match[2], model: match[3] };
}

type FaultyRoute = Pick<PlannedRoute, 'provider' | 'model' | 'catalogueId' | 'upstreamModel'> & {
  readonly account?: string;
  readonly byok?: unknown;
};

/** What is taken away, and for how long. */
export class Faults {
  /** Calls that met one, by what was written. */
  readonly met = new Map<string, number>();

  constructor(
    private readonly targets: readonly Target[],
    readonly kind: FaultKind,
    private readonly span: Window,
  ) {}

  /** How a call to a route fails at a moment; undefined: it does not, as far as this goes. */
  of(route: FaultyRoute, nowMs: number): FaultAnswer | undefined {
    return this.kind !== 'gone' && this.hits(route, nowMs) ? FAULT_ANSWERS[this.kind] : undefined;
  }

  /** Whether a route is not there at all at a moment. */
  isGone(route: FaultyRoute, nowMs: number): boolean {
    return this.kind === 'gone' && this.hits(route, nowMs);
  }

  private hits(route: FaultyRoute, nowMs: number): boolean {
    if (nowMs < this.span.from.getTime() || nowMs >= this.span.to.getTime()) return false;
    const target = this.targets.find((each) => isOf(each, route));
    if (!target) return false;
    this.met.set(target.text, (this.met.get(target.text) ?? 0) + 1);
    return true;
  }
}

function isOf({ provider, account, model }: Target, route: FaultyRoute): boolean {
  if (provider !== route.provider) return false;
  if (account !== undefined && account !== route.account) return false;
  if (model === undefined) return true;
  const { model: alias, catalogueId, upstreamModel } = route;
  const names = [alias, catalogueId, upstreamModel, alias.slice(alias.indexOf('/') + 1)];
  return names.includes(model);
}
