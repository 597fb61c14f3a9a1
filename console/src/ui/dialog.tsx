import { Dialog as RadixDialog } from 'radix-ui';
import { useRef, useState, type ReactNode } from 'react';
import { Button } from './button';
import { Notice } from './layout';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

/** A modal dialog, open while rendered. Escape closes it and restores the focus. */
export function Dialog({ wide = false, ...props }: DialogProps): ReactNode {
  return <Window {...props} className={wide ? 'dialog dialog-wide' : 'dialog'} />;
}

/** A dialog at the right edge, for the details of a row. */
export function Drawer(props: Omit<DialogProps, 'wide'>): ReactNode {
  return <Window {...props} className="dialog drawer" />;
}

/** The element that opened the latest dialog; dialogs that replace another one have no opener. */
let lastOpener: Element | null = null;

/** Remembers the focused element before a dialog takes the focus. */
function rememberOpener(): Element | null {
  const { activeElement, body } = document;
  if (activeElement !== null && activeElement !== body) lastOpener = activeElement;
  return lastOpener;
}

/** Focuses the opener, or the page if it is gone, such as a deleted row. */
function restoreFocus(opener: Element | null): void {
  const target = opener?.isConnected ? opener : document.getElementById('main');
  if (target instanceof HTMLElement) target.focus();
}

function Window({
  title,
  onClose,
  children,
  className,
}: Omit<DialogProps, 'wide'> & { className: string }): ReactNode {
  const restoreFocusProps = useRestoreFocus();
  return (
    <RadixDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="overlay" />
        <RadixDialog.Content
          className={className}
          aria-describedby={undefined}
          {...restoreFocusProps}
        >
          <div className="dialog-head">
            <RadixDialog.Title asChild>
              <h2>{title}</h2>
            </RadixDialog.Title>
            <RadixDialog.Close asChild>
              <Button variant="quiet" aria-label="Close">
                ✕
              </Button>
            </RadixDialog.Close>
          </div>
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

/** Restores the focus when a dialog without a Radix trigger closes. */
export function useRestoreFocus(): {
  onOpenAutoFocus: () => void;
  onCloseAutoFocus: (event: Event) => void;
} {
  const before = useRef<Element | null>(null);
  return {
    onOpenAutoFocus() {
      before.current = rememberOpener();
    },
    onCloseAutoFocus(event) {
      event.preventDefault();
      restoreFocus(before.current);
    },
  };
}

/**
 * Asks for confirmation.
 *
 * @param action button label
 * @param onConfirm runs the action; errors are shown in the dialog, otherwise `onClose` is called
 */
export function ConfirmDialog({
  title,
  text,
  action,
  onConfirm,
  danger = false,
  onClose,
}: {
  title: string;
  text: ReactNode;
  action: string;
  onConfirm: () => Promise<unknown>;
  danger?: boolean;
  onClose: () => void;
}): ReactNode {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const confirm = async () => {
    setBusy(true);
    setError('');
    try {
      await onConfirm();
      onClose();
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : String(reason));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{text}</div>
      {error !== '' && <Notice tone="bad">{error}</Notice>}
      <div className="row row-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button variant={danger ? 'danger' : 'primary'} busy={busy} onClick={() => void confirm()}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
