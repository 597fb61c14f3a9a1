import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode } from 'react';
import { api, ApiError } from '../../api/client';
import { isSurface } from '../../calls/conversation';
import { replayOf, type Replay } from '../../calls/replay';
import { useSession } from '../../session/session';
import { ActionButton, Button, Notice, toast } from '../../ui';
import type { SettingsChange } from './use-settings';

/**
 * Starts from an earlier request. Model and API are applied at once; the content only on demand, since
 * reading it is recorded in the audit log.
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
    // Applies once, so that later edits are kept.
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
        toast(`Files are not stored and were left out: ${replay.missing.join(', ')}.`, 'warn');
      }
      onReplay(replay);
    } catch (reason) {
      if (!(reason instanceof ApiError) || reason.status !== 404) throw reason;
      const message = 'No content is stored for this request. Enter the message yourself.';
      throw new Error(message, { cause: reason });
    }
  };
  if (error) {
    return (
      <Notice tone="bad">
        {error instanceof ApiError && error.status === 404
          ? `Request ${requestId} does not exist in this tenant.`
          : error.message}
        <Button onClick={onEnd}>Close</Button>
      </Notice>
    );
  }
  return (
    <Notice tone="info">
      <span>
        Model and API of request <code>{requestId}</code> are selected.{' '}
        {can('content')
          ? 'You can load its content if it was stored; reading it is recorded in the audit log.'
          : 'Only owners can read its content, so enter the message yourself.'}
      </span>
      <span className="row">
        {can('content') && <ActionButton action={load}>Load content</ActionButton>}
        <Button onClick={onEnd}>Close</Button>
      </span>
    </Notice>
  );
}
