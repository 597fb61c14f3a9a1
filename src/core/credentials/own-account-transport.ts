import { HttpTransport } from '../../vendors/transport/http-transport.js';

/** Calls addresses that follow from what tenants say: public ones only, on connections of their own. */
export class OwnAccountTransport extends HttpTransport {}
