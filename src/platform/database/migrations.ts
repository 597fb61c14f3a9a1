import { CreateFoundation1763700000000 } from '../../../migrations/1763700000000-create-foundation.js';
import { CreateStoredResponses1763800000000 } from '../../../migrations/1763800000000-create-stored-responses.js';
import { CreateGuardrails1763860000000 } from '../../../migrations/1763860000000-create-guardrails.js';
import { CreateRequestLogRollUps1764100000000 } from '../../../migrations/1764100000000-create-request-log-roll-ups.js';
import { CreateSpendLimits1764100100000 } from '../../../migrations/1764100100000-create-spend-limits.js';
import { CreateJobs1764200000000 } from '../../../migrations/1764200000000-create-jobs.js';
import { CreateWebhookDeliveries1764200100000 } from '../../../migrations/1764200100000-create-webhook-deliveries.js';
import { CreateProviderCredentials1764200200000 } from '../../../migrations/1764200200000-create-provider-credentials.js';
import { CreateBroadcast1764200300000 } from '../../../migrations/1764200300000-create-broadcast.js';
import { NameItemsOfStoredResponses1764250500000 } from '../../../migrations/1764250500000-name-items-of-stored-responses.js';
import { IndexRareLedgerEntries1764250600000 } from '../../../migrations/1764250600000-index-rare-ledger-entries.js';
import { ShareBodiesOfBroadcasts1764250700000 } from '../../../migrations/1764250700000-share-bodies-of-broadcasts.js';
import { TraceJobs1764260000000 } from '../../../migrations/1764260000000-trace-jobs.js';
import { MarkEndedTraces1764270100000 } from '../../../migrations/1764270100000-mark-ended-traces.js';
import { LogTimedOutAnswers1764300000000 } from '../../../migrations/1764300000000-log-timed-out-answers.js';
import { ShareWhatIsAvailable1764310000000 } from '../../../migrations/1764310000000-share-what-is-available.js';
import { IndexOpenJobs1764330000000 } from '../../../migrations/1764330000000-index-open-jobs.js';
import { ShareKeysLimits1764340000000 } from '../../../migrations/1764340000000-share-keys-limits.js';
import { CreateWebhookSecrets1764340100000 } from '../../../migrations/1764340100000-create-webhook-secrets.js';
import { DeleteVideos1764360000000 } from '../../../migrations/1764360000000-delete-videos.js';
import { CreateConversations1764370000000 } from '../../../migrations/1764370000000-create-conversations.js';
import { CreateBackgroundResponses1764370100000 } from '../../../migrations/1764370100000-create-background-responses.js';
import { DescribeInstances1764380000000 } from '../../../migrations/1764380000000-describe-instances.js';
import { PartitionByMonth1764383000000 } from '../../../migrations/1764383000000-partition-by-month.js';
import { ArchiveRequestLogs1764385000000 } from '../../../migrations/1764385000000-archive-request-logs.js';
import { CreateAdminKeys1764400000000 } from '../../../migrations/1764400000000-create-admin-keys.js';
import { CreateAuditLog1764400100000 } from '../../../migrations/1764400100000-create-audit-log.js';
import { OperateTenants1764410000000 } from '../../../migrations/1764410000000-operate-tenants.js';
import { RememberFirstNames1764410100000 } from '../../../migrations/1764410100000-remember-first-names.js';
import { ReportLiveInstances1764410200000 } from '../../../migrations/1764410200000-report-live-instances.js';
import { CreateLimits1764420000000 } from '../../../migrations/1764420000000-create-limits.js';
import { LogAttemptsAndTags1764430000000 } from '../../../migrations/1764430000000-log-attempts-and-tags.js';
import { SumRequestsBySeries1764430100000 } from '../../../migrations/1764430100000-sum-requests-by-series.js';
import { CreatePeople1764440000000 } from '../../../migrations/1764440000000-create-people.js';
import { CreateConfigVersions1764450000000 } from '../../../migrations/1764450000000-create-config-versions.js';
import { LogConfigVersion1764450100000 } from '../../../migrations/1764450100000-log-config-version.js';
import { CreateAlerts1764460000000 } from '../../../migrations/1764460000000-create-alerts.js';
import { CreateReceipts1764470000000 } from '../../../migrations/1764470000000-create-receipts.js';
import { CreateContentLog1764470100000 } from '../../../migrations/1764470100000-create-content-log.js';
import { CountGuardrailEvents1764483000000 } from '../../../migrations/1764483000000-count-guardrail-events.js';
import { IndexWebhooksByTenant1764485000000 } from '../../../migrations/1764485000000-index-webhooks-by-tenant.js';
import { CreateRouteHistory1764486000000 } from '../../../migrations/1764486000000-create-route-history.js';
import { SumRequestsByFacet1764487000000 } from '../../../migrations/1764487000000-sum-requests-by-facet.js';
import { IndexRareRequests1764488000000 } from '../../../migrations/1764488000000-index-rare-requests.js';
import { IndexAuditLogFilters1764489000000 } from '../../../migrations/1764489000000-index-audit-log-filters.js';
import { PoolProviderCredentials1764490000000 } from '../../../migrations/1764490000000-pool-provider-credentials.js';
import { CountRouteTokens1764492000000 } from '../../../migrations/1764492000000-count-route-tokens.js';
import { AddTenantRecovery1764495000000 } from '../../../migrations/1764495000000-add-tenant-recovery.js';
import { CreatePriceChecks1764510000000 } from '../../../migrations/1764510000000-create-price-checks.js';
import { DropAlertVendorReports1764520000000 } from '../../../migrations/1764520000000-drop-alert-vendor-reports.js';
import { ScopeWhatKeysStore1764530000000 } from '../../../migrations/1764530000000-scope-what-keys-store.js';
import { BindByokKeysToAddresses1764540000000 } from '../../../migrations/1764540000000-bind-byok-keys-to-addresses.js';

