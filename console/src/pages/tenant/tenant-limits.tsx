import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { EditLimits } from '../../parts/edit-limits';
import { LimitsView } from '../../parts/limits-view';
import { useSession } from '../../session/session';
import { Button, Card, QueryState } from '../../ui';
import type { Tenant } from './tenant';

/** The limits set by the operator and those set by the tenant. Both apply. */
export function TenantLimits({ tenant }: { tenant: Tenant }): ReactNode {
  const { can } = useSession();
  const [isEditing, setIsEditing] = useState(false);
  const params = { path: { tenant_id: tenant.id } };
  const limits = useQuery({
    queryKey: ['admin', 'tenants', tenant.id, 'limits'],
    queryFn: ({ signal }) => api.GET('/v1/admin/tenants/{tenant_id}/limits', { params, signal }),
  });
  const mayChange = can('operator:write') && tenant.status !== 'deleted';
  return (
    <QueryState query={limits}>
      {(both) => (
        <div className="columns">
          <Card
            title="Limits set by the operator"
            actions={mayChange && <Button onClick={() => setIsEditing(true)}>Edit</Button>}
          >
            <LimitsView
              state={both.operator_limits}
              none="None. Spending is limited by the balance and the tenant's own limits."
            />
          </Card>
          <Card title="Limits set by the tenant">
            <LimitsView state={both.limits} none="None." />
          </Card>
          {isEditing && (
            <EditLimits
              title={`Operator limits of ${tenant.name}`}
              state={both.operator_limits}
              save={(body) => api.PUT('/v1/admin/tenants/{tenant_id}/limits', { params, body })}
              invalidates={['admin']}
              onClose={() => setIsEditing(false)}
            />
          )}
        </div>
      )}
    </QueryState>
  );
}
