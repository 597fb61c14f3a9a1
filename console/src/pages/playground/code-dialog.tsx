import { useState, type ReactNode } from 'react';
import type { ModelRequest } from '../../calls/build-request';
import { codeFor, LANGUAGES, type Language } from '../../calls/code';
import { Code, Dialog, Notice, Tabs } from '../../ui';

/**
 * Code that makes a request of the playground again.
 *
 * @param wasSent else it is what would be sent
 */
export function CodeDialog({
  request,
  wasSent,
  onClose,
}: {
  request: () => ModelRequest;
  wasSent: boolean;
  onClose: () => void;
}): ReactNode {
  const [language, setLanguage] = useState<Language>('curl');
  return (
    <Dialog title="Code" wide onClose={onClose}>
      <p>
        {wasSent ? 'What was sent last' : 'What would be sent'}, with your key in{' '}
        <code>GATEWAY_API_KEY</code>. Make one on the page Keys.
      </p>
      <Tabs
        label="Languages"
        selected={language}
        onSelect={(id) => setLanguage(LANGUAGES.find((each) => each === id) ?? 'curl')}
        tabs={LANGUAGES.map((each) => ({
          id: each,
          label: each,
          content: () => <CodeIn {...{ request }} language={each} />,
        }))}
      />
    </Dialog>
  );
}

function CodeIn({
  language,
  request,
}: {
  language: Language;
  request: () => ModelRequest;
}): ReactNode {
  let text: string;
  try {
    text = codeFor(language, window.location.origin, request());
  } catch (error) {
    return <Notice tone="bad">{error instanceof Error ? error.message : String(error)}</Notice>;
  }
  return <Code text={text} label={`The request in ${language}`} />;
}
