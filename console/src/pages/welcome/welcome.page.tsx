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
  key: 'Create an API key',
  code: 'Run the code',
  arrival: 'See your request arrive',
};

/** The steps from an empty gateway to the first request. Progress comes from the API, so it survives reloads. */
export function WelcomePage(): ReactNode {
  const { tenant } = useSession();
  const [{ step: chosen }, setFilters] = useFilters(['step']);
  const known = useKnown();
  const done = doneSteps(known);
  const isKnown =
    known.logs !== undefined && known.keys !== undefined && known.models !== undefined;
  // Keeps the initially open step open once it is done, since its result is still being read.
  const [first, setFirst] = useState<Step | 'none'>();
  const nextStep = STEPS.find((step) => !done.has(step)) ?? 'none';
  useEffect(() => {
    if (isKnown) setFirst((before) => before ?? nextStep);
  }, [isKnown, nextStep]);
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
      title="Getting started"
      description={`Send the first request of tenant ${tenant?.name ?? ''}. You can skip any step.`}
      actions={<ButtonLink to="/">{isAllDone ? 'Open overview' : 'Skip all'}</ButtonLink>}
    >
      {known.error && <Notice tone="bad">{known.error.message}</Notice>}
      {isAllDone && <Notice tone="good">All steps are done. The overview shows your usage.</Notice>}
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
