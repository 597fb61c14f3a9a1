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

/** What operators are told of, over all tenants or of one. */
export function OperatorAlertsPage(): ReactNode {
  const { can } = useSession();
  const mayChange = can('operator:write');
  return (
    <Page
      title="Alerts"
      description="What operators are told of, over all tenants or of one of them. Those of tenants are not listed here."
      actions={mayChange && <SigningSecret />}
    >
      <Alerts source={{ ...SOURCE, mayChange }} />
    </Page>
  );
}

/** The key of the signatures, which is shown only when it is made. */
function SigningSecret(): ReactNode {
  const [isAsking, setIsAsking] = useState(false);
  const [made, setMade] = useState<RotatedSecret>();
  return (
    <>
      <Button onClick={() => setIsAsking(true)}>Make a signing secret</Button>
      {isAsking && (
        <ConfirmDialog
          title="Make a new signing secret?"
          text="Messages are signed with it from now on, for a day with the one before as well, so that receivers can be given it meanwhile."
          action="Make"
          onClose={() => setIsAsking(false)}
          onConfirm={async () => setMade(await api.POST('/v1/admin/webhook-secret/rotate'))}
        />
      )}
      {made && (
        <Dialog title="The signing secret" onClose={() => setMade(undefined)}>
          <Notice tone="warn">It is shown only now. Copy it before you go on.</Notice>
          <Code text={made.secret} label="Signing secret" />
          <p>
            The one of before signs as well until <Time at={made.previous_until} />.
          </p>
        </Dialog>
      )}
    </>
  );
}
