import type { PlannedRoute } from '../../core/routing/plan.js';
import type { UpstreamErrorFields } from '../../vendors/upstream-error.js';
import type { Window } from './log-window.js';

/** How removed targets fail. `gone`: as if not configured. */
export const FAULT_KINDS = ['503', '429', 'timeout', 'connect', 'gone'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** The response of a vendor that is down. */
export interface FaultAnswer extends Pick<UpstreamErrorFields, 'failure' | 'status'> {
  /** Time until it fails. `limit`: it stays silent until the request's own limits end the call. */
  readonly afterMs: number | 'limit';
}

const FAULT_ANSWERS: Record<Exclude<FaultKind, 'gone'>, FaultAnswer> = {
  '503': { failure: 'server', status: 503, afterMs: 250 },
  '429': { failure: 'rate_limited', status: 429, afterMs: 150 },
  timeout: { failure: 'timeout', afterMs: 'limit' },
  connect: { failure: 'connect', afterMs: 50 },
};

/** A provider, account or model to remove. */
export interface Target {
  /** As given on the command line. */
  readonly text: string;
  readonly provider: string;
  /** An account of a provider's pool, or its region. Undefined means all. */
  readonly account: string | undefined;
  /** An alias, its part after the slash, or the provider's own name. Undefined means all. */
  readonly model: string | undefined;
}

/** Parses `provider`, `provider:model`, `provider@account` or `provider@account:model`. */
export function readTarget(text: string): Target | undefined {
  const match = /^([\w.-]+)(?:@([^:]+))?(?::(.+))?$/u.exec(text);
  if (!match) return undefined;
  return { text, provider: match[1]!, account: match[2], model: match[3] };
}

type FaultyRoute = Pick<PlannedRoute, 'provider' | 'model' | 'catalogueId' | 'upstreamModel'> & {
  readonly account?: string;
  readonly byok?: unknown;
};

/** Removed targets and the time span of their removal. */
export class Faults {
  /** Number of affected calls by target text. */
  readonly met = new Map<string, number>();

  constructor(
    private readonly targets: readonly Target[],
    readonly kind: FaultKind,
    private readonly span: Window,
  ) {}

  /** Returns how a call to a route fails at a time, or undefined when it does not. */
  of(route: FaultyRoute, nowMs: number): FaultAnswer | undefined {
    return this.kind !== 'gone' && this.hits(route, nowMs) ? FAULT_ANSWERS[this.kind] : undefined;
  }

  /** Returns whether a route is not configured at a time. */
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
