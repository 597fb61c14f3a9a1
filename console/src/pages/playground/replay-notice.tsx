import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode } from 'react';
import { api, ApiError } from '../../api/client';
import { isSurface } from '../../calls/conversation';
import { replayOf, type Replay } from '../../calls/replay';
import { useSession } from '../../session/session';
import { ActionButton, Button, Notice, toast } from '../../ui';
import type { SettingsChange } from './use-settings';

/**
 * Begins anew with what an earlier request asked. Its model and API come by themselves; what was said only
 * when somebody asks for it, as reading it is an entry of the audit log.
 */
export function ReplayNotice({
  requestId,
  onSettings,
  onReplay,
  onEnd,
}: {
  requestId: string;
  onSettings: (changes: SettingsChange) => void;
  onReplay: (replay: Replay) => void;
  onEnd: () => void;
}): ReactNode {
  const { can } = useSession();
  const path = { request_id: requestId };
  const { data: log, error } = useQuery({
    queryKey: ['log', requestId, undefined],
    queryFn: ({ signal }) =>
      api.GET('/v1/customer/logs/{request_id}', { params: { path }, signal }),
  });
  const applied = useRef('');
  useEffect(() => {
    // Once: what somebody changes then is theirs.
    if (!log || applied.current === log.request_id) return;
    applied.current = log.request_id;
    const surface = isSurface(log.endpoint) ? log.endpoint : 'chat';
    onSettings({ surface, models: log.model, stream: log.streamed ? '' : 'false' });
  }, [log, onSettings]);

  const load = async () => {
    try {
      const { prompt } = await api.GET('/v1/customer/logs/{request_id}/content', {
        params: { path },
      });
      const replay = replayOf(prompt);
      if (replay.missing.length > 0) {
        toast(`Files are not kept and left out: ${replay.missing.join(', ')}.`, 'warn');
      }
      onReplay(replay);
    } catch (reason) {
      if (!(reason instanceof ApiError) || reason.status !== 404) throw reason;
      const message = 'Nothing is kept of what was said in this request. Write it anew.';
      throw new Error(message, { cause: reason });
    }
  };
  if (error) {
    return (
      <Notice tone="bad">
        {error instanceof ApiError && error.status === 404
          ? `There is no request ${requestId} of this tenant.`
          : error.message}
        <Button onClick={onEnd}>Close</Button>
      </Notice>
    );
  }
  return (
    <Notice tone="info">
      <span>
        As in request <code>{requestId}</code>: its API and its model are chosen.{' '}
        {can('content')
          ? 'What was said in it may be kept; reading it is an entry of the audit log.'
          : 'What was said in it only an owner may read, so write it anew.'}
      </span>
      <span className="row">
        {can('content') && <ActionButton action={load}>Load what was said</ActionButton>}
        <Button onClick={onEnd}>Close</Button>
      </span>
    </Notice>
  );
}
