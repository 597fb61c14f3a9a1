import { UpstreamError } from '../upstream-error.js';
import { objectOf } from '../dialects/answer-json.js';
import { codeOf } from '../../platform/errors/thrown.js';

/** What a call to Google is authenticated with. */
export interface GoogleAccess {
  token: string;
  /** The project that a user's own credentials are billed to. */
  quotaProject?: string;
}

/** An access that ends. */
export interface GrantedAccess extends GoogleAccess {
  /** Unix milliseconds; undefined where the issuer does not say. */
  expiresAtMs?: number;
}

/** Fetches a new access. */
export type AccessSource = () => Promise<GrantedAccess>;

/** A token this close to its end is exchanged while it still serves. */
const REFRESH_AHEAD_MS = 5 * 60_000;

/** … and this close it does not serve any more: it could end on the way. */
const EXPIRED_AHEAD_MS = 30_000;

/** How long a token of unknown end is used. */
const DEFAULT_LIFE_MS = 10 * 60_000;

/**
 * Keeps one access token for all calls. It is fetched on the first call, and again in the background
 * before it ends, so that calls wait for one only when there is none at all, and then all for the same.
 */
export class GoogleAccessTokens {
  private granted: { access: GoogleAccess; expiresAtMs: number } | undefined;
  private pending: Promise<GoogleAccess> | undefined;

  constructor(
    private readonly source: AccessSource,
    private readonly now: () => number = Date.now,
    private readonly origin = 'the application default credentials',
  ) {}

  /** @throws UpstreamError `operator` when the credentials are missing or refused */
  async get(): Promise<GoogleAccess> {
    const leftMs = this.granted ? this.granted.expiresAtMs - this.now() : 0;
    if (!this.granted || leftMs <= EXPIRED_AHEAD_MS) return this.refresh();
    if (leftMs <= REFRESH_AHEAD_MS) {
      // The old one still serves; whoever needs the new one will hear of a failure.
      this.refresh().catch(() => undefined);
    }
    return this.granted.access;
  }

  /** Google refused this token: the next call fetches another. */
  forget(token: string): void {
    if (this.granted?.access.token === token) this.granted = undefined;
  }

  private refresh(): Promise<GoogleAccess> {
    this.pending ??= this.fetch().finally(() => {
      this.pending = undefined;
    });
    return this.pending;
  }

  private async fetch(): Promise<GoogleAccess> {
    try {
      const { expiresAtMs = this.now() + DEFAULT_LIFE_MS, ...access } = await this.source();
      this.granted = { access, expiresAtMs };
      return access;
    } catch (error) {
      // What the library says may hold parts of a credential, so only the kind of error is told.
      const kind = codeOf(error) ?? (error instanceof Error ? error.name : typeof error);
      throw new UpstreamError(
        {
          failure: 'operator',
          message: `no access token from ${this.origin}: ${kind}`,
        },
        { cause: error },
      );
    }
  }
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * Access by the application default credentials, wherever the environment keeps them. They are looked
 * up anew each time, so that exchanged ones are found.
 *
 * @param project saves the library its own search for one, which may start programs and call others
 */
export async function fetchDefaultAccess(project: string): Promise<GrantedAccess> {
  // The library is large and only needed where no token is configured.
  const { GoogleAuth } = await import('google-auth-library');
  const client = await new GoogleAuth({ scopes: [SCOPE], projectId: project }).getClient();
  const { token } = await client.getAccessToken();
  if (token == null || token === '') throw new Error('an empty token');
  const { expiry_date: expiresAtMs } = client.credentials;
  return {
    token,
    ...(client.quotaProjectId !== undefined && { quotaProject: client.quotaProjectId }),
    ...(expiresAtMs != null && { expiresAtMs }),
  };
}

/**
 * Access by the key of a service account. Only its name and its private key count; the vendor's own
 * address is asked, whatever else the key says.
 *
 * @param key JSON with `client_email` and `private_key`
 */
export async function fetchServiceAccountAccess(key: string): Promise<GrantedAccess> {
  const { JWT } = await import('google-auth-library');
  const { client_email: email, private_key: privateKey } = objectOf(JSON.parse(key));
  if (typeof email !== 'string' || typeof privateKey !== 'string') {
    throw new Error('a key without its account');
  }
  const client = new JWT({ email, key: privateKey, scopes: [SCOPE] });
  const { token } = await client.getAccessToken();
  if (token == null || token === '') throw new Error('an empty token');
  const { expiry_date: expiresAtMs } = client.credentials;
  return { token, ...(expiresAtMs != null && { expiresAtMs }) };
}
