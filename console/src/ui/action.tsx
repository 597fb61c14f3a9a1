import { useState, type ComponentProps, type ReactNode } from 'react';
import { Button } from './button';
import { toast } from './toast';

/** A button for an async action: busy while it runs, with a toast on errors. */
export function ActionButton({
  action,
  ...props
}: Omit<ComponentProps<typeof Button>, 'busy' | 'onClick'> & {
  action: () => Promise<unknown>;
}): ReactNode {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      await action();
    } catch (reason) {
      toast(reason instanceof Error ? reason.message : String(reason), 'bad');
    } finally {
      setBusy(false);
    }
  };
  return <Button {...props} busy={busy} onClick={() => void run()} />;
}
