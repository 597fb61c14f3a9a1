import { useEffect, useRef, type ReactNode } from 'react';
import { Button } from './button';
import { Dialog } from './dialog';
import { Notice } from './layout';

/** Until a form is busy a double click sends it once; one that is not busy by then can be sent again. */
const DOUBLE_CLICK_MS = 400;

/**
 * A window with a form, which `onSubmit` sends; whoever opened it closes it.
 *
 * @param error what is wrong with none of its fields
 * @param disabled it can not be sent yet
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
          // A form in a window of another form sends itself alone.
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
