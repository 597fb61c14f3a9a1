import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { api } from '../api/client';
import { saveFile } from '../api/download';
import { isSurface } from '../calls/conversation';
import type { components } from '../api/schema';
import { formatCount } from '../format/credits';
import { useSession } from '../session/session';
import {
  Badge,
  Button,
  ButtonLink,
  Card,
  Code,
  Credits,
  Duration,
  QueryState,
  Stat,
  Stats,
  Time,
} from '../ui';
import { ContentCard, useContent } from './content-card';
import { toCurl } from './curl';
import { Fact, ReceiptArithmetic, useReceipt } from './receipt';
import { OutcomeBadge } from './request-list';
import { Waterfall } from './waterfall';
import './requests.css';

type Log = components['schemas']['LogDetail'];

/**
 * Shows all details of a request.
 *
 * @param tenantId tenant of the request, if it is not the selected one
 */
export function RequestDetails({
  requestId,
  tenantId,
}: {
  requestId: string;
  tenantId?: string;
}): ReactNode {
  const headers: Record<string, string> =
    tenantId === undefined ? {} : { 'X-Gateway-Tenant': tenantId };
  const path = { request_id: requestId };
  const query = useQuery({
    queryKey: ['log', requestId, tenantId],
    queryFn: ({ signal }) =>
      api.GET('/v1/customer/logs/{request_id}', { params: { path }, headers, signal }),
  });
  return (
    <QueryState query={query}>
      {(log) => (
        <div className="stack">
          <Summary log={log} />
          <Actions log={log} isOwn={tenantId === undefined} />
          <Card title="Vendor calls">
            <Waterfall
              attempts={log.attempts}
              latencyMs={log.latency_ms}
              firstTokenMs={log.first_token_ms}
            />
          </Card>
          <Cost requestId={requestId} headers={headers} />
          <Card title="Guardrails">
            <Findings found={log.guardrails} />
          </Card>
          <Content log={log} headers={headers} />
        </div>
      )}
    </QueryState>
  );
}

function Summary({ log }: { log: Log }): ReactNode {
  const tags = Object.entries(log.tags);
  return (
    <>
      <div className="row">
        <OutcomeBadge row={log} />
        <strong className="requests-model">{log.model}</strong>
        <span className="muted">
          {log.provider} · {log.endpoint}
          {log.streamed && ' · streamed'}
          {log.traffic_mode === 'byok' && ' · BYOK'}
        </span>
        <Time at={log.created_at} />
      </div>
      {log.error_type !== null && (
        <p>
          Error type: <code>{log.error_type}</code>
        </p>
      )}
      <Stats>
        <Stat label="Cost" value={<Credits value={log.cost} />} />
        <Stat label="Duration" value={<Duration ms={log.latency_ms} />} />
        <Stat label="First token" value={<Duration ms={log.first_token_ms} />} />
        <Stat
          label="Tokens per second"
          value={log.tokens_per_second === null ? '–' : formatCount(log.tokens_per_second)}
        />
        <Stat
          label="Tokens"
          value={formatCount(log.tokens.total)}
          hint={`${formatCount(log.tokens.prompt)} in, ${formatCount(log.tokens.completion)} out`}
        />
        {typeof log.vendor_cost === 'number' && (
          <Stat label="Vendor cost" value={<Credits value={log.vendor_cost} />} />
        )}
      </Stats>
      <dl className="request-sums">
        <Fact label="Request id">
          <span className="mono">{log.request_id}</span>
        </Fact>
        <Fact label="API key id">
          <span className="mono">{log.api_key_id}</span>
        </Fact>
        {log.finish_reason !== null && <Fact label="Finish reason">{log.finish_reason}</Fact>}
        {log.end_user !== null && <Fact label="End user">{log.end_user}</Fact>}
        {tags.length > 0 && (
          <Fact label="Tags">{tags.map(([key, value]) => `${key}=${value}`).join(', ')}</Fact>
        )}
      </dl>
    </>
  );
}

function Actions({ log, isOwn }: { log: Log; isOwn: boolean }): ReactNode {
  const { can } = useSession();
  return isOwn && can('develop') && isSurface(log.endpoint) ? (
    <div className="row">
      <ButtonLink to="/playground" search={{ replay: log.request_id }}>
        Replay in the playground
      </ButtonLink>
    </div>
  ) : null;
}

function Cost({
  requestId,
  headers,
}: {
  requestId: string;
  headers: Record<string, string>;
}): ReactNode {
  const query = useReceipt(requestId, { headers });
  const signed = query.data;
  return (
    <Card
      title="Cost"
      actions={
        signed && (
          <Button
            onClick={() =>
              saveFile(
                new Blob([JSON.stringify(signed, null, 2)], { type: 'application/json' }),
                `receipt-${requestId}.json`,
              )
            }
          >
            Download receipt
          </Button>
        )
      }
    >
      <QueryState query={query}>
        {({ receipt }) => <ReceiptArithmetic receipt={receipt} />}
      </QueryState>
    </Card>
  );
}

function Findings({ found }: { found: Log['guardrails'] }): ReactNode {
  if (found.length === 0) return <p className="muted">No guardrail matched this request.</p>;
  return (
    <ul className="plain-list">
      {found.map((each, index) => (
        <li key={index} className="row">
          <Badge tone={each.action === 'block' ? 'bad' : 'warn'}>{each.action}</Badge>
          <span>
            {each.name ?? 'Deleted guardrail'}, in the{' '}
            {each.direction === 'input' ? 'prompt' : 'answer'}
          </span>
          <Time at={each.created_at} />
        </li>
      ))}
    </ul>
  );
}

function Content({ log, headers }: { log: Log; headers: Record<string, string> }): ReactNode {
  const content = useContent(log.request_id, headers);
  return (
    <>
      <ContentCard content={content} />
      <Card title="curl command">
        <Code
          label="curl command"
          text={toCurl(window.location.origin, log, content.query.data?.prompt)}
        />
      </Card>
    </>
  );
}
