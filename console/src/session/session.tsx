import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { queryOptions, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { endConsoleKeys, forgetConsoleKeys } from './console-key';
import { api, ApiError, listenForSessionEnd, setRequestContext } from '../api/client';
import type { components } from '../api/schema';

export type Session = components['schemas']['Session'];
export type SessionTenant = Pick<Session['tenants'][number], 'id' | 'name'>;
/** What a person may do: a member's rights for the chosen tenant, and an operator's. */
export type Right =
  | Session['tenants'][number]['rights'][number]
  | Session['operator_rights'][number];

export interface SessionValue {
  session: Session;
  /** Whose pages are shown; undefined for an operator who has chosen none. */
  tenant: SessionTenant | undefined;
  /** Whether the person may do this, for the chosen tenant if it is a member's right. */
  can(right: Right): boolean;
  chooseTenant(tenant: SessionTenant): void;
  logOut(): Promise<void>;
}

const SessionContext = createContext<SessionValue | undefined>(undefined);
const SESSION_QUERY = ['session'];
/** What this tab has chosen survives a reload; another tab may show another tenant. */
const TENANT_KEY = 'gateway.tenant';
const PERSON_KEY = 'gateway.person';

/** Who is logged in: the session, null without one. */
const sessionQuery = queryOptions({
  queryKey: SESSION_QUERY,
  queryFn: async ({ signal }) => {
    // Asking for a session that can not be there would be an error in the browser's log.
    if (!(await mayHaveSession(signal))) return null;
    try {
      const session = await api.GET('/v1/auth/session', { signal });
      setRequestContext({ csrfToken: session.csrf_token });
      forgetOthers(session);
      return session;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  refetchOnWindowFocus: true,
});

/** Asks who is logged in before anything is drawn that has to know. */
export function preloadSession(client: QueryClient): void {
  void client.prefetchQuery(sessionQuery);
}

/** Who is logged in: the session, null without one, undefined until that is known. */
export function useLogin(): {
  session: Session | null | undefined;
  error: Error | null;
  retry: () => void;
} {
  const query = useQuery(sessionQuery);
  return { session: query.data, error: query.error, retry: () => void query.refetch() };
}

/** What the gateway has written into the page, good for once; without it, as in development, it is asked. */
let loadedWithCookie = document.querySelector<HTMLMetaElement>(
  'meta[name="has-session-cookie"]',
)?.content;

async function mayHaveSession(signal: AbortSignal): Promise<boolean> {
  const told = loadedWithCookie;
  loadedWithCookie = undefined;
  if (told === 'true' || told === 'false') return told === 'true';
  return (await api.GET('/v1/auth', { signal })).has_session_cookie;
}

/** Forgets what is known of the login, as after logging in. */
export function useForgetSession(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.resetQueries({ queryKey: SESSION_QUERY });
  };
}

/** Gives `useSession` to the pages of who is logged in. */
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
      // Nothing of the other tenant may be shown for a moment.
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_QUERY[0] });
    },
    async logOut() {
      await endConsoleKeys();
      await api.POST('/v1/auth/logout').catch((error: unknown) => {
        // It has ended by itself.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
      });
      sessionStorage.clear();
      onLogOut();
      // What is watched must stay, or nobody would hear of it.
      client.setQueryData(SESSION_QUERY, null);
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_QUERY[0] });
    },
  };
  return <SessionContext value={value}>{children}</SessionContext>;
}

/** Who is logged in, on pages that only those see who are. */
export function useSession(): SessionValue {
  const value = useContext(SessionContext);
  if (!value) throw new Error('useSession outside of SessionProvider');
  return value;
}

/** Tells people apart; a session is a new one after each login. */
export function personOf({ kind, email, name }: Session): string {
  return `${kind} ${email ?? name}`;
}

/** What somebody else typed in this tab before their session ended is not for whoever logs in next. */
function forgetOthers(session: Session): void {
  const person = personOf(session);
  const before = sessionStorage.getItem(PERSON_KEY);
  if (before === person) return;
  // Of a tab where nobody was logged in there is nothing to forget, and a tenant may be chosen already.
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
