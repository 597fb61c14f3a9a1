import { useState, type ReactNode } from 'react';
import { Button } from './button';
import { toast } from './toast';

const COPIED_MS = 2_000;

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }): ReactNode {
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
      {isCopied ? 'Copied' : label}
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
