// Lists the tools and calls some of them with one client after the other, none of which needs a model:
//
//   node clients.mjs URL TOKEN
//
// Each makes an event of its own and reads it back. Those that can ask a person are asked before a calendar goes.
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMCPClient } from '@ai-sdk/mcp';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { MCPServerStreamableHttp } from '@openai/agents';

const [url, token] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const modules = path.join(import.meta.dirname, 'node_modules');
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'mcp-clients-'));
process.env.OPENAI_AGENTS_DISABLE_TRACING = '1';
const execute = promisify(execFile);

let passed = 0;
let failed = 0;
const must = (holds, what) => { if (!holds) throw new Error(what); };

// trial runs the check of one client, within a time.
async function trial(name, check) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('no end after 60 s')), 60_000); });
  try {
    const said = await Promise.race([check(name), late]);
    passed++;
    console.log(`ok    ${name}${said ? `  ${said}` : ''}`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}  ${String(error?.stack ?? error).slice(0, 600)}`);
  } finally {
    clearTimeout(timer);
  }
}

// event is what a client makes, and words are what the answers must have.
const event = (name) => ({ calendar_id: 'primary', title: `Met by ${name}`, start: '2027-03-01T09:00', timezone: 'Europe/Berlin' });
const told = (name, text) => must(text.includes(`Met by ${name}`) && /Monday|Mon /.test(text), `it was told ${text.slice(0, 300)}`);
const manyTools = (n) => must(n >= 30, `${n} tools`);
const textOf = (result) => result.content.map((block) => block.text ?? '').join('\n');

// both lists, makes and finds with a client of either SDK.
async function both(client, name) {
  const { tools } = await client.listTools();
  manyTools(tools.length);
  const made = await client.callTool({ name: 'create_event', arguments: event(name) });
  told(name, textOf(made));
  must(made.structuredContent?.start_weekday === 'Monday', 'the structure has no weekday');
  const found = await client.callTool({ name: 'list_events', arguments: { date_range: '2027-03-01' } });
  told(name, textOf(found));
  const wrong = await client.callTool({ name: 'list_events', arguments: { no_such_argument: 1 } });
  must(wrong.isError && textOf(wrong).includes('no_such_argument'), `a wrong argument: ${textOf(wrong)}`);
  return `${tools.length} tools`;
}

// asked has a calendar made and deleted, and answers what the person is asked: no, then yes.
async function asked(client, questions, name) {
  const made = await client.callTool({ name: 'create_calendar', arguments: { name: `Of ${name}` } });
  const id = made.structuredContent.id;
  questions.answer = 'decline';
  const kept = await client.callTool({ name: 'delete_calendar', arguments: { calendar_id: id } });
  must(kept.isError && textOf(kept).includes('declined'), `after a no: ${textOf(kept)}`);
  questions.answer = 'accept';
  const gone = await client.callTool({ name: 'delete_calendar', arguments: { calendar_id: id } });
  must(gone.structuredContent?.deleted === true, `after a yes: ${textOf(gone)}`);
  must(questions.length === 2 && questions.every((q) => q.includes(`Of ${name}`)), `asked ${JSON.stringify(questions)}`);
}

await trial('TypeScript SDK 1', async (name) => {
  const client = new OldClient({ name: 'compat', version: '1' }, { capabilities: { elicitation: {} } });
  const questions = [];
  client.setRequestHandler(ElicitRequestSchema, (request) => {
    questions.push(request.params.message);
    return { action: questions.answer, content: {} };
  });
  await client.connect(new OldTransport(new URL(url), { requestInit: { headers } }));
  const said = await both(client, name);
  await asked(client, questions, name);
  await client.close();
  return `${said}, asks`;
});

for (const [name, mode] of [['TypeScript SDK 2', 'auto'], ['TypeScript SDK 2 at 2026-07-28', { pin: '2026-07-28' }]]) {
  await trial(name, async () => {
    const client = new Client({ name: 'compat', version: '1' }, { capabilities: { elicitation: {} }, versionNegotiation: { mode } });
    const questions = [];
    client.setRequestHandler('elicitation/create', (request) => {
      questions.push(request.params.message);
      return { action: questions.answer, content: {} };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    const said = await both(client, name);
    await asked(client, questions, name);
    await client.close();
    return `${said}, asks`;
  });
}

// Proposals: the server offers their page to clients that can open pages. Whatever these answer, the proposal waits for
// its user. Each client suggests an event, and its person signs in on the page.

// tokenFor makes a token with these scopes for the same user, in the way of an administrator.
function tokenFor(scope) {
  const made = spawnSync(process.env.COMPAT_BINARY, ['create-token', '--user', process.env.COMPAT_USER, '--name', 'proposer', '--scope', scope, '--json'], { encoding: 'utf8' });
  must(made.status === 0, `create-token: ${made.stderr}`);
  return JSON.parse(made.stdout).token;
}

// signedIn returns a page's text, after a sign-in with the password in the form that the page shows first.
async function signedIn(page) {
  const form = await fetch(page);
  must((await form.text()).includes('name="password"'), 'the page does not ask for a sign-in');
  const answer = await fetch(new URL('/account/sign-in', page), {
    method: 'POST', redirect: 'manual', body: new URLSearchParams({ name: process.env.COMPAT_USER, password: process.env.COMPAT_PASSWORD }),
  });
  const cookie = answer.headers.getSetCookie().map((one) => one.split(';')[0]).join('; ');
  must(answer.status === 303 && cookie, `the sign-in: ${answer.status}`);
  return (await fetch(page, { headers: { Cookie: cookie } })).text();
}

// suggests has a client propose an event; the client was told in opened of each page that it was asked to open.
async function suggests(client, opened, name) {
  const pages = [];
  for (const answer of ['accept', 'decline']) {
    opened.answer = answer;
    const made = await client.callTool({ name: 'create_event', arguments: { ...event(name), title: `${name} may ${answer}` } });
    must(made.structuredContent?.proposed === true, `it was told ${textOf(made)}`);
    const asked = opened.at(-1);
    must(opened.length === pages.length + 1 && asked.mode === 'url', `asked ${JSON.stringify(opened)}`);
    must(asked.url.startsWith(process.env.COMPAT_CALDAV) && textOf(made).includes(asked.url), `the page is ${asked.url}, the answer ${textOf(made)}`);
    pages.push(asked.url);
    const shown = await signedIn(asked.url);
    must(shown.includes(`${name} may ${answer}`) && shown.includes('value="accept"'), `the page shows ${shown.slice(0, 2000)}`);
  }
  const { structuredContent: list } = await client.callTool({ name: 'list_proposals', arguments: {} });
  const open = list.proposals.filter((one) => one.state === 'open' && pages.some((page) => page.endsWith(`/${one.id}`)));
  must(open.length === 2, `after both answers: ${JSON.stringify(list)}`);
  const read = await client.callTool({ name: 'list_events', arguments: { date_range: '2027-03-01' } });
  must(!textOf(read).includes(`${name} may`), 'a proposal is listed as an event');
  return 'two pages opened';
}

const proposer = { headers: { Authorization: `Bearer ${tokenFor('read,propose')}` } };
const opens = { capabilities: { elicitation: { form: {}, url: {} } } };

await trial('TypeScript SDK 1 opens the page of a proposal', async (name) => {
  const client = new OldClient({ name: 'compat', version: '1' }, opens);
  const opened = [];
  client.setRequestHandler(ElicitRequestSchema, (request) => {
    opened.push(request.params);
    return { action: opened.answer };
  });
  const transport = new OldTransport(new URL(url), { requestInit: proposer });
  await client.connect(transport);
  must(transport.protocolVersion === '2025-11-25', `it speaks ${transport.protocolVersion}`);
  const said = await suggests(client, opened, name);
  await client.close();
  return said;
});

for (const [name, mode] of [['TypeScript SDK 2', 'auto'], ['TypeScript SDK 2 at 2026-07-28', { pin: '2026-07-28' }]]) {
  await trial(`${name} opens the page of a proposal`, async (title) => {
    const client = new Client({ name: 'compat', version: '1' }, { ...opens, versionNegotiation: { mode } });
    const opened = [];
    client.setRequestHandler('elicitation/create', (request) => {
      opened.push(request.params);
      return { action: opened.answer };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: proposer }));
    const said = await suggests(client, opened, title);
    await client.close();
    return said;
  });
}

// A booking page: the user's own assistant makes it, another server's assistant, without any token, holds a time, and the
// visitor confirms it by the link in the mail.

// mails are those that the server sent to the port where it expects its relay.
const mails = [];
const relay = net.createServer((socket) => {
  let heard = '';
  let body = null;
  socket.write('220 mx.example ESMTP\r\n');
  socket.on('error', () => {});
  socket.on('data', (data) => {
    heard += data;
    for (let end; (end = heard.indexOf('\r\n')) >= 0;) {
      const line = heard.slice(0, end);
      heard = heard.slice(end + 2);
      if (body !== null && line === '.') {
        mails.push(body.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))));
        body = null;
        socket.write('250 ok\r\n');
      } else if (body !== null) {
        body += `${line}\r\n`;
      } else if (/^DATA/i.test(line)) {
        body = '';
        socket.write('354 go on\r\n');
      } else {
        socket.write(/^QUIT/i.test(line) ? '221 bye\r\n' : '250 mx.example\r\n');
      }
    }
  });
});
await new Promise((resolve) => { relay.listen(Number(process.env.COMPAT_SMTP), '127.0.0.1', resolve); });

// linkTo waits for the mail with the link of a booking.
async function linkTo(address) {
  for (let tries = 0; tries < 100; tries++) {
    const mail = mails.find((one) => one.includes(`To: <${address}>`) || one.includes(`To: ${address}`));
    const link = mail?.match(/http:\/\/\S+\/book\/r\/[\w-]+/)?.[0];
    if (link) return link;
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  throw new Error(`no link for ${address} in ${mails.length} mails: ${mails.join('').slice(0, 1500)}`);
}

for (const [name, mode, code, old] of [
  ['TypeScript SDK 2', 'auto', false], ['TypeScript SDK 2 at 2026-07-28', { pin: '2026-07-28' }, true], ['TypeScript SDK 1', 'auto', true, true],
]) {
  await trial(`${name} books on a page of another server`, async () => {
    const own = new Client({ name: 'compat', version: '1' }, { capabilities: { elicitation: {} }, versionNegotiation: { mode } });
    own.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
    await own.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    const page = `talk-${code ? 'code' : 'link'}${old ? '-old' : ''}`;
    const made = await own.callTool({ name: 'create_booking_page', arguments: { calendar_id: 'primary', title: `Talk of ${page}`, name: page } });
    must(made.structuredContent?.address?.endsWith(`/book/${page}`), `made ${textOf(made)}`);

    const { page: card } = await (await fetch(`${made.structuredContent.address}/api/times`)).json();
    const visitor = old ? new OldClient({ name: 'elsewhere', version: '1' }) : new Client({ name: 'elsewhere', version: '1' }, { versionNegotiation: { mode } });
    const at = new URL(card.mcp ?? url);
    must(at.searchParams.get('book') === page, `the page's endpoint is ${at}`);
    await visitor.connect(new (old ? OldTransport : StreamableHTTPClientTransport)(new URL(`${new URL(url).origin}${at.pathname}${at.search}`)));
    const { tools } = await visitor.listTools();
    must(tools.map((one) => one.name).sort().join() === 'confirm,hold,list_times', `tools ${tools.map((one) => one.name)}`);
    const from = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const listed = await visitor.callTool({ name: 'list_times', arguments: { from, days: 14 } });
    const { start } = listed.structuredContent.times[0];
    must(textOf(listed).includes(start) && textOf(listed).includes('untrusted text'), textOf(listed));
    const address = `${page}@example.net`;
    const held = await visitor.callTool({ name: 'hold', arguments: { start, name: 'Eve', address } });
    must(held.structuredContent?.state === 'held', `held ${textOf(held)}`);
    const { hold } = held.structuredContent;
    const link = await linkTo(address);
    const state = async (args) => (await visitor.callTool({ name: 'confirm', arguments: args })).structuredContent?.state;
    const before = await fetch(link);
    must(before.status === 200 && await state({ hold }) === 'held', 'opening the link booked');
    if (code) {
      must(await state({ code: link.split('/').at(-1) }) === 'booked', 'the code does not confirm');
    } else {
      must((await fetch(link, { method: 'POST', body: new URLSearchParams({ do: 'confirm' }) })).ok, 'the link does not confirm');
    }
    must(await state({ hold }) === 'booked', 'it is not booked');
    const { structuredContent: coming } = await own.callTool({ name: 'list_bookings', arguments: {} });
    must(coming.bookings.some((one) => one.with.includes(address) && one.untrusted_text_by === address), `listed ${JSON.stringify(coming)}`);
    await visitor.close();
    await own.close();
    return code ? 'the person tells the code' : 'the person opens the link';
  });
}

