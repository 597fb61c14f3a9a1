import { useEffect, useRef, type ReactNode } from 'react';
import { Button } from './button';
import { Dialog } from './dialog';
import { Notice } from './layout';

/** Ignores the second click of a double click until the form becomes busy. */
const DOUBLE_CLICK_MS = 400;

/**
 * A dialog with a form. The parent closes it.
 *
 * @param error error that belongs to none of the fields
 * @param disabled whether the form cannot be submitted yet
 */
export function FormDialog({
  title,
  action = 'Save',
  busy,
  error,
  danger = false,
  disabled = false,
  wide = false,
  onClose,
  onSubmit,
  children,
}: {
  title: string;
  action?: string;
  busy: boolean;
  error?: string | undefined;
  danger?: boolean;
  disabled?: boolean;
  wide?: boolean;
  onClose: () => void;
  onSubmit: () => void;
  children: ReactNode;
}): ReactNode {
  const sentAt = useRef(-Infinity);
  useEffect(() => {
    sentAt.current = -Infinity;
  }, [busy]);
  return (
    <Dialog title={title} wide={wide} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          // React events bubble through portals to an outer form.
          event.stopPropagation();
          if (busy || disabled || event.timeStamp - sentAt.current < DOUBLE_CLICK_MS) return;
          sentAt.current = event.timeStamp;
          onSubmit();
        }}
      >
        {children}
        {error !== undefined && <Notice tone="bad">{error}</Notice>}
        <div className="row row-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant={danger ? 'danger' : 'primary'}
            type="submit"
            busy={busy}
            disabled={disabled}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
