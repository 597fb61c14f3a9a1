import { useMemo, type ReactNode } from 'react';
import { shortId } from '../format/ids';
import type { components } from '../api/schema';
import { useCursorList, type CursorPage } from '../api/queries';
import { formatCount } from '../format/credits';
import {
  Badge,
  Button,
  Credits,
  DataTable,
  Duration,
  EmptyState,
  MoreButton,
  Notice,
  QueryState,
  Time,
  type Column,
} from '../ui';
import { toRequestQuery, type RequestFilters, type RequestQuery } from './request-filters';
import { useTail, type NewerRows } from './use-tail';
import './requests.css';

export type RequestRow = components['schemas']['LogRow'] & { tenant_id?: string };

/** The API that a list reads from. */
export interface RequestSource {
  page: (
    query: RequestQuery & { cursor?: string; limit: number },
    signal: AbortSignal,
  ) => Promise<CursorPage<RequestRow>>;
  newer: (
    query: RequestQuery & { since_id: string; limit: number },
    signal: AbortSignal,
  ) => Promise<NewerRows<RequestRow>>;
}

const PAGE_SIZE = 50;
const TAIL_SIZE = 200;

/**
 * A request list, newest first, with pagination and live updates.
 *
 * @param name first element of the query key
 * @param isLive polls for new requests
 */
export function RequestList({
  name,
  filters,
  source,
  isLive,
  onOpen,
  nameTenant,
  empty,
}: {
  name: string;
  filters: RequestFilters;
  source: RequestSource;
  isLive: boolean;
  onOpen: (row: RequestRow) => void;
  nameTenant?: (id: string) => string;
  empty?: ReactNode;
}): ReactNode {
  // Fixes the start of a relative range, so that pages of one list do not shift.
  const query = useMemo(() => toRequestQuery(filters, new Date()), [filters]);
  const list = useCursorList([name, filters], (page, signal) =>
    source.page({ ...query, limit: PAGE_SIZE, ...page }, signal),
  );
  const listed = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
  const tail = useTail({
    name,
    filters,
    listed,
    isLive,
    read: (since_id, signal) => source.newer({ ...query, limit: TAIL_SIZE, since_id }, signal),
    onBehind: () => void list.refetch(),
  });
  const columns = useMemo(() => columnsFor(nameTenant), [nameTenant]);
  const isShort = list.hasNextPage && (listed?.length ?? 0) < PAGE_SIZE;
  return (
    <QueryState query={list}>
      {() => (
        <>
          {tail.error && <Notice tone="warn">Live updates failed: {tail.error.message}</Notice>}
          {isLive && (
            <p className="muted" role="status">
              {tail.arrived === 0
                ? 'Waiting for new requests…'
                : `${formatCount(tail.arrived)} new ${tail.arrived === 1 ? 'request' : 'requests'}`}
            </p>
          )}
          {tail.waiting > 0 && (
            <div className="tail-waiting">
              <Button variant="primary" onClick={tail.show}>
                Show {formatCount(tail.waiting)} new {tail.waiting === 1 ? 'request' : 'requests'}
              </Button>
            </div>
          )}
          <DataTable
            caption="Requests, newest first"
            columns={columns}
            rows={[...tail.rows, ...(listed ?? [])]}
            rowKey={({ request_id }) => request_id}
            onOpen={onOpen}
            empty={list.hasNextPage ? undefined : (empty ?? <NoRequests filters={filters} />)}
          />
          {isShort && (
            <p className="muted requests-foot" role="status">
              Searched the newest 200,000 requests. Select “Show more” to search older ones.
            </p>
          )}
          {list.hasNextPage && (
            <div className="requests-foot">
              <MoreButton query={list} />
            </div>
          )}
        </>
      )}
    </QueryState>
  );
}

function NoRequests({ filters }: { filters: RequestFilters }): ReactNode {
  return Object.keys(filters).length > 0 ? (
    <EmptyState title="No matching requests">Change or clear the filters.</EmptyState>
  ) : (
    <EmptyState title="No requests yet">
      Every request to the gateway appears here once its answer has ended. Send one from the
      playground or your code.
    </EmptyState>
  );
}

function columnsFor(nameTenant: ((id: string) => string) | undefined): Column<RequestRow>[] {
  return [
    {
      header: 'Time',
      cell: (row) => (
        <>
          <Time at={row.created_at} />
          <span className="visually-hidden"> {shortId(row.request_id)}</span>
        </>
      ),
    },
    ...(nameTenant
      ? [{ header: 'Tenant', cell: (row: RequestRow) => nameTenant(row.tenant_id ?? '') }]
      : []),
    {
      header: 'Model',
      cell: (row) => (
        <>
          <span className="requests-model">{row.model}</span>
          <br />
          <small className="muted">
            {row.provider} · {row.endpoint}
          </small>
        </>
      ),
    },
    { header: 'Status', cell: (row) => <OutcomeBadge row={row} /> },
    { header: 'Cost', align: 'end', cell: (row) => <Credits value={row.cost} /> },
    {
      header: 'Tokens',
      align: 'end',
      wide: true,
      cell: ({ tokens }) => (
        <span title={`${formatCount(tokens.prompt)} in, ${formatCount(tokens.completion)} out`}>
          {formatCount(tokens.prompt)} → {formatCount(tokens.completion)}
        </span>
      ),
    },
    {
      header: 'Duration',
      align: 'end',
      wide: true,
      cell: ({ latency_ms }) => <Duration ms={latency_ms} />,
    },
    {
      header: 'First token',
      align: 'end',
      wide: true,
      cell: ({ first_token_ms }) => <Duration ms={first_token_ms} />,
    },
    {
      header: 'End user and tags',
      wide: true,
      cell: ({ end_user, tags }) => (
        <small className="requests-tags">
          {[end_user, ...Object.entries(tags).map(([key, value]) => `${key}=${value}`)]
            .filter((text) => text !== null)
            .join(', ')}
        </small>
      ),
    },
  ];
}

/** The outcome of a request as a badge. */
export function OutcomeBadge({
  row,
}: {
  row: Pick<RequestRow, 'outcome' | 'status' | 'error_type' | 'recovered'>;
}): ReactNode {
  if (row.recovered) {
    return (
      <span title="The stream was interrupted and resumed by another vendor call.">
        <Badge tone="good">recovered</Badge>
      </span>
    );
  }
  if (row.outcome === 'cancelled') return <Badge tone="neutral">disconnected</Badge>;
  if (row.status === 'success') return <Badge tone="good">{row.outcome}</Badge>;
  return (
    <span title={row.error_type ?? undefined}>
      <Badge tone={row.outcome === 'refused' ? 'warn' : 'bad'}>{row.outcome}</Badge>
    </span>
  );
}
