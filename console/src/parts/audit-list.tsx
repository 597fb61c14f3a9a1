import type { ReactNode } from 'react';
import { download } from '../api/download';
import { useCursorList, type CursorPage } from '../api/queries';
import { useFilters } from '../shell/use-filters';
import {
  ActionButton,
  Card,
  EmptyState,
  MoreButton,
  PagedTable,
  SearchField,
  SelectField,
  TextField,
  Time,
  type Column,
} from '../ui';
import {
  ACTOR_KINDS,
  AuditDrawer,
  type ActorKind,
  type AuditFilters,
  type AuditRow,
} from './audit-drawer';

/** Shortened in the list; the drawer shows the whole id. */
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const NAMES = [
  'actor_kind',
  'actor_id',
  'action',
  'target_type',
  'target_id',
  'request_id',
  'tenant_id',
  'start_date',
  'end_date',
] as const;

/**
 * An audit log, newest first.
 *
 * @param read fetches a page of the log
 * @param exportPath export path of the API without its file extension
 * @param isOverTenants adds a column and a filter for the tenant
 */
export function AuditList({
  queryKey,
  read,
  exportPath,
  isOverTenants = false,
}: {
  queryKey: string;
  read: (
    query: AuditFilters & { cursor?: string },
    signal: AbortSignal,
  ) => Promise<CursorPage<AuditRow>>;
  exportPath: string;
  isOverTenants?: boolean;
}): ReactNode {
  const [texts, setFilters] = useFilters(NAMES);
  const [{ change: openId }, setOpen] = useFilters(['change']);
  const filters = filtersOf(texts);
  const list = useCursorList([queryKey, 'audit', filters], (page, signal) =>
    read({ ...filters, ...page }, signal),
  );
  const columns: Column<AuditRow>[] = [
    {
      header: 'Time',
      cell: ({ created_at, action, target }) => (
        <>
          <Time at={created_at} />
          <span className="visually-hidden">
            {' '}
            {action} {target.id}
          </span>
        </>
      ),
    },
    { header: 'Action', cell: ({ action }) => <span className="mono">{action}</span> },
    {
      header: 'Target',
      cell: ({ target }) => (
        <>
          {target.type}
          <br />
          <span className="mono muted" title={target.id}>
            {UUID.test(target.id) ? target.id.slice(0, 8) : target.id}
          </span>
        </>
      ),
    },
    {
      header: 'Actor',
      cell: ({ actor }) => (
        <>
          {actor.name}
          <br />
          <span className="muted">{ACTOR_KINDS[actor.kind]}</span>
        </>
      ),
    },
    ...(isOverTenants
      ? [
          {
            header: 'Tenant',
            wide: true,
            cell: ({ tenant_id }: AuditRow) => (
              <span className="mono">{tenant_id?.slice(0, 8) ?? '–'}</span>
            ),
          },
        ]
      : []),
  ];
  const query = new URLSearchParams(Object.entries(filters)).toString();
  const opened = list.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === openId);
  const close = () => setOpen({ change: undefined });
  const search = (name: (typeof NAMES)[number], label: string, placeholder?: string) => (
    <SearchField
      label={label}
      value={texts[name] ?? ''}
      placeholder={placeholder}
      onSearch={(text) => setFilters({ [name]: text })}
    />
  );
  return (
    <>
      <div className="filters">
        <SelectField
          label="Actor type"
          value={filters.actor_kind ?? ''}
          options={[['', 'All'], ...Object.entries(ACTOR_KINDS)]}
          onChange={(kind) => setFilters({ actor_kind: kind })}
        />
        {search('actor_id', 'Actor id')}
        {search('action', 'Action', 'api_key.revoke')}
        {search('target_type', 'Target type', 'api_key')}
        {search('target_id', 'Target id')}
        {search('request_id', 'Request id')}
        {isOverTenants && search('tenant_id', 'Tenant id')}
        {(['start_date', 'end_date'] as const).map((name) => (
          <TextField
            key={name}
            label={name === 'start_date' ? 'From (UTC)' : 'To (UTC)'}
            type="date"
            value={texts[name] ?? ''}
            onChange={(text) => setFilters({ [name]: text })}
          />
        ))}
      </div>
      <Card
        title="Changes"
        actions={['csv', 'jsonl'].map((ending) => {
          const path = `${exportPath}.${ending}?${query}`;
          const label = ending === 'csv' ? 'Download CSV' : 'Download JSON lines';
          // Links cannot select a tenant. Over all tenants the file may be too large to buffer.
          return isOverTenants ? (
            <a key={ending} className="button" href={path} download>
              {label}
            </a>
          ) : (
            <ActionButton
              key={ending}
              action={() => download(path, { name: `audit-log.${ending}` })}
            >
              {label}
            </ActionButton>
          );
        })}
      >
        <PagedTable
          query={list}
          caption="Changes"
          columns={columns}
          rowKey={({ id }) => id}
          onOpen={({ id }) => setOpen({ change: id })}
          empty={
            <EmptyState title="No matching changes">
              <span>
                The audit log lists successful changes; rejected requests are not included. Remove a
                filter to see more.
              </span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={list} />
      {opened && (
        <AuditDrawer
          row={opened}
          onClose={close}
          onFilter={(filter) => {
            close();
            setFilters(filter);
          }}
        />
      )}
    </>
  );
}

function filtersOf(texts: Partial<Record<(typeof NAMES)[number], string>>): AuditFilters {
  const { actor_kind: kind, ...rest } = texts;
  return { ...rest, ...(kind !== undefined && isActorKind(kind) && { actor_kind: kind }) };
}

function isActorKind(name: string): name is ActorKind {
  return name in ACTOR_KINDS;
}
