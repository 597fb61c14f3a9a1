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

/** Whether a key's prompts and answers are kept. */
const KEPT: Record<string, string> = {
  null: 'as for all keys',
  true: 'kept',
  false: 'not kept',
};
/** One key: what it has used, what limits it, and what can be changed. */
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
  const isAlterable =
    apiKey.status !== 'revoked' && can(apiKey.type === 'management' ? 'own' : 'develop');
  const close = () => setOpen(undefined);
  return (
    <Drawer title={apiKey.name} onClose={onClose}>
      <div className="row">
        <KeyStatus status={apiKey.status} />
        <Badge tone="info">{apiKey.type}</Badge>
        {can('read') && (
          <ButtonLink to="/requests" search={{ api_key_id: apiKey.id }}>
            Its requests
          </ButtonLink>
        )}
        {isAlterable && (
          <>
            <Button onClick={() => setOpen('edit')}>Edit</Button>
            {apiKey.type === 'routing' && <Button onClick={() => setOpen('limits')}>Limits</Button>}
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
              <code>{apiKey.id}</code> <CopyButton text={apiKey.id} label="Copy the id" />
            </span>,
          ],
          ['Requests', formatCount(apiKey.usage.request_count)],
          ['Spent', <Credits key="spent" value={apiKey.usage.total_spend} />],
          ['Last used', <Time key="used" at={apiKey.last_used_at} none="never" />],
          ['Ends', <Time key="end" at={apiKey.expires_at} none="never" />],
          ['Made', <Time key="made" at={apiKey.created_at} />],
          ['Prompts and answers', KEPT[String(apiKey.content_log)] ?? '–'],
          ...(apiKey.parent_id ? [['Made by', parent?.name ?? apiKey.parent_id] as const] : []),
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
          <LimitsView state={apiKey.limits} none="None of its own. Those of the tenant hold." />
          <h3>By the operator</h3>
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
          touches={['api-keys']}
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
    () => toast(`${apiKey.name} is revoked.`),
  );
  return (
    <ConfirmDialog
      title={`Revoke ${apiKey.name}?`}
      text={
        <>
          <code>{apiKey.key_preview}</code> stops working within a second, and the keys that it made
          with it. This can not be undone.
        </>
      }
      action="Revoke"
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
  const [kept, setKept] = useState(String(apiKey.content_log));
  const change = useChange(
    (body: Change) =>
      api.PATCH('/v1/customer/api-keys/{id}', { params: { path: { id: apiKey.id } }, body }),
    ['api-keys'],
    () => {
      toast('The key is changed.');
      onClose();
    },
  );
  const errors = formErrors(change.error, ['name', 'expires_at', 'content_log']);
  return (
    <FormDialog
      title={`Change ${apiKey.name}`}
      busy={change.isPending}
      error={errors.other}
      onClose={onClose}
      onSubmit={() =>
        change.mutate({
          ...(name !== apiKey.name && { name }),
          ...(expiry !== toLocalInput(apiKey.expires_at) && {
            expires_at: fromLocalInput(expiry) ?? null,
          }),
          ...(kept !== String(apiKey.content_log) && {
            content_log: kept === 'null' ? null : kept === 'true',
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
        label="Ends"
        hint="In your time zone. Empty: never."
        error={errors.of('expires_at')}
        type="datetime-local"
        value={expiry}
        onChange={setExpiry}
      />
      {can('content') && apiKey.type === 'routing' && (
        <SelectField
          label="Prompts and answers"
          error={errors.of('content_log')}
          value={kept}
          options={Object.entries(KEPT)}
          onChange={setKept}
        />
      )}
    </FormDialog>
  );
}
