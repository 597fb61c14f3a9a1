import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, ApiError } from '../api/client';
import type { CallFacts } from '../calls/conversation';
import { formatCount } from '../format/credits';
import { useSession } from '../session/session';
import { Credits, Duration } from '../ui';
import './call-figures.css';

/** A row is written a moment after the answer has ended. */
const LOOKS = 10;
const LOOK_AFTER_MS = 700;
const LOOK_AFTER_STOP_MS = 1_500;

/** What a call cost and how fast it was, as the log of requests has it. */
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
      // A look that comes too early would be an error in the browser's log.
      const pauseMs = finishReason === 'stopped' ? LOOK_AFTER_STOP_MS : LOOK_AFTER_MS;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      return api.GET('/v1/customer/logs/{request_id}', {
        params: { path: { request_id: requestId ?? '' } },
        signal,
      });
    },
    enabled: requestId !== null,
    staleTime: Infinity,
    retry: (count, error) => error instanceof ApiError && error.status === 404 && count < LOOKS,
    retryDelay: LOOK_AFTER_MS,
  });
  const row = log.data;
  return (
    <dl className="figures call-figures" aria-busy={log.isPending}>
      <Figure label="Cost">{row ? <Credits value={row.cost} /> : waiting(log.error)}</Figure>
      <Figure label="First token">
        <Duration ms={row ? row.first_token_ms : call.firstTokenMs} />
      </Figure>
      <Figure label="Tokens a second">
        {row?.tokens_per_second == null ? '–' : formatCount(row.tokens_per_second)}
      </Figure>
      <Figure label="Took">
        <Duration ms={row ? row.latency_ms : call.tookMs} />
      </Figure>
      <Figure label="Tokens">
        {row
          ? `${formatCount(row.tokens.prompt)} in, ${formatCount(row.tokens.completion)} out`
          : '–'}
      </Figure>
      <Figure label="Ended by">{finishReason ?? 'an error'}</Figure>
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

/** While the answer comes in only the browser knows anything. */
export function LiveFigures({ firstTokenMs }: { firstTokenMs: number | null }): ReactNode {
  return (
    <p className="muted" role="status">
      {firstTokenMs === null ? (
        'Waiting for the first token…'
      ) : (
        <>
          First token after <Duration ms={firstTokenMs} />, going on…
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
  return error ? 'not known' : '…';
}
