import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, ApiError } from '../api/client';
import type { CallFacts } from '../calls/conversation';
import { formatCount } from '../format/credits';
import { useSession } from '../session/session';
import { Credits, Duration } from '../ui';
import './call-figures.css';

/** The log row is written shortly after the answer ends. */
const MAX_POLLS = 10;
const POLL_MS = 700;
const POLL_AFTER_STOP_MS = 1_500;

/** Shows cost and speed of a call from the request log. */
export function CallFigures({
  call,
  finishReason,
}: {
  call: CallFacts;
  finishReason: string | null;
}): ReactNode {
  const { tenant } = useSession();
  const { requestId } = call;
  const log = useQuery({
    queryKey: ['log', requestId, tenant?.id],
    queryFn: async ({ signal }) => {
      // A request before the row exists would log an error in the browser.
      const pauseMs = finishReason === 'stopped' ? POLL_AFTER_STOP_MS : POLL_MS;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      return api.GET('/v1/customer/logs/{request_id}', {
        params: { path: { request_id: requestId ?? '' } },
        signal,
      });
    },
    enabled: requestId !== null,
    staleTime: Infinity,
    retry: (count, error) => error instanceof ApiError && error.status === 404 && count < MAX_POLLS,
    retryDelay: POLL_MS,
  });
  const row = log.data;
  return (
    <dl className="figures call-figures" aria-busy={log.isPending}>
      <Figure label="Cost">{row ? <Credits value={row.cost} /> : waiting(log.error)}</Figure>
      <Figure label="First token">
        <Duration ms={row ? row.first_token_ms : call.firstTokenMs} />
      </Figure>
      <Figure label="Tokens per second">
        {row?.tokens_per_second == null ? '–' : formatCount(row.tokens_per_second)}
      </Figure>
      <Figure label="Duration">
        <Duration ms={row ? row.latency_ms : call.tookMs} />
      </Figure>
      <Figure label="Tokens">
        {row
          ? `${formatCount(row.tokens.prompt)} in, ${formatCount(row.tokens.completion)} out`
          : '–'}
      </Figure>
      <Figure label="Finish reason">{finishReason ?? 'error'}</Figure>
      {requestId !== null && (
        <Figure label="Request">
          <Link to="/requests/$requestId" params={{ requestId }}>
            Show<span className="visually-hidden"> request {requestId}</span>
          </Link>
        </Figure>
      )}
    </dl>
  );
}

/** Shown during the stream, before the request log has the call. */
export function LiveFigures({ firstTokenMs }: { firstTokenMs: number | null }): ReactNode {
  return (
    <p className="muted" role="status">
      {firstTokenMs === null ? (
        'Waiting for the first token…'
      ) : (
        <>
          First token after <Duration ms={firstTokenMs} />, streaming…
        </>
      )}
    </p>
  );
}

function Figure({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function waiting(error: Error | null): string {
  return error ? 'Unknown' : '…';
}
