import { useQueryClient } from '@tanstack/react-query';
import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { LoginForms } from '../session/login-forms';
import { useForgetSession } from '../session/session';

/** Modal login above the page whose session ended. Cannot be dismissed. */
export function SessionEnded({ returnTo }: { returnTo: string }): ReactNode {
  const client = useQueryClient();
  const forgetSession = useForgetSession();
  const enter = async () => {
    await forgetSession();
    await client.invalidateQueries();
  };
  return (
    <Dialog.Root open>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content
          className="dialog"
          aria-describedby={undefined}
          onEscapeKeyDown={(event) => event.preventDefault()}
          onInteractOutside={(event) => event.preventDefault()}
        >
          <Dialog.Title asChild>
            <h2>Session expired</h2>
          </Dialog.Title>
          <p>Log in again to continue. Unsaved input is kept if you log in with an API key.</p>
          <LoginForms returnTo={returnTo} onEnter={enter} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
