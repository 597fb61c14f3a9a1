import { useRef, useState, type ReactNode } from 'react';
import type { SentFile } from '../../calls/conversation';
import { Button, Card, Field, Notice, TextArea } from '../../ui';
import { ACCEPTED, MAX_FILES_BYTES, readFiles } from './files';
import { FileList } from './turn-view';

/** Where somebody writes to all models at once. Files can be dropped on it. */
export function Composer({
  draft,
  files,
  hindrance,
  isRunning,
  onDraft,
  onFiles,
  onSend,
  onQuote,
  onStop,
}: {
  draft: string;
  files: readonly SentFile[];
  /** Why nothing can be sent now; undefined: it can. */
  hindrance: string | undefined;
  isRunning: boolean;
  onDraft: (text: string) => void;
  onFiles: (files: readonly SentFile[]) => void;
  onSend: () => void;
  onQuote: () => void;
  onStop: () => void;
}): ReactNode {
  const [faults, setFaults] = useState<readonly string[]>([]);
  const [isOver, setIsOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const add = async (picked: readonly File[]) => {
    const read = await readFiles(picked, files);
    setFaults(read.faults);
    onFiles([...files, ...read.files]);
  };
  const canSend =
    hindrance === undefined && !isRunning && (draft.trim() !== '' || files.length > 0);
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
          label="Your message"
          hint={`Ctrl+Enter sends it. Pictures, PDF, text, WAV and MP3 can be dropped here, ${MAX_FILES_BYTES / 1e6} MB together.`}
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
              aria-label={`Leave ${files[index]?.name} out`}
              onClick={() => onFiles(files.filter((_, at) => at !== index))}
            >
              ✕
            </Button>
          )}
        />
        {faults.map((fault) => (
          <Notice key={fault} tone="bad">
            {fault}
          </Notice>
        ))}
        {hindrance !== undefined && <Notice tone="info">{hindrance}</Notice>}
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
                What would it cost
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
