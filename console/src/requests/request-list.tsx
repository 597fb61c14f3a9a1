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

/** Where a list reads its rows. */
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
 * Requests, newest first, page after page, and what comes in while it is looked at.
 *
 * @param name of the list in the cache
 * @param isLive whether new ones are to appear
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
  // A range goes on from when it was chosen; pages of one list must not slide.
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
          {tail.error && (
            <Notice tone="warn">New requests cannot be read just now: {tail.error.message}</Notice>
          )}
          {isLive && (
            <p className="muted" role="status">
              {tail.came === 0
                ? 'Looking for new requests.'
                : `${formatCount(tail.came)} new since you look.`}
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
              So far for the first 200,000 requests that were looked at; older ones may match as
              well.
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
    <EmptyState title="No request matches">Change the filters, or clear them.</EmptyState>
  ) : (
    <EmptyState title="No requests yet">
      They appear here as soon as their answers have ended.
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
      header: 'Took',
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
      header: 'User and tags',
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

/** How a request ended, in a word. */
export function OutcomeBadge({
  row,
}: {
  row: Pick<RequestRow, 'outcome' | 'status' | 'error_type' | 'recovered'>;
}): ReactNode {
  if (row.recovered) {
    return (
      <span title="Its stream broke off, and another call to a vendor went on with it.">
        <Badge tone="good">recovered</Badge>
      </span>
    );
  }
  if (row.outcome === 'cancelled') return <Badge tone="neutral">left</Badge>;
  if (row.status === 'success') return <Badge tone="good">{row.outcome}</Badge>;
  return (
    <span title={row.error_type ?? undefined}>
      <Badge tone={row.outcome === 'refused' ? 'warn' : 'bad'}>{row.outcome}</Badge>
    </span>
  );
}
