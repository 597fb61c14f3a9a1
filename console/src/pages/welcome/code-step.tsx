import type { ReactNode } from 'react';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import { Code, Notice, Tabs } from '../../ui';
import { readFirstKey } from './first-key';
import { exampleModel, LANGUAGES, threeLines } from './steps';
import type { KnownHere } from './use-known';

/** What to paste, with the address of this gateway and the key of the step before. */
export function CodeStep({ known }: { known: KnownHere }): ReactNode {
  const { tenant } = useSession();
  const [{ language }, setFilters] = useFilters(['language']);
  const key = readFirstKey(tenant?.id);
  const model = exampleModel(known.models);
  const lines = { origin: window.location.origin, key: key ?? 'YOUR_KEY', model };
  return (
    <>
      <p>
        The gateway speaks the API that your code may speak already: only the address and the key
        change. Any of the models can stand in place of <code>{model}</code>.
      </p>
      {key === undefined && (
        <Notice tone="info">
          Put a key in place of <code>YOUR_KEY</code>: make one in the step before, and it stands
          here.
        </Notice>
      )}
      <Tabs
        label="Languages"
        selected={LANGUAGES.find((each) => each === language) ?? LANGUAGES[0]}
        onSelect={(id) => setFilters({ language: id })}
        tabs={LANGUAGES.map((each) => ({
          id: each,
          label: each,
          content: () => <Code text={threeLines(each, lines)} label={`Three lines of ${each}`} />,
        }))}
      />
    </>
  );
}
