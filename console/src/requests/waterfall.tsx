import type { ReactNode } from 'react';
import { formatCount, formatUsd } from '../format/credits';
import { formatDuration } from '../format/times';
import { Badge, type Tone } from '../ui';

export interface Attempt {
  route: string;
  outcome: string;
  status: number | null;
  started_ms: number;
  duration_ms: number;
  /** Length of the answer in characters when this attempt resumed it. */
  continues_at?: number;
  vendor_cost?: number;
  account?: string;
  hedged?: boolean;
}

/** The vendor calls of a request on its timeline. */
export function Waterfall({
  attempts,
  latencyMs,
  firstTokenMs,
}: {
  attempts: readonly Attempt[];
  latencyMs: number;
  firstTokenMs: number | null;
}): ReactNode {
  if (attempts.length === 0) {
    return <p className="muted">No vendor was called.</p>;
  }
  const whole = Math.max(
    1,
    latencyMs,
    ...attempts.map((each) => each.started_ms + each.duration_ms),
  );
  const share = (ms: number) => `${(Math.min(ms, whole) / whole) * 100}%`;
  // The call that produced the first token, not a continuation.
  const first = attempts.findLast(({ continues_at }) => continues_at === undefined);
  // Keeps calls at the very end visible.
  const startOf = (ms: number) => `min(${share(ms)}, 100% - 3px)`;
  return (
    <ol className="waterfall">
      {attempts.map((attempt, index) => (
        <li key={index}>
          <div className="row row-apart">
            <span className="requests-model">
              {attempt.route}
              {attempt.account !== undefined && (
                <span className="muted"> via {attempt.account}</span>
              )}
            </span>
            <span className="row">
              {attempt.hedged && <Badge tone="neutral">hedge</Badge>}
              {attempt.status !== null && <span className="muted">HTTP {attempt.status}</span>}
              {attempt.continues_at !== undefined && (
                <Badge tone="neutral">{continuationLabel(attempt, attempt.continues_at)}</Badge>
              )}
              <Badge tone={toneOf(attempt.outcome)}>{attempt.outcome.replaceAll('_', ' ')}</Badge>
            </span>
          </div>
          <div className="waterfall-track" aria-hidden="true">
            <span
              className={
                attempt.outcome === 'answered' ? 'waterfall-bar' : 'waterfall-bar waterfall-lost'
              }
              style={{
                insetInlineStart: startOf(attempt.started_ms),
                width: share(attempt.duration_ms),
              }}
            />
            {attempt === first && firstTokenMs !== null && (
              <span
                className="waterfall-mark"
                style={{ insetInlineStart: startOf(firstTokenMs) }}
              />
            )}
          </div>
          <small className="muted">
            started after {formatDuration(attempt.started_ms)}, took{' '}
            {formatDuration(attempt.duration_ms)}
            {attempt.vendor_cost !== undefined &&
              `, vendor cost ${formatCount(attempt.vendor_cost)} credits (${formatUsd(attempt.vendor_cost)})`}
          </small>
        </li>
      ))}
      <li>
        <small className="muted">
          Total: {formatDuration(whole)}
          {firstTokenMs !== null &&
            `; the marker shows the first token after ${formatDuration(firstTokenMs)}`}
          .
        </small>
      </li>
    </ol>
  );
}

/** Describes where an attempt resumed the previous answer, or failed to. */
function continuationLabel({ outcome }: Attempt, characters: number): string {
  const verb = outcome === 'unjoined' ? 'not resumed' : 'resumed';
  return `${verb} after ${formatCount(characters)} characters`;
}

function toneOf(outcome: string): Tone {
  if (outcome === 'answered') return 'good';
  return outcome === 'aborted' || outcome === 'uncovered' ? 'warn' : 'bad';
}
