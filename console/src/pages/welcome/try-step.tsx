import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { buildRequest } from '../../calls/build-request';
import { callModel, type CallOutcome } from '../../calls/call-model';
import { NO_SETTINGS } from '../../calls/conversation';
import type { Answer } from '../../calls/read-answer';
import { CallFigures, LiveFigures } from '../../parts/call-figures';
import { withConsoleKey } from '../../session/console-key';
import { useSession } from '../../session/session';
import { Button, ButtonLink, Notice, TextField } from '../../ui';

const MODEL = 'sandbox/words';

/** Makes a real call to a sandbox model, which needs no vendor. */
export function TryStep(): ReactNode {
  const { session, tenant } = useSession();
  const client = useQueryClient();
  const [prompt, setPrompt] = useState('60 words, please');
  const [live, setLive] = useState<{ answer: Answer; firstTokenMs: number | null }>();
  const [outcome, setOutcome] = useState<CallOutcome>();
  const [error, setError] = useState('');
  const call = useRef<AbortController>(undefined);
  useEffect(() => () => call.current?.abort(), []);

  const send = async () => {
    const controller = new AbortController();
    call.current = controller;
    setError('');
    setOutcome(undefined);
    setLive({
      answer: { text: '', reasoning: '', toolCalls: [], finishReason: null },
      firstTokenMs: null,
    });
    const request = buildRequest('chat', {
      model: MODEL,
      system: '',
      turns: [{ role: 'user', text: prompt, files: [] }],
      tools: [],
      settings: NO_SETTINGS,
    });
    try {
      const ended = await withConsoleKey(tenant?.id ?? '', session.name, (key) =>
        callModel(request, key, controller.signal, (answer, firstTokenMs) =>
          setLive({ answer, firstTokenMs }),
        ),
      );
      setOutcome(ended);
      setError(ended.error?.message ?? '');
      await client.invalidateQueries({ queryKey: ['logs'] });
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : String(reason));
    } finally {
      setLive(undefined);
    }
  };
  const answer = live?.answer ?? outcome?.answer;
  return (
    <>
      <p>
        The sandbox is a model inside the gateway that needs no vendor and no network. Limits,
        credits and logs work as with any model. The call is real and uses a temporary key that
        expires when you log out.
      </p>
      <form
        className="row steps-form"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <TextField label={`Message to ${MODEL}`} required value={prompt} onChange={setPrompt} />
        <Button type="submit" variant="primary" busy={live !== undefined}>
          Send
        </Button>
      </form>
      {answer && answer.text !== '' && (
        <p className="steps-answer" aria-label="Answer" role="group">
          {answer.text}
        </p>
      )}
      {live && <LiveFigures firstTokenMs={live.firstTokenMs} />}
      {error !== '' && <Notice tone="bad">{error}</Notice>}
      {outcome && error === '' && (
        <>
          <CallFigures
            call={{ model: MODEL, ...outcome.call }}
            finishReason={outcome.answer.finishReason}
          />
          <div className="row">
            <ButtonLink to="/playground" search={{ models: MODEL }}>
              Continue in playground
            </ButtonLink>
          </div>
        </>
      )}
    </>
  );
}
