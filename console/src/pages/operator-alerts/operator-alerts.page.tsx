import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import type { AlertSource } from '../../parts/alerts/alert-source';
import { Alerts } from '../../parts/alerts/alerts';
import { useSession } from '../../session/session';
import { Button, Code, ConfirmDialog, Dialog, Notice, Page, Time } from '../../ui';
import type { components } from '../../api/schema';

type RotatedSecret = components['schemas']['OperatorWebhookSecret'];

const SOURCE: Omit<AlertSource, 'mayChange'> = {
  owner: 'operator',
  list: (signal) => api.GET('/v1/admin/alerts', { signal }),
  events: (query, signal) => api.GET('/v1/admin/alert-events', { params: { query }, signal }),
  create: (body) => api.POST('/v1/admin/alerts', { body }),
  update: (id, body) => api.PATCH('/v1/admin/alerts/{id}', { params: { path: { id } }, body }),
  remove: (id) => api.DELETE('/v1/admin/alerts/{id}', { params: { path: { id } } }),
  test: (id) => api.POST('/v1/admin/alerts/{id}/test', { params: { path: { id } } }),
};

/** Alerts for operators, over all tenants or a single one. */
export function OperatorAlertsPage(): ReactNode {
  const { can } = useSession();
  const mayChange = can('operator:write');
  return (
    <Page
      title="Alerts"
      description="Alerts for operators, over all tenants or a single one. Alerts of tenants are not listed."
      actions={mayChange && <SigningSecret />}
    >
      <Alerts source={{ ...SOURCE, mayChange }} />
    </Page>
  );
}

/** Rotates the signing secret, which is shown once. */
function SigningSecret(): ReactNode {
  const [isConfirming, setIsConfirming] = useState(false);
  const [created, setCreated] = useState<RotatedSecret>();
  return (
    <>
      <Button onClick={() => setIsConfirming(true)}>Rotate signing secret</Button>
      {isConfirming && (
        <ConfirmDialog
          title="Rotate the signing secret?"
          text="Alerts are signed with the new secret from now on. For one day they are also signed with the old one, so that you can update receivers."
          action="Rotate secret"
          onClose={() => setIsConfirming(false)}
          onConfirm={async () => setCreated(await api.POST('/v1/admin/webhook-secret/rotate'))}
        />
      )}
      {created && (
        <Dialog title="New signing secret" onClose={() => setCreated(undefined)}>
          <Notice tone="warn">Copy it now. It is not shown again.</Notice>
          <Code text={created.secret} label="Signing secret" />
          <p>
            The previous secret stays valid until <Time at={created.previous_until} />.
          </p>
        </Dialog>
      )}
    </>
  );
}
