import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, ApiError } from '../../api/client';
import { Dialog, Field, QueryState, TextArea } from '../../ui';
import { ConfigDialog } from './config-dialog';

const EMPTY = { models: [], providers: [], settings: {} };

/** Edits the whole configuration as a JSON document. */
export function ApplyDialog({
  latest,
  onClose,
}: {
  latest: number | null;
  onClose: () => void;
}): ReactNode {
  const version = useQuery({
    queryKey: ['admin', 'config', 'versions', latest],
    queryFn: ({ signal }) =>
      api.GET('/v1/admin/config/versions/{number}', {
        params: { path: { number: latest ?? 0 } },
        signal,
      }),
    enabled: latest !== null,
  });
  if (latest !== null && !version.data) {
    return (
      <Dialog title="Edit configuration as JSON" onClose={onClose}>
        <QueryState query={version}>{() => null}</QueryState>
      </Dialog>
    );
  }
  return <Editor latest={latest} document={version.data?.document ?? EMPTY} onClose={onClose} />;
}

function Editor({
  latest,
  document,
  onClose,
}: {
  latest: number | null;
  document: object;
  onClose: () => void;
}): ReactNode {
  const [text, setText] = useState(() => JSON.stringify(document, null, 2));
  return (
    <ConfigDialog
      title="Edit configuration as JSON"
      action="Apply"
      latest={latest}
      onClose={onClose}
      send={async (options) =>
        api.POST('/v1/admin/config/versions', {
          body: { document: readDocument(text), ...options },
        })
      }
    >
      <Field
        label="Document"
        hint="The complete configuration: models, providers and settings. Anything you remove is deleted. Stored keys are kept for providers whose base URL is unchanged."
      >
        <TextArea
          className="input mono"
          rows={18}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
    </ConfigDialog>
  );
}

/** @throws ApiError if the text is not a JSON object */
function readDocument(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiError(0, `The document must be valid JSON: ${reason}`, 'document', null, null);
  }
  throw new ApiError(0, 'The document must be a JSON object.', 'document', null, null);
}
