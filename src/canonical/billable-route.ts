import type { BillableRoute } from './billable-request.js';

/** How long an answer may get on one route. The hold decides, once it is known what is available. */
export interface OutputLimit {
  /** How many answers were asked for (`n`); all figures are for one of them. */
  readonly choices: number;
  /** Tokens that credits are set aside for in any case; the same as `most` where the caller named a limit. */
  readonly least: number;
  /** The caller's limit, else the model's. */
  readonly most: number;
  /** Tokens that the context leaves beside the prompt, as far as can be told. */
  readonly fitting: number;
  /** What a vendor is told that has to be told a limit. */
  tokens: number;
  /** True when the credits do not reach for the model's longest answer, so that every vendor is told. */
  isShort: boolean;
}

/** The limit that the gateway itself sets on a route's output, in tokens; undefined: none. */
export function ownOutputLimitOf({ output }: BillableRoute): number | undefined {
  return output?.isShort ? output.tokens : undefined;
}
