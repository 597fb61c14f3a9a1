import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { queryOptions, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { endConsoleKeys, forgetConsoleKeys } from './console-key';
import { api, ApiError, listenForSessionEnd, setRequestContext } from '../api/client';
import type { components } from '../api/schema';

export type Session = components['schemas']['Session'];
export type SessionTenant = Pick<Session['tenants'][number], 'id' | 'name'>;
/** A member's right for the selected tenant, or an operator's right. */
export type Right =
  | Session['tenants'][number]['rights'][number]
  | Session['operator_rights'][number];

export interface SessionValue {
  session: Session;
  /** The tenant whose pages are shown; undefined for an operator who has not selected one. */
  tenant: SessionTenant | undefined;
  /** Returns whether the person has a right, for the selected tenant if it is a member's right. */
  can(right: Right): boolean;
  chooseTenant(tenant: SessionTenant): void;
  logOut(): Promise<void>;
}

const SessionContext = createContext<SessionValue | undefined>(undefined);
const SESSION_QUERY = ['session'];
/** Per tab: the selection survives a reload, and other tabs may show other tenants. */
const TENANT_KEY = 'gateway.tenant';
const PERSON_KEY = 'gateway.person';

/** The current session, or null without one. */
const sessionQuery = queryOptions({
  queryKey: SESSION_QUERY,
  queryFn: async ({ signal }) => {
    // Requesting a session that cannot exist would log an error in the browser.
    if (!(await mayHaveSession(signal))) return null;
    try {
      const session = await api.GET('/v1/auth/session', { signal });
      setRequestContext({ csrfToken: session.csrf_token });
      forgetPreviousPerson(session);
      return session;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  refetchOnWindowFocus: true,
});

/** Starts loading the session before the first render. */
export function preloadSession(client: QueryClient): void {
  void client.prefetchQuery(sessionQuery);
}

/** Returns the session: null without one, undefined while loading. */
export function useLogin(): {
  session: Session | null | undefined;
  error: Error | null;
  retry: () => void;
} {
  const query = useQuery(sessionQuery);
  return { session: query.data, error: query.error, retry: () => void query.refetch() };
}

/** Written into the page by the gateway and valid once; the development server lacks it, so the API is asked. */
let loadedWithCookie = document.querySelector<HTMLMetaElement>(
  'meta[name="has-session-cookie"]',
)?.content;

async function mayHaveSession(signal: AbortSignal): Promise<boolean> {
  const flag = loadedWithCookie;
  loadedWithCookie = undefined;
  if (flag === 'true' || flag === 'false') return flag === 'true';
  return (await api.GET('/v1/auth', { signal })).has_session_cookie;
}

/** Returns a function that drops the cached session, as after a login. */
export function useForgetSession(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.resetQueries({ queryKey: SESSION_QUERY });
  };
}

/** Provides `useSession` to the pages after login. */
export function SessionProvider({
  session,
  onLogOut,
  children,
}: {
  session: Session;
  onLogOut: () => void;
  children: ReactNode;
}): ReactNode {
  const client = useQueryClient();
  const [chosen, setChosen] = useState(readChosenTenant);
  const isOperator = session.operator_role !== null;
  const known = session.tenants.find(({ id }) => id === chosen?.id);
  const tenant = known ?? (isOperator && chosen ? chosen : session.tenants[0]);
  const rights = useMemo(() => rightsOf(session, tenant), [session, tenant]);
  setRequestContext({ tenantId: tenant?.id ?? '' });

  useEffect(() => {
    listenForSessionEnd(() => client.setQueryData(SESSION_QUERY, null));
    return () => listenForSessionEnd(() => {});
  }, [client]);

  const value: SessionValue = {
    session,
    tenant,
    can: (right) => rights.has(right),
    chooseTenant(next) {
      sessionStorage.setItem(TENANT_KEY, JSON.stringify(next));
      setRequestContext({ tenantId: next.id });
      setChosen(next);
      // Never shows data of the previous tenant.
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_QUERY[0] });
    },
    async logOut() {
      await endConsoleKeys();
      await api.POST('/v1/auth/logout').catch((error: unknown) => {
        // 401: the session had already ended.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
      });
      sessionStorage.clear();
      onLogOut();
      // Removing the observed session query would leave its observers without the update.
      client.setQueryData(SESSION_QUERY, null);
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_QUERY[0] });
    },
  };
  return <SessionContext value={value}>{children}</SessionContext>;
}

/** Returns the session on pages that require a login. */
export function useSession(): SessionValue {
  const value = useContext(SessionContext);
  if (!value) throw new Error('useSession outside of SessionProvider');
  return value;
}

/** Identifies a person across sessions. */
export function personOf({ kind, email, name }: Session): string {
  return `${kind} ${email ?? name}`;
}

/** Clears what another person left in this tab. */
function forgetPreviousPerson(session: Session): void {
  const person = personOf(session);
  const before = sessionStorage.getItem(PERSON_KEY);
  if (before === person) return;
  // Without a previous person there is nothing to clear, and a tenant may already be selected.
  if (before !== null) sessionStorage.clear();
  sessionStorage.setItem(PERSON_KEY, person);
  forgetConsoleKeys();
}

function rightsOf(session: Session, tenant: SessionTenant | undefined): Set<Right> {
  const member = session.tenants.find(({ id }) => id === tenant?.id);
  const there = member?.rights ?? (tenant ? session.operator_tenant_rights : []);
  return new Set<Right>([...there, ...session.operator_rights]);
}

function readChosenTenant(): SessionTenant | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(TENANT_KEY) ?? 'null');
    if (typeof stored !== 'object' || stored === null) return undefined;
    const { id, name } = stored as Record<string, unknown>;
    return typeof id === 'string' && typeof name === 'string' ? { id, name } : undefined;
  } catch {
    return undefined;
  }
}
