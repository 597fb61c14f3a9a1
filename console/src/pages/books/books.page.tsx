import { useEffect, useRef, useState, type ReactNode } from 'react';
import { formatCount } from '../../format/credits';
import { Badge, Button, Card, Code, Duration, Notice, Page, Time, type Tone } from '../../ui';
import { watchBooks, type BookCheck, type BooksEvent } from './watch-books';

const TONE_OF_STATUS: Record<BookCheck['status'], Tone> = {
  sound: 'good',
  broken: 'bad',
  unchecked: 'warn',
};

interface Check {
  state: 'running' | 'done' | 'cancelled' | 'failed';
  at?: string;
  invariants: { id: string; invariant: string }[];
  found: BookCheck[];
  end?: { status: BookCheck['status']; duration_ms: number };
  error?: string;
}

const STARTED: Check = { state: 'running', invariants: [], found: [] };

function withEvent(check: Check, event: BooksEvent): Check {
  switch (event.object) {
    case 'books.begin':
      return { ...check, at: event.checked_at, invariants: event.invariants };
    case 'books.check':
      return { ...check, found: [...check.found, event] };
    case 'books.end':
      return { ...check, state: 'done', end: event };
  }
}

/** Verifies the ledger's invariants and shows each result as it arrives. */
export function BooksPage(): ReactNode {
  const [check, setCheck] = useState<Check>();
  const running = useRef<AbortController>(undefined);
  // Leaving the page cancels the check on the server, too.
  useEffect(() => () => running.current?.abort(), []);

  const start = async () => {
    running.current?.abort();
    const run = new AbortController();
    running.current = run;
    setCheck(STARTED);
    const update = (change: (before: Check) => Check) => {
      if (running.current === run) setCheck((before) => change(before ?? STARTED));
    };
    try {
      for await (const event of watchBooks(run.signal))
        update((before) => withEvent(before, event));
      update((before) =>
        before.state === 'running'
          ? { ...before, state: 'failed', error: 'The check was interrupted. Run it again.' }
          : before,
      );
    } catch (reason) {
      const isCancelled = run.signal.aborted;
      const error = reason instanceof Error ? reason.message : String(reason);
      update((before) =>
        isCancelled ? { ...before, state: 'cancelled' } : { ...before, state: 'failed', error },
      );
    }
  };

  const isRunning = check?.state === 'running';
  return (
    <Page
      title="Books"
      description="Verifies the ledger's invariants in one database snapshot. With millions of rows this takes a minute or two."
      actions={
        isRunning ? (
          <Button onClick={() => running.current?.abort()}>Cancel check</Button>
        ) : (
          <Button variant="primary" onClick={() => void start()}>
            {check ? 'Check again' : 'Check books'}
          </Button>
        )
      }
    >
      <Outcome check={check} />
      {check?.invariants.map((one) => (
        <Invariant
          key={one.id}
          invariant={one.invariant}
          found={check.found.find(({ id }) => id === one.id)}
          isNext={isRunning && check.invariants[check.found.length]?.id === one.id}
        />
      ))}
    </Page>
  );
}

function Outcome({ check }: { check: Check | undefined }): ReactNode {
  if (!check) {
    return (
      <Notice tone="info">
        Not checked yet. The check only reads and takes no locks, so requests are not affected.
      </Notice>
    );
  }
  const { state, end, at, found, invariants, error } = check;
  if (state === 'failed') return <Notice tone="bad">{error}</Notice>;
  if (state === 'cancelled') {
    return (
      <Notice tone="warn">
        Cancelled after {found.length} of {invariants.length} invariants
      </Notice>
    );
  }
  if (end) {
    return (
      <Notice tone={TONE_OF_STATUS[end.status]}>
        <strong>
          {end.status === 'sound'
            ? 'All invariants hold.'
            : end.status === 'broken'
              ? 'An invariant is violated.'
              : 'Some invariants were not checked.'}
        </strong>
        <span>
          As of <Time at={at} />, checked in <Duration ms={end.duration_ms} />
        </span>
      </Notice>
    );
  }
  return (
    <div role="status" className="stack">
      <span>
        {invariants.length === 0
          ? 'Starting…'
          : `Checked ${found.length} of ${invariants.length} invariants…`}
      </span>
      <progress
        className="progress"
        aria-label="Invariants checked"
        max={Math.max(1, invariants.length)}
        value={found.length}
      />
    </div>
  );
}

function Invariant({
  invariant,
  found,
  isNext,
}: {
  invariant: string;
  found: BookCheck | undefined;
  isNext: boolean;
}): ReactNode {
  return (
    <Card
      title={invariant}
      actions={
        found ? (
          <>
            <span className="muted">
              <Duration ms={found.duration_ms} />
            </span>
            <Badge tone={TONE_OF_STATUS[found.status]}>{found.status}</Badge>
          </>
        ) : (
          <Badge tone={isNext ? 'info' : 'neutral'}>{isNext ? 'checking' : 'pending'}</Badge>
        )
      }
    >
      {found ? (
        <Finding found={found} />
      ) : (
        <p className="muted">Results appear here during the check.</p>
      )}
    </Card>
  );
}

function Finding({ found }: { found: BookCheck }): ReactNode {
  return (
    <>
      {found.reason !== null && <Notice tone="warn">{found.reason}</Notice>}
      <dl className="figures">
        {Object.entries(found.figures).map(([name, value]) => (
          <div key={name} data-figure={name}>
            <dt>{name}</dt>
            <dd>{value === null ? 'not checked' : formatFigure(value)}</dd>
          </div>
        ))}
      </dl>
      {found.rows.length > 0 && (
        <>
          <p>
            {found.has_more_rows ? `First ${found.rows.length} violating rows` : 'Violating rows'}:
          </p>
          <Code
            label="Violating rows"
            text={found.rows.map((row) => JSON.stringify(row)).join('\n')}
          />
        </>
      )}
      <details>
        <summary>Query</summary>
        <Code label="Query" text={found.query} />
      </details>
    </>
  );
}

/** Formats an integer; digits beyond the safe range are shown unformatted. */
function formatFigure(digits: string): string {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? formatCount(value) : digits;
}
