import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formErrors, useChange } from '../../api/changes';
import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';
import { fromLocalInput, toLocalInput } from '../../format/times';
import { useSession } from '../../session/session';
import {
  Badge,
  Button,
  ButtonLink,
  ConfirmDialog,
  CopyButton,
  Credits,
  Drawer,
  Facts,
  FormDialog,
  SelectField,
  TextField,
  Time,
  toast,
} from '../../ui';
import { KeyStatus } from '../../parts/key-cells';
import { EditLimits } from '../../parts/edit-limits';
import { BudgetBar, LimitsView } from '../../parts/limits-view';

export type ApiKey = components['schemas']['ApiKey'];
type Change = components['schemas']['UpdateApiKey'];

/** Labels of a key's content logging setting. */
const CONTENT_LOGGING: Record<string, string> = {
  null: 'Tenant default',
  true: 'Stored',
  false: 'Not stored',
};
/** Details of a key, with its actions. */
export function KeyDrawer({
  apiKey,
  parent,
  onClose,
}: {
  apiKey: ApiKey;
  parent: ApiKey | undefined;
  onClose: () => void;
}): ReactNode {
  const { can } = useSession();
  const [open, setOpen] = useState<'limits' | 'edit' | 'revoke'>();
  const canChange =
    apiKey.status !== 'revoked' && can(apiKey.type === 'management' ? 'own' : 'develop');
  const close = () => setOpen(undefined);
  return (
    <Drawer title={apiKey.name} onClose={onClose}>
      <div className="row">
        <KeyStatus status={apiKey.status} />
        <Badge tone="info">{apiKey.type}</Badge>
        {can('read') && (
          <ButtonLink to="/requests" search={{ api_key_id: apiKey.id }}>
            Show requests
          </ButtonLink>
        )}
        {canChange && (
          <>
            <Button onClick={() => setOpen('edit')}>Edit</Button>
            {apiKey.type === 'routing' && (
              <Button onClick={() => setOpen('limits')}>Edit limits</Button>
            )}
            <Button variant="danger" onClick={() => setOpen('revoke')}>
              Revoke
            </Button>
          </>
        )}
      </div>
      <Facts
        facts={[
          ['Key', <code key="preview">{apiKey.key_preview}</code>],
          [
            'Id',
            <span key="id" className="row">
              <code>{apiKey.id}</code> <CopyButton text={apiKey.id} label="Copy id" />
            </span>,
          ],
          ['Requests', formatCount(apiKey.usage.request_count)],
          ['Spent', <Credits key="spent" value={apiKey.usage.total_spend} />],
          ['Last used', <Time key="used" at={apiKey.last_used_at} none="never" />],
          ['Expires', <Time key="end" at={apiKey.expires_at} none="never" />],
          ['Created', <Time key="created" at={apiKey.created_at} />],
          ['Prompts and answers', CONTENT_LOGGING[String(apiKey.content_log)] ?? '–'],
          ...(apiKey.parent_id ? [['Created by', parent?.name ?? apiKey.parent_id] as const] : []),
        ]}
      />
      {apiKey.type === 'routing' && (
        <>
          {apiKey.monthly_spend && (
            <>
              <h3>Monthly limit</h3>
              <BudgetBar budget={apiKey.monthly_spend} />
            </>
          )}
          <h3>Limits</h3>
          <LimitsView state={apiKey.limits} none="None. The tenant's limits apply." />
          <h3>Limits set by the operator</h3>
          <LimitsView state={apiKey.operator_limits} none="None." />
        </>
      )}
      {open === 'limits' && (
        <EditLimits
          title={`Limits of ${apiKey.name}`}
          state={apiKey.limits}
          save={(limits) =>
            api.PATCH('/v1/customer/api-keys/{id}', {
              params: { path: { id: apiKey.id } },
              body: { limits },
            })
          }
          invalidates={['api-keys']}
          path="limits."
          onClose={close}
        />
      )}
      {open === 'edit' && <EditKey apiKey={apiKey} onClose={close} />}
      {open === 'revoke' && <RevokeKey apiKey={apiKey} onClose={close} />}
    </Drawer>
  );
}

function RevokeKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }): ReactNode {
  const revoke = useChange(
    () => api.DELETE('/v1/customer/api-keys/{id}', { params: { path: { id: apiKey.id } } }),
    ['api-keys'],
    () => toast(`${apiKey.name} was revoked.`),
  );
  return (
    <ConfirmDialog
      title={`Revoke ${apiKey.name}?`}
      text={
        <>
          <code>{apiKey.key_preview}</code> and all keys created with it stop working within a
          second. This cannot be undone.
        </>
      }
      action="Revoke key"
      danger
      onClose={onClose}
      onConfirm={() => revoke.mutateAsync()}
    />
  );
}

function EditKey({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }): ReactNode {
  const [name, setName] = useState(apiKey.name);
  const { can } = useSession();
  const [expiry, setExpiry] = useState(toLocalInput(apiKey.expires_at));
  const [contentLogging, setContentLogging] = useState(String(apiKey.content_log));
  const change = useChange(
    (body: Change) =>
      api.PATCH('/v1/customer/api-keys/{id}', { params: { path: { id: apiKey.id } }, body }),
    ['api-keys'],
    () => {
      toast('Key saved.');
      onClose();
    },
  );
  const errors = formErrors(change.error, ['name', 'expires_at', 'content_log']);
  return (
    <FormDialog
      title={`Edit ${apiKey.name}`}
      busy={change.isPending}
      error={errors.other}
      onClose={onClose}
      onSubmit={() =>
        change.mutate({
          ...(name !== apiKey.name && { name }),
          ...(expiry !== toLocalInput(apiKey.expires_at) && {
            expires_at: fromLocalInput(expiry) ?? null,
          }),
          ...(contentLogging !== String(apiKey.content_log) && {
            content_log: contentLogging === 'null' ? null : contentLogging === 'true',
          }),
        })
      }
    >
      <TextField
        label="Name"
        error={errors.of('name')}
        required
        maxLength={255}
        value={name}
        onChange={setName}
      />
      <TextField
        label="Expires"
        hint="In your time zone. Leave empty for no expiry."
        error={errors.of('expires_at')}
        type="datetime-local"
        value={expiry}
        onChange={setExpiry}
      />
      {can('content') && apiKey.type === 'routing' && (
        <SelectField
          label="Prompts and answers"
          error={errors.of('content_log')}
          value={contentLogging}
          options={Object.entries(CONTENT_LOGGING)}
          onChange={setContentLogging}
        />
      )}
    </FormDialog>
  );
}
