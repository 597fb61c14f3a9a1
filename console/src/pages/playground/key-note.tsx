import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { endConsoleKey, KEY_BUDGET, KEY_HOURS, useConsoleKey } from '../../session/console-key';
import { useSession } from '../../session/session';
import { ActionButton, Card, Credits, Time } from '../../ui';

/** Explains the playground's key, and shows its remaining budget. */
export function KeyNote({ isRunning }: { isRunning: boolean }): ReactNode {
  const { tenant, session } = useSession();
  const key = useConsoleKey(tenant?.id);
  const state = useQuery({
    queryKey: ['api-key', key?.id],
    queryFn: ({ signal }) =>
      api.GET('/v1/customer/api-keys/{id}', { params: { path: { id: key?.id ?? '' } }, signal }),
    enabled: key !== undefined && !isRunning,
  });
  const left = state.data?.limits.budgets.find(({ period }) => period === 'total')?.remaining;
  return (
    <Card title="Playground key">
      <p>
        Playground calls are real and charged to {tenant?.name}. Your first message or estimate
        creates a routing key named “Playground of {session.name}” for this tab. It expires after{' '}
        {KEY_HOURS} hours or when you log out, and can spend at most <Credits value={KEY_BUDGET} />.
        You can also revoke it under <Link to="/keys">API keys</Link>.
      </p>
      {key && (
        <div className="row">
          <span>
            Active until <Time at={key.expiresAt} />
            {left !== undefined && (
              <>
                , with <Credits value={left} /> left
              </>
            )}
            .
          </span>
          <ActionButton disabled={isRunning} action={() => endConsoleKey(key)}>
            Revoke key
          </ActionButton>
        </div>
      )}
    </Card>
  );
}
