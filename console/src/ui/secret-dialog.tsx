import type { ReactNode } from 'react';
import { Code } from './code';
import { Dialog } from './dialog';
import { Notice } from './layout';

/** A window that shows a secret, which is never shown again. */
export function SecretDialog({
  title,
  label,
  secret,
  onClose,
  children,
}: {
  title: string;
  /** What it is, to screen readers. */
  label: string;
  secret: string;
  onClose: () => void;
  children?: ReactNode;
}): ReactNode {
  return (
    <Dialog title={title} onClose={onClose}>
      <Notice tone="warn">It is shown only now. Copy it before you go on.</Notice>
      <Code text={secret} label={label} />
      {children}
    </Dialog>
  );
}
