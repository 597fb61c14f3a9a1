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
  /** Of one that was asked to go on with an answer: after so many characters of it. */
  continues_at?: number;
  vendor_cost?: number;
  account?: string;
  hedged?: boolean;
}

/** The calls to vendors on the time of the request, one below the other. */
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
  // The answer's beginning, whoever went on with it.
  const first = attempts.findLast(({ continues_at }) => continues_at === undefined);
  // What begins at the very end has its place before it, to be seen.
  const startOf = (ms: number) => `min(${share(ms)}, 100% - 3px)`;
  return (
    <ol className="waterfall">
      {attempts.map((attempt, index) => (
        <li key={index}>
          <div className="row row-apart">
            <span className="requests-model">
              {attempt.route}
              {attempt.account !== undefined && (
                <span className="muted"> over {attempt.account}</span>
              )}
            </span>
            <span className="row">
              {attempt.hedged && <Badge tone="neutral">second route</Badge>}
              {attempt.status !== null && <span className="muted">HTTP {attempt.status}</span>}
              {attempt.continues_at !== undefined && (
                <Badge tone="neutral">{seamOf(attempt, attempt.continues_at)}</Badge>
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
          The whole bar is {formatDuration(whole)}
          {firstTokenMs !== null &&
            `; the line is the first token, after ${formatDuration(firstTokenMs)}`}
          .
        </small>
      </li>
    </ol>
  );
}

/** Where an attempt went on with the answer of the one before, or was to. */
function seamOf({ outcome }: Attempt, characters: number): string {
  const did = outcome === 'unjoined' ? 'did not go on' : 'went on';
  return `${did} after ${formatCount(characters)} characters`;
}

function toneOf(outcome: string): Tone {
  if (outcome === 'answered') return 'good';
  return outcome === 'aborted' || outcome === 'uncovered' ? 'warn' : 'bad';
}
