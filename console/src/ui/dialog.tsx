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

/** A window above the page, for as long as it is rendered. Escape closes it, and the focus goes back to what opened it. */
export function Dialog({ wide = false, ...props }: DialogProps): ReactNode {
  return <Window {...props} className={wide ? 'dialog dialog-wide' : 'dialog'} />;
}

/** The same at the right edge, for what belongs to a row of the page. */
export function Drawer(props: Omit<DialogProps, 'wide'>): ReactNode {
  return <Window {...props} className="dialog drawer" />;
}

/** What the latest window was opened from; one that takes another's place has nothing of its own. */
let lastOpener: Element | null = null;

/** Where the focus is, before a window takes it. */
function rememberOpener(): Element | null {
  const { activeElement, body } = document;
  if (activeElement !== null && activeElement !== body) lastOpener = activeElement;
  return lastOpener;
}

/** Back to what opened a window; to the page where that is gone, as a row that was deleted. */
function focusAgain(opener: Element | null): void {
  const target = opener?.isConnected ? opener : document.getElementById('main');
  if (target instanceof HTMLElement) target.focus();
}

function Window({
  title,
  onClose,
  children,
  className,
}: Omit<DialogProps, 'wide'> & { className: string }): ReactNode {
  const focusBack = useFocusBack();
  return (
    <RadixDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="overlay" />
        <RadixDialog.Content className={className} aria-describedby={undefined} {...focusBack}>
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

/** For a dialog that no trigger of Radix opens: when it closes, the focus goes back to where it was. */
export function useFocusBack(): {
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
      focusAgain(before.current);
    },
  };
}

/**
 * Asks before something is done.
 *
 * @param action the word on the button
 * @param onConfirm does it; when that went well `onClose` is called, else the window shows why not
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
