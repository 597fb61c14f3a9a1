import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useChange } from '../../api/changes';
import { formatCount, formatShare } from '../../format/credits';
import { ScopeLabel } from '../../parts/scope-label';
import { useSession } from '../../session/session';
import {
  ActionButton,
  Badge,
  Button,
  Card,
  ConfirmDialog,
  EmptyState,
  Facts,
  Notice,
  QueryState,
  Time,
  toast,
} from '../../ui';
import { DestinationForm, type Destination } from './destination-form';

/** The trace destinations with their delivery state. */
export function Destinations(): ReactNode {
  const { can } = useSession();
  const [edited, setEdited] = useState<Destination | 'new'>();
  const [removed, setRemoved] = useState<Destination>();
  const destinations = useQuery({
    queryKey: ['destinations'],
    queryFn: ({ signal }) => api.GET('/v1/customer/broadcast/destinations', { signal }),
    refetchInterval: 15_000,
  });
  const remove = useChange(
    ({ id }: Destination) =>
      api.DELETE('/v1/customer/broadcast/destinations/{id}', { params: { path: { id } } }),
    ['destinations'],
    () => toast('Destination deleted.'),
  );
  return (
    <>
      <div className="row row-apart">
        <p className="muted">
          Requests with the header <code>X-Gateway-Broadcast: true</code> are exported as
          OpenTelemetry traces.
        </p>
        {can('develop') && (
          <Button variant="primary" onClick={() => setEdited('new')}>
            Add destination
          </Button>
        )}
      </div>
      <QueryState
        query={destinations}
        isEmpty={({ data }) => data.length === 0}
        empty={
          <Card>
            <EmptyState title="No destinations yet">
              Export traces of your requests to any collector that accepts OTLP over HTTP.
            </EmptyState>
          </Card>
        }
      >
        {({ data }) =>
          data.map((destination) => (
            <Card
              key={destination.id}
              title={destination.url}
              actions={
                can('develop') && (
                  <>
                    <TestButton {...destination} />
                    <Button
                      aria-label={`Edit ${destination.url}`}
                      onClick={() => setEdited(destination)}
                    >
                      Edit
                    </Button>
                    <Button
                      variant="danger"
                      aria-label={`Delete ${destination.url}`}
                      onClick={() => setRemoved(destination)}
                    >
                      Delete
                    </Button>
                  </>
                )
              }
            >
              <DeliveryState destination={destination} />
            </Card>
          ))
        }
      </QueryState>
      {edited && (
        <DestinationForm
          destination={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {removed && (
        <ConfirmDialog
          title={`Delete ${removed.url}?`}
          text="Traces that have not been delivered are dropped."
          action="Delete destination"
          danger
          onClose={() => setRemoved(undefined)}
          onConfirm={() => remove.mutateAsync(removed)}
        />
      )}
    </>
  );
}

/** Sends a sample trace and shows the result. */
function TestButton({ id, url }: Destination): ReactNode {
  const params = { path: { id } };
  return (
    <ActionButton
      aria-label={`Send a test to ${url}`}
      action={async () => {
        const { delivered, status, error, duration_ms } = await api.POST(
          '/v1/customer/broadcast/destinations/{id}/test',
          { params },
        );
        if (delivered) toast(`Delivered in ${duration_ms} ms (HTTP ${status}).`);
        else toast(`Delivery failed: ${error ?? `HTTP ${status}`}`, 'bad');
      }}
    >
      Test
    </ActionButton>
  );
}

function DeliveryState({ destination }: { destination: Destination }): ReactNode {
  const { enabled, last_error, last_error_at, last_success_at } = destination;
  const isFailing =
    last_error_at !== null && (last_success_at === null || last_error_at > last_success_at);
  return (
    <>
      <div className="row">
        {enabled ? (
          <Badge tone={isFailing ? 'bad' : 'good'}>{isFailing ? 'failing' : 'enabled'}</Badge>
        ) : (
          <Badge tone="neutral">disabled</Badge>
        )}
        {destination.include_content && <Badge tone="warn">includes content</Badge>}
      </div>
      <Facts
        facts={[
          ['Scope', <ScopeLabel key="scope" scope={destination.scope} />],
          ['Delivered', `${formatCount(destination.delivered_count)} traces`],
          ['Dropped', `${formatCount(destination.dropped_count)} traces`],
          ['Pending', `${formatCount(destination.pending_count)} traces`],
          ['Sampling rate', formatShare(destination.sampling_rate)],
          ['Headers', Object.keys(destination.headers).join(', ') || 'none'],
          ['Last delivery', <Time key="sent" at={last_success_at} none="never" />],
          ['Last error', <Time key="error" at={last_error_at} none="never" />],
        ]}
      />
      {last_error !== null && <Notice tone={isFailing ? 'bad' : 'neutral'}>{last_error}</Notice>}
    </>
  );
}
