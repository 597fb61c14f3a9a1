import type { ReactNode } from 'react';
import type { components } from '../api/schema';
import { Button, Drawer, Time } from '../ui';
import { Changes } from './changes';
import { changesBetween } from './changes-between';

export type AuditRow = components['schemas']['AuditLogRow'];
export type ActorKind = AuditRow['actor']['kind'];

export const ACTOR_KINDS: Record<ActorKind, string> = {
  admin_key: 'Operator key',
  api_key: 'Tenant key',
  person: 'Person',
  command: 'Command line',
  bootstrap: 'Bootstrap',
  service: 'Service',
};

export interface AuditFilters {
  actor_kind?: ActorKind;
  actor_id?: string;
  action?: string;
  target_type?: string;
  target_id?: string;
  request_id?: string;
  tenant_id?: string;
  start_date?: string;
  end_date?: string;
}

/** Shows an audit log entry: actor, target and changed values. */
export function AuditDrawer({
  row,
  onClose,
  onFilter,
}: {
  row: AuditRow;
  onClose: () => void;
  onFilter: (filter: AuditFilters) => void;
}): ReactNode {
  const { actor, target } = row;
  return (
    <Drawer title={`${row.action} of ${row.target.type}`} onClose={onClose}>
      <p>
        <Time at={row.created_at} /> by {row.actor.name} ({ACTOR_KINDS[row.actor.kind]})
      </p>
      <p>
        <span className="mono">{row.target.id}</span>
      </p>
      {row.request_id !== null && (
        <p className="muted">
          Request <span className="mono">{row.request_id}</span>
        </p>
      )}
      <div className="row">
        {actor.id !== null && (
          <Button onClick={() => onFilter({ actor_id: actor.id ?? '' })}>
            All changes by {actor.name}
          </Button>
        )}
        <Button onClick={() => onFilter({ target_type: target.type, target_id: target.id })}>
          All changes to this {target.type.replaceAll('_', ' ')}
        </Button>
      </div>
      <Changes
        caption="Changed values"
        changes={changesBetween(row.before, row.after)}
        empty="No visible values changed."
      />
    </Drawer>
  );
}