/** Every migration, oldest first. */
export const MIGRATIONS = [
  CreateFoundation1763700000000,
  CreateStoredResponses1763800000000,
  CreateGuardrails1763860000000,
  CreateRequestLogRollUps1764100000000,
  CreateSpendLimits1764100100000,
  CreateJobs1764200000000,
  CreateWebhookDeliveries1764200100000,
  CreateProviderCredentials1764200200000,
  CreateBroadcast1764200300000,
  NameItemsOfStoredResponses1764250500000,
  IndexRareLedgerEntries1764250600000,
  ShareBodiesOfBroadcasts1764250700000,
  TraceJobs1764260000000,
  MarkEndedTraces1764270100000,
  LogTimedOutAnswers1764300000000,
  ShareWhatIsAvailable1764310000000,
  IndexOpenJobs1764330000000,
  ShareKeysLimits1764340000000,
  CreateWebhookSecrets1764340100000,
  DeleteVideos1764360000000,
  CreateConversations1764370000000,
  CreateBackgroundResponses1764370100000,
  DescribeInstances1764380000000,
  PartitionByMonth1764383000000,
  ArchiveRequestLogs1764385000000,
  CreateAdminKeys1764400000000,
  CreateAuditLog1764400100000,
  OperateTenants1764410000000,
  RememberFirstNames1764410100000,
  ReportLiveInstances1764410200000,
  CreateLimits1764420000000,
  LogAttemptsAndTags1764430000000,
  SumRequestsBySeries1764430100000,
  CreatePeople1764440000000,
  CreateConfigVersions1764450000000,
  LogConfigVersion1764450100000,
  CreateAlerts1764460000000,
  CreateReceipts1764470000000,
  CreateContentLog1764470100000,
  CountGuardrailEvents1764483000000,
  IndexWebhooksByTenant1764485000000,
  CreateRouteHistory1764486000000,
  SumRequestsByFacet1764487000000,
  IndexRareRequests1764488000000,
  IndexAuditLogFilters1764489000000,
  PoolProviderCredentials1764490000000,
  CountRouteTokens1764492000000,
  AddTenantRecovery1764495000000,
  CreatePriceChecks1764510000000,
  DropAlertVendorReports1764520000000,
  ScopeWhatKeysStore1764530000000,
  BindByokKeysToAddresses1764540000000,
];
