import { useQueryClient } from '@tanstack/react-query';
import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { LoginForms } from '../session/login-forms';
import { useForgetSession } from '../session/session';

/** Asks for a login above the page on which the session ended. There is no way around it. */
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
            <h2>Your session has ended</h2>
          </Dialog.Title>
          <p>Log in again to go on where you were. With a key, what you typed is still there.</p>
          <LoginForms returnTo={returnTo} onEnter={enter} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
