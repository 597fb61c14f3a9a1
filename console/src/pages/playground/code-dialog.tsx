import { useState, type ReactNode } from 'react';
import type { ModelRequest } from '../../calls/build-request';
import { codeFor, LANGUAGES, type Language } from '../../calls/code';
import { Code, Dialog, Notice, Tabs } from '../../ui';

/**
 * Code for a request of the playground.
 *
 * @param wasSent whether the request was sent, rather than being the next one
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
        {wasSent ? 'The last request' : 'The next request'}. Set <code>GATEWAY_API_KEY</code> to a
        key from the API keys page.
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
  return <Code text={text} label={`${language} code`} />;
}
