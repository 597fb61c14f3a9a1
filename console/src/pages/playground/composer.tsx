import { useRef, useState, type ReactNode } from 'react';
import type { SentFile } from '../../calls/conversation';
import { Button, Card, Field, Notice, TextArea } from '../../ui';
import { ACCEPTED, MAX_FILES_BYTES, readFiles } from './files';
import { FileList } from './turn-view';

/** The message input for all models, with attachments by drag and drop, paste or file picker. */
export function Composer({
  draft,
  files,
  blockedReason,
  isRunning,
  onDraft,
  onFiles,
  onSend,
  onQuote,
  onStop,
}: {
  draft: string;
  files: readonly SentFile[];
  /** Why sending is disabled; undefined if it is not. */
  blockedReason: string | undefined;
  isRunning: boolean;
  onDraft: (text: string) => void;
  onFiles: (files: readonly SentFile[]) => void;
  onSend: () => void;
  onQuote: () => void;
  onStop: () => void;
}): ReactNode {
  const [errors, setErrors] = useState<readonly string[]>([]);
  const [isOver, setIsOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const add = async (picked: readonly File[]) => {
    const read = await readFiles(picked, files);
    setErrors(read.errors);
    onFiles([...files, ...read.files]);
  };
  const canSend =
    blockedReason === undefined && !isRunning && (draft.trim() !== '' || files.length > 0);
  return (
    <Card>
      <form
        className="form play-composer"
        data-over={isOver || undefined}
        onSubmit={(event) => {
          event.preventDefault();
          if (canSend) onSend();
        }}
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setIsOver(false);
          void add([...event.dataTransfer.files]);
        }}
      >
        <Field
          label="Message"
          hint={`Ctrl+Enter sends. Drop images, PDF, text, WAV or MP3 files here, up to ${MAX_FILES_BYTES / 1e6} MB in total.`}
        >
          <TextArea
            value={draft}
            onChange={({ target }) => onDraft(target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                if (canSend) onSend();
              }
            }}
            onPaste={({ clipboardData }) => {
              if (clipboardData.files.length > 0) void add([...clipboardData.files]);
            }}
          />
        </Field>
        <FileList
          files={files}
          onRemove={(index) => (
            <Button
              variant="quiet"
              aria-label={`Remove ${files[index]?.name}`}
              onClick={() => onFiles(files.filter((_, at) => at !== index))}
            >
              ✕
            </Button>
          )}
        />
        {errors.map((error) => (
          <Notice key={error} tone="bad">
            {error}
          </Notice>
        ))}
        {blockedReason !== undefined && <Notice tone="info">{blockedReason}</Notice>}
        <div className="row row-apart">
          <Button onClick={() => picker.current?.click()}>Attach files</Button>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            accept={ACCEPTED}
            aria-label="Files"
            onChange={({ target }) => {
              void add([...(target.files ?? [])]);
              target.value = '';
            }}
          />
          {isRunning ? (
            <Button onClick={onStop}>Stop</Button>
          ) : (
            <div className="row">
              <Button disabled={!canSend} onClick={onQuote}>
                Estimate cost
              </Button>
              <Button type="submit" variant="primary" disabled={!canSend}>
                Send
              </Button>
            </div>
          )}
        </div>
      </form>
    </Card>
  );
}
