import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { endConsoleKey, KEY_BUDGET, KEY_HOURS, useConsoleKey } from '../../session/console-key';
import { useSession } from '../../session/session';
import { ActionButton, Card, Credits, Time } from '../../ui';

/** With what the playground pays, what is left of it, and how to end it. */
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
    <Card title="Who pays">
      <p>
        Calls here are real: they cost {tenant?.name} what they cost any client. A session calls no
        models, so with your first message, or question of its cost, a routing key is made, named
        “Playground of {session.name}”, that only this tab has. It ends after {KEY_HOURS} hours or
        when you log out, and may spend <Credits value={KEY_BUDGET} /> in all. It stands in the list
        of <Link to="/keys">keys</Link>, where it can be revoked as well.
      </p>
      {key && (
        <div className="row">
          <span>
            It is there, until <Time at={key.expiresAt} />
            {left !== undefined && (
              <>
                , with <Credits value={left} /> left
              </>
            )}
            .
          </span>
          <ActionButton disabled={isRunning} action={() => endConsoleKey(key)}>
            Revoke it now
          </ActionButton>
        </div>
      )}
    </Card>
  );
}
