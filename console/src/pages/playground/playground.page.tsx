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
import { ThreadCard } from './thread-card';
import { EMPTY_THREAD } from './playground-state';
import { PlaygroundStore } from './playground-store';
import { QuoteDialog } from './quote-dialog';
import { ReplayNotice } from './replay-notice';
import { SettingsCard } from './settings-card';
import { useSettings } from './use-settings';
import './playground.css';

/** The sandbox needs no vendor, so it works on a new gateway. */
const SANDBOX = 'sandbox/echo';

/** Compares up to four models side by side through any of the three chat APIs. */
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
  // Stops running calls on leave, since they cost credits.
  useEffect(() => {
    const stop = () => store.stopAll();
    window.addEventListener('pagehide', stop);
    return () => {
      window.removeEventListener('pagehide', stop);
      stop();
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
  const [quoted, setQuoted] = useState<{ requestedAt: number; requests: ModelRequest[] }>();
  const threads = settings.models.map((_, index) => state.threads[index] ?? EMPTY_THREAD);
  const isRunning = threads.some(({ live }) => live !== null);
  const takeReplay = (loaded: Replay): void => {
    const last = loaded.turns.at(-1);
    const draft: UserTurn | undefined = last?.role === 'user' ? last : undefined;
    const turns = draft ? loaded.turns.slice(0, -1) : loaded.turns;
    store.clear();
    store.change({
      system: loaded.system,
      draft: draft?.text ?? '',
      threads: settings.models.map(() => ({ ...EMPTY_THREAD, turns })),
    });
    setReplayed(replayed + 1);
    setSettings({ replay: '' });
  };
  return (
    <Page
      title="Playground"
      description="Compare up to four models side by side."
      actions={
        <>
          <CopyButton text={window.location.href} label="Copy link to these settings" />
          <Button disabled={state.threads.length === 0} onClick={() => store.clear()}>
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
        <Notice tone="warn">The models could not be loaded: {models.error.message}</Notice>
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
      <div className="play-threads" data-count={threads.length}>
        {threads.map((thread, index) => (
          <ThreadCard key={index} {...{ index, thread, store, settings }} />
        ))}
      </div>
      <Composer
        draft={state.draft}
        files={state.files}
        blockedReason={blockedReasonOf(settings.models, threads, state.tools)}
        isRunning={isRunning}
        onDraft={(draft) => store.change({ draft })}
        onFiles={(files) => store.change({ files })}
        onSend={() => store.send(settings)}
        onQuote={() =>
          setQuoted({ requestedAt: Date.now(), requests: store.nextRequests(settings) })
        }
        onStop={() => store.stopAll()}
      />
      <KeyNote isRunning={isRunning} />
      {quoted && <QuoteDialog {...quoted} onClose={() => setQuoted(undefined)} />}
    </Page>
  );
}

/** Returns why sending is disabled. */
function blockedReasonOf(
  models: readonly string[],
  threads: readonly { turns: Parameters<typeof openToolCalls>[0] }[],
  tools: string,
): string | undefined {
  if (models.some((model) => model.trim() === '')) return 'Select a model to send a message.';
  const read = readTools(tools);
  if ('error' in read) return `The tool definitions are invalid. ${read.error}`;
  return threads.some(({ turns }) => openToolCalls(turns).length > 0)
    ? 'A model waits for a tool result. Enter it above, or start over.'
    : undefined;
}