await trial('mcp-remote', async (name) => {
  const client = new OldClient({ name: 'compat', version: '1' });
  await client.connect(new StdioClientTransport({
    command: process.execPath, args: [path.join(modules, 'mcp-remote/dist/proxy.js'), url, '--header', 'Authorization:${AUTH}', '--transport', 'http-only', '--allow-http'],
    env: { ...process.env, AUTH: headers.Authorization, HOME: home }, stderr: 'ignore',
  }));
  const said = await both(client, name);
  await client.close();
  return said;
});

await trial('AI SDK', async (name) => {
  const client = await createMCPClient({ transport: { type: 'http', url, headers } });
  const tools = await client.tools();
  manyTools(Object.keys(tools).length);
  const made = await tools.create_event.execute(event(name), { toolCallId: '1', messages: [] });
  told(name, textOf(made));
  const shown = await tools.create_event.toModelOutput?.({ output: made, toolCallId: '1', input: {} });
  if (shown) told(name, JSON.stringify(shown));
  await client.close();
  return `${Object.keys(tools).length} tools`;
});

await trial('LangChain', async (name) => {
  const client = new MultiServerMCPClient({ mcpServers: { calendars: { transport: 'http', url, headers } } });
  const tools = await client.getTools();
  manyTools(tools.length);
  const made = await tools.find((t) => t.name.endsWith('create_event')).invoke(event(name));
  told(name, typeof made === 'string' ? made : JSON.stringify(made));
  await client.close();
  return `${tools.length} tools`;
});

