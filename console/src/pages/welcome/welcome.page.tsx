import { useEffect, useState, type ReactNode } from 'react';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import { Badge, Button, ButtonLink, Card, Notice, Page } from '../../ui';
import { ArrivalStep } from './arrival-step';
import { CodeStep } from './code-step';
import { KeyStep } from './key-step';
import { doneSteps, STEPS, type Step } from './steps';
import { TryStep } from './try-step';
import { useKnown } from './use-known';
import { VendorStep } from './vendor-step';
import './welcome.css';

const TITLES: Record<Step, string> = {
  try: 'Try the sandbox',
  vendor: 'Connect a vendor',
  key: 'Make a key',
  code: 'Paste three lines into your code',
  arrival: 'See your request arrive',
};

/** From an empty gateway to the first request of one's own. What is done the API says, so nothing is lost. */
export function WelcomePage(): ReactNode {
  const { tenant } = useSession();
  const [{ step: chosen }, setFilters] = useFilters(['step']);
  const known = useKnown();
  const done = doneSteps(known);
  const isKnown =
    known.logs !== undefined && known.keys !== undefined && known.models !== undefined;
  // Where somebody was found stays open once it is done: what it shows is still being read.
  const [first, setFirst] = useState<Step | 'none'>();
  const undone = STEPS.find((step) => !done.has(step)) ?? 'none';
  useEffect(() => {
    if (isKnown) setFirst((before) => before ?? undone);
  }, [isKnown, undone]);
  const open = chosen ?? first;
  const next = (step: Step) => setFilters({ step: STEPS[STEPS.indexOf(step) + 1] ?? '' });
  const isAllDone = isKnown && done.size === STEPS.length;
  const content: Record<Step, () => ReactNode> = {
    try: () => <TryStep />,
    vendor: () => <VendorStep isDone={done.has('vendor')} />,
    key: () => <KeyStep known={known} />,
    code: () => <CodeStep known={known} />,
    arrival: () => <ArrivalStep known={known} />,
  };
  return (
    <Page
      title="First steps"
      description={`From here to the first request of your own code, for the tenant ${tenant?.name ?? ''}. Each step can be skipped.`}
      actions={<ButtonLink to="/">{isAllDone ? 'To the overview' : 'Skip all'}</ButtonLink>}
    >
      {known.error && <Notice tone="bad">{known.error.message}</Notice>}
      {isAllDone && <Notice tone="good">All done. Your requests are in the overview.</Notice>}
      <ol className="steps">
        {STEPS.map((step, index) => {
          const isOpen = step === open;
          const isDone = done.has(step);
          return (
            <li key={step}>
              <Card
                title={`${index + 1}. ${TITLES[step]}`}
                actions={
                  <>
                    {isDone && <Badge tone="good">done</Badge>}
                    {isOpen && index + 1 < STEPS.length && (
                      <Button onClick={() => next(step)}>{isDone ? 'Next' : 'Skip'}</Button>
                    )}
                    {!isOpen && (
                      <Button
                        variant="quiet"
                        aria-label={`Open step ${index + 1}`}
                        onClick={() => setFilters({ step })}
                      >
                        Open
                      </Button>
                    )}
                  </>
                }
              >
                {isOpen && content[step]()}
              </Card>
            </li>
          );
        })}
      </ol>
    </Page>
  );
}
