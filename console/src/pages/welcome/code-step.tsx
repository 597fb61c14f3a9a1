import type { ReactNode } from 'react';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import { Code, Notice, Tabs } from '../../ui';
import { readFirstKey } from './first-key';
import { exampleModel, LANGUAGES, threeLines } from './steps';
import type { KnownHere } from './use-known';

/** Code for the first request, with this gateway's URL and the key of the previous step. */
export function CodeStep({ known }: { known: KnownHere }): ReactNode {
  const { tenant } = useSession();
  const [{ language }, setFilters] = useFilters(['language']);
  const key = readFirstKey(tenant?.id);
  const model = exampleModel(known.models);
  const lines = { origin: window.location.origin, key: key ?? 'YOUR_KEY', model };
  return (
    <>
      <p>
        The gateway is compatible with the OpenAI API: change only the base URL and the key. You can
        replace <code>{model}</code> with any other model.
      </p>
      {key === undefined && (
        <Notice tone="info">
          <span>
            Replace <code>YOUR_KEY</code> with a key, or create one in the previous step to fill it
            in here.
          </span>
        </Notice>
      )}
      <Tabs
        label="Languages"
        selected={LANGUAGES.find((each) => each === language) ?? LANGUAGES[0]}
        onSelect={(id) => setFilters({ language: id })}
        tabs={LANGUAGES.map((each) => ({
          id: each,
          label: each,
          content: () => <Code text={threeLines(each, lines)} label={`${each} code`} />,
        }))}
      />
    </>
  );
}