await trial('OpenAI Agents SDK', async (name) => {
  const server = new MCPServerStreamableHttp({ url, name: 'calendars', requestInit: { headers } });
  await server.connect();
  const tools = await server.listTools();
  manyTools(tools.length);
  const made = await server.callTool('create_event', event(name));
  told(name, JSON.stringify(made));
  await server.close();
  return `${tools.length} tools`;
});

// run runs a program of a package, and returns what it printed.
function run(script, args) {
  const done = spawnSync(process.execPath, [path.join(modules, script), ...args], { encoding: 'utf8', timeout: 50_000, env: { ...process.env, HOME: home, NO_COLOR: '1' } });
  must(done.status === 0, `exit ${done.status}: ${(done.stderr || done.stdout || '').slice(-400)}`);
  return done.stdout;
}

for (const era of ['legacy', 'modern']) {
  await trial(`Inspector, ${era}`, async (name) => {
    const args = ['--cli', url, '--transport', 'http', '--header', `Authorization: ${headers.Authorization}`, '--protocol-era', era, '--format', 'json'];
    const listed = JSON.parse(run('.bin/mcp-inspector', [...args, '--method', 'tools/list', '--strict']));
    const tools = listed.tools ?? listed.result?.tools;
    manyTools(tools.length);
    const given = Object.entries(event(name)).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
    told(name, run('.bin/mcp-inspector', [...args, '--method', 'tools/call', '--tool-name', 'create_event', ...given]));
    return `${tools.length} tools`;
  });
}

