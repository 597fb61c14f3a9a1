import { useState, type ReactNode } from 'react';
import { Button } from './button';
import { toast } from './toast';

const COPIED_MS = 2_000;

/** @param children visible text, if `label` says more */
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
      // The clipboard exists only on https and localhost.
      toast('Copying is blocked on this page. Select the text and copy it.', 'warn');
    }
  };
  return (
    <Button onClick={() => void copy()} aria-label={isCopied ? 'Copied' : label}>
      {isCopied ? 'Copied' : children}
    </Button>
  );
}

/** A code block with a copy button. */
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
