interface Recent {
  seconds: number;
  requests: number;
  errors: number;
}

interface Living {
  recent: Recent | null;
  requests_in_flight: number | null;
  pending_settlements: number | null;
}

/** `12.4 /s`, or by the minute where there are few. */
export function rateOf({ requests, seconds }: Pick<Recent, 'requests' | 'seconds'>): string {
  const perSecond = seconds > 0 ? requests / seconds : 0;
  if (perSecond >= 1 || perSecond === 0) {
    return `${perSecond.toLocaleString('en-US', { maximumFractionDigits: 1 })} /s`;
  }
  return `${(perSecond * 60).toLocaleString('en-US', { maximumFractionDigits: 1 })} /min`;
}

/** Over all processes; each tells of about the same time. */
export function sumOf(instances: readonly Living[]) {
  const sum = { seconds: 0, requests: 0, errors: 0, inFlight: 0, pending: 0 };
  for (const { recent, requests_in_flight: inFlight, pending_settlements: pending } of instances) {
    sum.seconds = Math.max(sum.seconds, recent?.seconds ?? 0);
    sum.requests += recent?.requests ?? 0;
    sum.errors += recent?.errors ?? 0;
    sum.inFlight += inFlight ?? 0;
    sum.pending += pending ?? 0;
  }
  return sum;
}