await trial('mcporter', async (name) => {
  const config = path.join(home, 'mcporter.json');
  fs.writeFileSync(config, JSON.stringify({ mcpServers: { calendars: { baseUrl: url, headers } } }));
  const listed = run('.bin/mcporter', ['--config', config, 'list', 'calendars', '--json']);
  must(listed.includes('create_event'), listed.slice(0, 300));
  told(name, run('.bin/mcporter', ['--config', config, 'call', 'calendars.create_event', '--args', JSON.stringify(event(name)), '--output', 'json']));
});

// Hosts of assistants call tools when a model wants to, and none is asked here. But they connect without one, and say so.
// What they ask of the server a door of ours beside it overhears.

// overhearing runs work with the address of a door that hands all on to the server, and returns the methods that were asked.
async function overhearing(work) {
  const heard = new Set();
  const door = http.createServer(async (asked, answer) => {
    const body = await text(asked);
    for (const [, method] of body.matchAll(/"method":"([^"]+)"/g)) heard.add(method);
    const { host, connection, 'content-length': length, ...sent } = asked.headers;
    const done = http.request(new URL(asked.url, url), { method: asked.method, headers: { ...sent, ...(body ? { 'content-length': Buffer.byteLength(body) } : {}) } }, (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
    });
    done.on('error', () => answer.destroy());
    answer.on('close', () => done.destroy());
    done.end(body);
  });
  await new Promise((resolve) => { door.listen(0, '127.0.0.1', resolve); });
  try {
    await work(new URL(new URL(url).pathname, `http://127.0.0.1:${door.address().port}`).href);
  } finally {
    door.closeAllConnections();
    door.close();
  }
  return heard;
}

