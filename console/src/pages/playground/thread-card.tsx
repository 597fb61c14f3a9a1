import { useState, type ReactNode } from 'react';
import { openToolCalls, type Turn } from '../../calls/conversation';
import { Button, Card, EmptyState, Notice } from '../../ui';
import { CodeDialog } from './code-dialog';
import { LiveFigures } from '../../parts/call-figures';
import type { Thread } from './playground-state';
import type { PlaygroundSettings, PlaygroundStore } from './playground-store';
import { ToolResults } from './tool-results';
import { AnswerView, TurnView } from './turn-view';

/** The conversation with one model. */
export function ThreadCard({
  index,
  thread,
  store,
  settings,
}: {
  index: number;
  thread: Thread;
  store: PlaygroundStore;
  settings: PlaygroundSettings;
}): ReactNode {
  const [isCodeShown, setIsCodeShown] = useState(false);
  const { turns, live, error } = thread;
  const model = settings.models[index] ?? '';
  const calls = live ? [] : openToolCalls(turns);
  const title = settings.models.length > 1 ? `${index + 1}. ${model}` : model;
  return (
    <Card
      title={title || 'No model selected'}
      actions={
        <>
          {live && <Button onClick={() => store.stop(index)}>Stop</Button>}
          {!live && turns.length > 0 && calls.length === 0 && (
            <Button onClick={() => store.retry(index, settings)}>Retry</Button>
          )}
          <Button onClick={() => setIsCodeShown(true)}>Code</Button>
        </>
      }
    >
      {turns.length === 0 && !live && !error && (
        <EmptyState title="No messages yet">Messages that you send below appear here.</EmptyState>
      )}
      <div className="play-turns" aria-busy={live !== null}>
        {turns.map((turn, at) => (
          <TurnView key={at} turn={turn} names={toolNames(turns)} />
        ))}
        {live && (
          <article className="play-turn" data-role="assistant" aria-label="Answer">
            <AnswerView {...live.answer} />
            <LiveFigures firstTokenMs={live.firstTokenMs} />
          </article>
        )}
      </div>
      {error && (
        <Notice tone="bad">
          <span className="play-error">
            {error.param !== null && (
              <>
                <code>{error.param}</code>:{' '}
              </>
            )}
            {error.message}
          </span>
          {error.requestId !== null && <small className="mono">{error.requestId}</small>}
        </Notice>
      )}
      {calls.length > 0 && (
        <ToolResults
          key={turns.length}
          calls={calls}
          onSend={(results) => store.sendResults(index, results, settings)}
        />
      )}
      {isCodeShown && (
        <CodeDialog
          request={() => thread.sent ?? store.requestOf(index, settings)}
          wasSent={thread.sent !== null}
          onClose={() => setIsCodeShown(false)}
        />
      )}
    </Card>
  );
}

/** Returns tool names by call id, since results only have the id. */
function toolNames(turns: readonly Turn[]): ReadonlyMap<string, string> {
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls : []));
  return new Map(calls.map(({ id, name }) => [id, name]));
}
