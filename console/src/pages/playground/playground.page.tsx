import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState, useSyncExternalStore, type ReactNode } from 'react';
import { api } from '../../api/client';
import type { ModelRequest } from '../../calls/build-request';
import { callModel } from '../../calls/call-model';
import { openToolCalls, type UserTurn } from '../../calls/conversation';
import type { Replay } from '../../calls/replay';
import { readTools } from '../../calls/tools';
import { withConsoleKey } from '../../session/console-key';
import { useSession } from '../../session/session';
import { Button, CopyButton, Notice, Page } from '../../ui';
import { Composer } from './composer';
import { KeyNote } from './key-note';
import { LaneCard } from './lane-card';
import { EMPTY_LANE } from './playground-state';
import { PlaygroundStore } from './playground-store';
import { QuoteDialog } from './quote-dialog';
import { ReplayNotice } from './replay-notice';
import { SettingsCard } from './settings-card';
import { useSettings } from './use-settings';
import './playground.css';

/** Answers without a vendor, and so on a gateway that has none yet. */
const SANDBOX = 'sandbox/echo';

/** Talks to models: up to four side by side, through any of the three APIs. */
export function PlaygroundPage(): ReactNode {
  const { tenant } = useSession();
  return <Playground key={tenant?.id} tenantId={tenant?.id ?? ''} />;
}

function Playground({ tenantId }: { tenantId: string }): ReactNode {
  const { session } = useSession();
  const models = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) =>
      api.GET('/v1/models', { params: { query: { include_routes: 'true' } }, signal }),
  });
  const store = useMemo(
    () =>
      new PlaygroundStore(
        `gateway.playground.${tenantId}`,
        sessionStorage,
        (request, signal, onProgress) =>
          withConsoleKey(tenantId, session.name, (key) =>
            callModel(request, key, signal, onProgress),
          ),
      ),
    [tenantId, session.name],
  );
  const state = useSyncExternalStore(store.subscribe, store.read);
  // Who leaves reads no answers, and answers cost.
  useEffect(() => {
    const leave = () => store.stopAll();
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      leave();
    };
  }, [store]);

  const chatModels = (models.data?.data ?? []).filter(({ kind }) => kind === 'chat');
  const ids = chatModels.map(({ id }) => id);
  const fallback = ids.includes(SANDBOX) ? SANDBOX : (ids[0] ?? '');
  const [settings, setSettings, { replay }] = useSettings(
    `gateway.playground-settings.${tenantId}`,
    fallback,
  );
  const [replayed, setReplayed] = useState(0);
  const [quoted, setQuoted] = useState<{ askedAt: number; requests: ModelRequest[] }>();
  const lanes = settings.models.map((_, index) => state.lanes[index] ?? EMPTY_LANE);
  const isRunning = lanes.some(({ live }) => live !== null);
  const takeReplay = (told: Replay): void => {
    const last = told.turns.at(-1);
    const draft: UserTurn | undefined = last?.role === 'user' ? last : undefined;
    const turns = draft ? told.turns.slice(0, -1) : told.turns;
    store.clear();
    store.change({
      system: told.system,
      draft: draft?.text ?? '',
      lanes: settings.models.map(() => ({ ...EMPTY_LANE, turns })),
    });
    setReplayed(replayed + 1);
    setSettings({ replay: '' });
  };
  return (
    <Page
      title="Playground"
      description="Try models as your code would call them, up to four side by side."
      actions={
        <>
          <CopyButton text={window.location.href} label="Copy a link to these settings" />
          <Button disabled={state.lanes.length === 0} onClick={() => store.clear()}>
            Start over
          </Button>
        </>
      }
    >
      {replay !== undefined && (
        <ReplayNotice
          requestId={replay}
          onSettings={setSettings}
          onReplay={takeReplay}
          onEnd={() => setSettings({ replay: '' })}
        />
      )}
      {models.error && (
        <Notice tone="warn">The models can not be listed: {models.error.message}</Notice>
      )}
      <SettingsCard
        key={replayed}
        settings={settings}
        modelIds={ids}
        system={state.system}
        tools={state.tools}
        isRunning={isRunning}
        onSettings={setSettings}
        onRemove={(index) => {
          store.remove(index);
          setSettings({ models: settings.models.filter((_, at) => at !== index).join() });
        }}
        onSystem={(system) => store.change({ system })}
        onTools={(tools) => store.change({ tools })}
      />
      <div className="play-lanes" data-count={lanes.length}>
        {lanes.map((lane, index) => (
          <LaneCard key={index} {...{ index, lane, store, settings }} />
        ))}
      </div>
      <Composer
        draft={state.draft}
        files={state.files}
        hindrance={hindranceOf(settings.models, lanes, state.tools)}
        isRunning={isRunning}
        onDraft={(draft) => store.change({ draft })}
        onFiles={(files) => store.change({ files })}
        onSend={() => store.send(settings)}
        onQuote={() => setQuoted({ askedAt: Date.now(), requests: store.nextRequests(settings) })}
        onStop={() => store.stopAll()}
      />
      <KeyNote isRunning={isRunning} />
      {quoted && <QuoteDialog {...quoted} onClose={() => setQuoted(undefined)} />}
    </Page>
  );
}

/** Why nothing can be said now. */
function hindranceOf(
  models: readonly string[],
  lanes: readonly { turns: Parameters<typeof openToolCalls>[0] }[],
  tools: string,
): string | undefined {
  if (models.some((model) => model.trim() === '')) return 'Choose a model first.';
  const read = readTools(tools);
  if ('fault' in read) return `The tools can not be sent. ${read.fault}`;
  return lanes.some(({ turns }) => openToolCalls(turns).length > 0)
    ? 'A model waits for the result of a tool: type it above, or start over.'
    : undefined;
}
