import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useSession } from '../../session/session';
import { Button, Card, QueryState } from '../../ui';
import { EditLimits } from '../../parts/edit-limits';
import { LimitsView } from '../../parts/limits-view';

/** Limits on all requests of the tenant. */
export function TenantLimits(): ReactNode {
  const { can } = useSession();
  const [isEditing, setIsEditing] = useState(false);
  const limits = useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => api.GET('/v1/customer/limits', { signal }),
    refetchInterval: 15_000,
  });
  return (
    <QueryState query={limits}>
      {(state) => (
        <div className="columns">
          <Card
            title="Tenant limits"
            actions={can('own') && <Button onClick={() => setIsEditing(true)}>Edit</Button>}
          >
            <LimitsView
              state={state.limits}
              none="None. Spending is limited by the balance and the operator's limits."
            />
          </Card>
          <Card title="Limits set by the operator">
            <LimitsView state={state.operator_limits} none="None." />
          </Card>
          {isEditing && (
            <EditLimits
              title="Tenant limits"
              state={state.limits}
              save={(body) => api.PUT('/v1/customer/limits', { body })}
              invalidates={['limits']}
              onClose={() => setIsEditing(false)}
            />
          )}
        </div>
      )}
    </QueryState>
  );
}
