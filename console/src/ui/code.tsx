import { useState, type ReactNode } from 'react';
import { Button } from './button';
import { toast } from './toast';

const COPIED_MS = 2_000;

/** @param children what stands on it, where `label` says more */
export function CopyButton({
  text,
  label = 'Copy',
  children = label,
}: {
  text: string;
  label?: string;
  children?: ReactNode;
}): ReactNode {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setIsCopied(true);
      setTimeout(() => setIsCopied(false), COPIED_MS);
    } catch {
      // Pages that are neither https nor on this machine have no clipboard.
      toast('The browser does not let this page copy. Select the text instead.', 'warn');
    }
  };
  return (
    <Button onClick={() => void copy()} aria-label={isCopied ? 'Copied' : label}>
      {isCopied ? 'Copied' : children}
    </Button>
  );
}

/** A piece of code as it stands, with a button to copy it. */
export function Code({ text, label = 'Code' }: { text: string; label?: string }): ReactNode {
  return (
    <div className="code">
      <pre tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} />
    </div>
  );
}
