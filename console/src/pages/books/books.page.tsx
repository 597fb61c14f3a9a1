import { useEffect, useRef, useState, type ReactNode } from 'react';
import { formatCount } from '../../format/credits';
import { Badge, Button, Card, Code, Duration, Notice, Page, Time, type Tone } from '../../ui';
import { watchBooks, type BookCheck, type BooksNews } from './watch-books';

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

const BEGIN: Check = { state: 'running', invariants: [], found: [] };

function withNews(check: Check, news: BooksNews): Check {
  switch (news.object) {
    case 'books.begin':
      return { ...check, at: news.checked_at, invariants: news.invariants };
    case 'books.check':
      return { ...check, found: [...check.found, news] };
    case 'books.end':
      return { ...check, state: 'done', end: news };
  }
}

/** Whether the ledger is sound, invariant by invariant, as each is checked. */
export function BooksPage(): ReactNode {
  const [check, setCheck] = useState<Check>();
  const running = useRef<AbortController>(undefined);
  // No check outlives its page: who leaves cancels it on the server, too.
  useEffect(() => () => running.current?.abort(), []);

  const start = async () => {
    running.current?.abort();
    const run = new AbortController();
    running.current = run;
    setCheck(BEGIN);
    const update = (change: (before: Check) => Check) => {
      if (running.current === run) setCheck((before) => change(before ?? BEGIN));
    };
    try {
      for await (const news of watchBooks(run.signal)) update((before) => withNews(before, news));
      update((before) =>
        before.state === 'running'
          ? { ...before, state: 'failed', error: 'The check broke off before its end.' }
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
      description="Whether the ledger is sound: each invariant, asked of the whole database in one snapshot. With millions of rows it takes a minute or two."
      actions={
        isRunning ? (
          <Button onClick={() => running.current?.abort()}>Cancel</Button>
        ) : (
          <Button variant="primary" onClick={() => void start()}>
            {check ? 'Check again' : 'Check the books'}
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
        Nothing was checked yet. The check reads only, and locks nothing: the service goes on.
      </Notice>
    );
  }
  const { state, end, at, found, invariants, error } = check;
  if (state === 'failed') return <Notice tone="bad">{error}</Notice>;
  if (state === 'cancelled') {
    return (
      <Notice tone="warn">
        Cancelled after {found.length} of {invariants.length}.
      </Notice>
    );
  }
  if (end) {
    return (
      <Notice tone={TONE_OF_STATUS[end.status]}>
        <strong>
          {end.status === 'sound'
            ? 'The books are sound.'
            : end.status === 'broken'
              ? 'The books are broken.'
              : 'Some was not checked.'}
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
          ? 'Beginning…'
          : `Checked ${found.length} of ${invariants.length}…`}
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
          <Badge tone={isNext ? 'info' : 'neutral'}>{isNext ? 'being checked' : 'not yet'}</Badge>
        )
      }
    >
      {found ? (
        <Finding found={found} />
      ) : (
        <p className="muted">Its figures come with the check.</p>
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
            <dd>{value === null ? 'not looked at' : formatFigure(value)}</dd>
          </div>
        ))}
      </dl>
      {found.rows.length > 0 && (
        <>
          <p>
            {found.has_more_rows ? `The first ${found.rows.length} rows` : 'The rows'} at fault:
          </p>
          <Code
            label="Rows at fault"
            text={found.rows.map((row) => JSON.stringify(row)).join('\n')}
          />
        </>
      )}
      <details>
        <summary>The query</summary>
        <Code label="The query" text={found.query} />
      </details>
    </>
  );
}

/** Sums may be beyond what a number holds exactly. */
function formatFigure(digits: string): string {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? formatCount(value) : digits;
}