// host runs a program with a home of its own, in that directory, and returns all that it printed.
async function host(name, program, args) {
  const own = path.join(home, name);
  fs.mkdirSync(own, { recursive: true });
  const { stdout, stderr } = await execute(program, args, { cwd: own, timeout: 50_000, env: { PATH: process.env.PATH, HOME: own, NO_COLOR: '1' } });
  return stdout + stderr;
}

const claude = fs.globSync(path.join(modules, '@anthropic-ai/claude-code-*/claude'))[0];
if (claude) {
  await trial('Claude Code', async () => {
    const heard = await overhearing(async (beside) => {
      await host('claude', claude, ['mcp', 'add', '--transport', 'http', '--scope', 'user', 'calendars', beside, '--header', `Authorization: ${headers.Authorization}`]);
      const listed = await host('claude', claude, ['mcp', 'list']);
      must(/calendars:.*✔ Connected/.test(listed), listed);
    });
    must(heard.has('initialize') && heard.has('tools/list'), `asked ${[...heard]}`);
    return 'connects and lists';
  });
}

const gemini = path.join(modules, '@google/gemini-cli/bundle/gemini.js');
if (fs.existsSync(gemini)) {
  await trial('Gemini CLI', async () => {
    const settings = path.join(home, 'gemini', '.gemini');
    fs.mkdirSync(settings, { recursive: true });
    fs.writeFileSync(path.join(settings, 'trustedFolders.json'), JSON.stringify({ [path.dirname(settings)]: 'TRUST_FOLDER' })); // elsewhere it connects to nothing
    const heard = await overhearing(async (beside) => {
      fs.writeFileSync(path.join(settings, 'settings.json'), JSON.stringify({ mcpServers: { calendars: { httpUrl: beside, headers } } }));
      const listed = await host('gemini', process.execPath, [gemini, 'mcp', 'list']);
      must(/✓ calendars:.*Connected/.test(listed), listed);
    });
    must(heard.has('initialize'), `asked ${[...heard]}`);
    return 'connects';
  });
}

relay.close();
fs.rmSync(home, { recursive: true, force: true });
console.log(`clients: ${passed} ${failed}`);
process.exit(0);
