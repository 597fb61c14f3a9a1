import type { ReactNode } from 'react';
import { Button } from './button';
import { Dialog } from './dialog';

/** A window with a form, which `onSubmit` sends; whoever opened it closes it. */
export function FormDialog({
  title,
  action = 'Save',
  busy,
  wide = false,
  onClose,
  onSubmit,
  children,
}: {
  title: string;
  action?: string;
  busy: boolean;
  wide?: boolean;
  onClose: () => void;
  onSubmit: () => void;
  children: ReactNode;
}): ReactNode {
  return (
    <Dialog title={title} open wide={wide} onOpenChange={(open) => !open && onClose()}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          // A form in a window of another form sends itself alone.
          event.stopPropagation();
          if (!busy) onSubmit();
        }}
      >
        {children}
        <div className="row row-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" busy={busy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
