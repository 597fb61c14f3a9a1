import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { ScopeLabel } from '../../parts/scope-label';
import { useSession } from '../../session/session';
import {
  ActionButton,
  Badge,
  Button,
  Card,
  Code,
  ConfirmDialog,
  EmptyState,
  MoreButton,
  Notice,
  PagedTable,
  Time,
  type Column,
} from '../../ui';

type Delivery = components['schemas']['WebhookDelivery'];

const TONE = { pending: 'info', delivered: 'good', dropped: 'bad' } as const;

const COLUMNS: readonly Column<Delivery>[] = [
  { header: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
  { header: 'State', cell: ({ state }) => <Badge tone={TONE[state]}>{state}</Badge> },
  { header: 'Event', wide: true, cell: ({ event_id }) => <code>{event_id}</code> },
  { header: 'To', cell: ({ url_preview }) => url_preview },
  { header: 'Scope', cell: ({ scope }) => <ScopeLabel scope={scope} /> },
  { header: 'Attempts', align: 'end', cell: ({ attempts }) => attempts },
  { header: 'Last error', wide: true, cell: ({ last_error }) => last_error ?? '–' },
];

/** The secret that webhooks are signed with, and what became of them. */
export function Webhooks(): ReactNode {
  const { can } = useSession();
  const deliveries = useCursorList(
    ['webhook-deliveries'],
    (page, signal) =>
      api.GET('/v1/customer/webhook-deliveries', {
        params: { query: { limit: 50, ...page } },
        signal,
      }),
    { refetchInterval: 30_000 },
  );
  return (
    <>
      {can('develop') && <Secret />}
      <Card title="Deliveries">
        <PagedTable
          query={deliveries}
          caption="Webhooks of jobs"
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No webhooks in the last 7 days">
              A job with a webhook_url tells its end here.
            </EmptyState>
          }
        />
        <MoreButton query={deliveries} />
      </Card>
    </>
  );
}

/** It is read only when somebody wants to see it. */
function Secret(): ReactNode {
  const [secret, setSecret] = useState<string>();
  const [until, setUntil] = useState<string>();
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Card
      title="Signing secret"
      actions={
        <>
          {secret === undefined && (
            <ActionButton
              action={async () => setSecret((await api.GET('/v1/customer/webhook-secret')).secret)}
            >
              Show
            </ActionButton>
          )}
          <Button variant="danger" onClick={() => setIsAsking(true)}>
            Rotate
          </Button>
        </>
      }
    >
      <p className="muted">
        Webhooks of jobs and alerts have the header <code>X-Gateway-Signature</code>, an HMAC-SHA256
        with this secret.
      </p>
      {secret !== undefined && <Code text={secret} label="The webhook secret" />}
      {until !== undefined && (
        <Notice tone="info">
          <span>
            Until <Time at={until} /> webhooks are signed with the secret of before as well.
          </span>
        </Notice>
      )}
      {isAsking && (
        <ConfirmDialog
          title="Make a new secret?"
          text="For a day webhooks are signed with the new one and with the one before. Receivers have to know the new one by then."
          action="Rotate"
          danger
          onClose={() => setIsAsking(false)}
          onConfirm={async () => {
            const rotated = await api.POST('/v1/customer/webhook-secret/rotate');
            setSecret(rotated.secret);
            setUntil(rotated.previous_until);
          }}
        />
      )}
    </Card>
  );
}
