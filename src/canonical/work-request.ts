import type {
  AccountBoundParam,
  CanonicalRequest,
  RoutingPreferences,
} from './canonical-request.js';
import type { Usage } from './usage.js';

/** What is asked for, besides text; also the kind of model that can do it. */
export type WorkKind = 'embedding' | 'speech' | 'transcription' | 'image' | 'video';

/** Work other than text generation, as routing and the ledger see it; each kind adds its own fields. */
export interface WorkRequest {
  readonly kind: WorkKind;
  /** The fields as received, of a JSON body or of a form. */
  readonly body: { readonly value: Readonly<Record<string, unknown>> };
  /** Aliases to try in order, without repeats; at least one. */
  readonly models: readonly [string, ...string[]];
  readonly routing: RoutingPreferences;
  /** Whether the answer goes to the caller in pieces, as it comes. */
  readonly stream: boolean;
  /** A field that shared capacity refuses, if there is one. */
  readonly accountBoundParam: AccountBoundParam | undefined;
  /** The most that it can use on any route; a route's prices pick the units that it bills. */
  readonly ceiling: Usage;
  /** What it is taken to use where the vendor does not say. */
  readonly estimate: Usage;
  /** How many prompts it is; 1 unless told. */
  readonly items?: number;
  /** The length of the audio that is sent, in milliseconds, where it was measured here. */
  readonly measuredAudioMs?: number | undefined;
}

/** Whatever routing can plan. */
export type RoutableRequest = CanonicalRequest | WorkRequest;

/** Text generation has dialects, all other work has kinds. */
export function isTextRequest(request: RoutableRequest): request is CanonicalRequest {
  return 'dialect' in request;
}
