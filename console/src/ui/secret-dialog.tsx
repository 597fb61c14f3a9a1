import type { ReactNode } from 'react';
import { Code } from './code';
import { Dialog } from './dialog';
import { Notice } from './layout';

/** Shows a new secret once. */
export function SecretDialog({
  title,
  label,
  secret,
  onClose,
  children,
}: {
  title: string;
  /** Name for screen readers. */
  label: string;
  secret: string;
  onClose: () => void;
  children?: ReactNode;
}): ReactNode {
  return (
    <Dialog title={title} onClose={onClose}>
      <Notice tone="warn">Copy it now. It is not shown again.</Notice>
      <Code text={secret} label={label} />
      {children}
    </Dialog>
  );
}
