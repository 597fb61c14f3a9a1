import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useSession } from '../../session/session';
import { Button, Card, QueryState } from '../../ui';
import { EditLimits } from '../../parts/edit-limits';
import { LimitsView } from '../../parts/limits-view';

/** What holds for all of the tenant's requests together. */
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
            title="Your own limits"
            actions={can('own') && <Button onClick={() => setIsEditing(true)}>Change</Button>}
          >
            <LimitsView
              state={state.limits}
              none="None: the balance and the operator alone limit what all keys together may spend."
            />
          </Card>
          <Card title="Set by the operator">
            <LimitsView state={state.operator_limits} none="None." />
          </Card>
          {isEditing && (
            <EditLimits
              title="Limits of all requests"
              state={state.limits}
              save={(body) => api.PUT('/v1/customer/limits', { body })}
              touches={['limits']}
              onClose={() => setIsEditing(false)}
            />
          )}
        </div>
      )}
    </QueryState>
  );
}
