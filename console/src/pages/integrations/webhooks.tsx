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

/** The webhook signing secret and recent deliveries. */
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
          caption="Job webhook deliveries"
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No deliveries in the last 7 days">
              Create a job with a webhook_url to be notified when it ends.
            </EmptyState>
          }
        />
        <MoreButton query={deliveries} />
      </Card>
    </>
  );
}

/** Loads the secret on demand. */
function Secret(): ReactNode {
  const [secret, setSecret] = useState<string>();
  const [until, setUntil] = useState<string>();
  const [isConfirming, setIsConfirming] = useState(false);
  return (
    <Card
      title="Signing secret"
      actions={
        <>
          {secret === undefined && (
            <ActionButton
              action={async () => setSecret((await api.GET('/v1/customer/webhook-secret')).secret)}
            >
              Show secret
            </ActionButton>
          )}
          <Button variant="danger" onClick={() => setIsConfirming(true)}>
            Rotate secret
          </Button>
        </>
      }
    >
      <p className="muted">
        Job and alert webhooks carry an HMAC-SHA256 signature with this secret in the header{' '}
        <code>X-Gateway-Signature</code>.
      </p>
      {secret !== undefined && <Code text={secret} label="Webhook secret" />}
      {until !== undefined && (
        <Notice tone="info">
          <span>
            Webhooks are also signed with the previous secret until <Time at={until} />.
          </span>
        </Notice>
      )}
      {isConfirming && (
        <ConfirmDialog
          title="Rotate the signing secret?"
          text="For one day webhooks are signed with both the new and the old secret. Update your receivers by then."
          action="Rotate secret"
          danger
          onClose={() => setIsConfirming(false)}
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
