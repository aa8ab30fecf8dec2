// The TypeScript SDK's client with a provider of its own: node sdk.mjs ENDPOINT [ADDRESS OF ITS DESCRIPTION]
// It says what it has come to, one word a line, and the address that a person is to open.
import http from 'node:http';
import readline from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';

const [endpoint, description] = process.argv.slice(2);
let answer;
const codes = new Promise((resolve) => { answer = resolve; });
const callback = http.createServer((request, response) => {
  const url = new URL(request.url, 'http://127.0.0.1');
  response.end('done');
  if (url.pathname === '/callback') answer(url.searchParams);
});
await new Promise((resolve) => callback.listen(0, '127.0.0.1', resolve));

class Provider {
  constructor() { this.asked = 0; this.clientMetadataUrl = description || undefined; }
  get redirectUrl() { return `http://127.0.0.1:${callback.address().port}/callback`; }
  get clientMetadata() {
    return {
      client_name: 'TypeScript SDK', redirect_uris: [this.redirectUrl], token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
    };
  }
  state() { return 'a state'; }
  clientInformation() { return this.client; }
  saveClientInformation(client) { this.client = client; }
  tokens() { return this.saved; }
  saveTokens(tokens) { this.saved = tokens; }
  codeVerifier() { return this.verifier; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  invalidateCredentials(what) { if (what === 'tokens' || what === 'all') this.saved = undefined; }
  redirectToAuthorization(url) {
    this.asked++;
    console.log(this.asked === 1 ? url.toString() : 'asks again');
  }
}

const provider = new Provider();
const connect = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(endpoint), { authProvider: provider });
  const client = new Client({ name: 'judge', version: '1' });
  await client.connect(transport);
  return { client, transport };
};

const first = new StreamableHTTPClientTransport(new URL(endpoint), { authProvider: provider });
try {
  await new Client({ name: 'judge', version: '1' }).connect(first);
  throw new Error('it was let in without a token');
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
const got = await codes;
if (got.get('state') !== 'a state' || !got.get('iss')) throw new Error(`came back with ${got}`);
await first.finishAuth(got.get('code'), got.get('iss'));
const { client } = await connect();
const { tools } = await client.listTools();
if (!tools.some((tool) => tool.name === 'list_calendars')) throw new Error('list_calendars is not there');
const told = await client.callTool({ name: 'list_calendars', arguments: {} });
if (told.isError) throw new Error(JSON.stringify(told));
console.log('connected');

// An access token that has ended is renewed with the next call.
const before = provider.saved;
provider.saved = { ...before, access_token: 'mcpa_ended' };
await client.listTools();
if (provider.saved.refresh_token === before.refresh_token || provider.saved.access_token === 'mcpa_ended') throw new Error('it was not renewed');
console.log('renewed');

for await (const line of readline.createInterface({ input: process.stdin })) if (line === 'revoked') break;
try {
  await client.callTool({ name: 'list_calendars', arguments: {} });
  throw new Error('it was let in after it was revoked');
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
process.exit(0);
