// Revisions, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
    ConfigureRevisionsOperation, EnforceRevisionsConfigurationOperation, GetAttachmentOperation, GetDatabaseRecordOperation, GetRevisionsBinEntryCommand, GetRevisionsOperation, GetStatisticsOperation, OperationCompletionAwaiter, RevisionsCollectionConfiguration, RevisionsConfiguration,
} from "ravendb";
import { Company, User, seed, url, withDatabase } from "./support.mjs";

async function configure(store, fields = {}) {
    const configuration = new RevisionsConfiguration();
    configuration.defaultConfig = Object.assign(new RevisionsCollectionConfiguration(), fields);
    return await store.maintenance.send(new ConfigureRevisionsOperation(configuration));
}

async function change(store, id, age) {
    const session = store.openSession();
    (await session.load(id, User)).age = age;
    await session.saveChanges();
}

test("a session reads the states of a document", () => withDatabase(async store => {
    assert.ok((await configure(store)).raftCommandIndex > 0);
    await seed(store, { "users/1": new User({ name: "Ada", age: 0 }) });
    for (let age = 1; age < 4; age++)
        await change(store, "users/1", age);
    const session = store.openSession();
    const all = await session.advanced.revisions.getFor("users/1", { documentType: User });
    assert.deepEqual(all.map(user => user.age), [3, 2, 1, 0]);
    const page = await session.advanced.revisions.getFor("users/1", { documentType: User, start: 1, pageSize: 2 });
    assert.deepEqual(page.map(user => user.age), [2, 1]);
    assert.equal(await session.advanced.revisions.getCountFor("users/1"), 4);
    const metadata = await session.advanced.revisions.getMetadataFor("users/1");
    assert.equal(metadata.length, 4);
    assert.equal(metadata[0]["@flags"], "HasRevisions, Revision");
    const vector = metadata[2]["@change-vector"];
    assert.equal((await store.openSession().advanced.revisions.get(vector, User)).age, 1);
    const several = await store.openSession().advanced.revisions.get([vector, metadata[0]["@change-vector"]], User);
    assert.deepEqual(Object.values(several).map(user => user.age).sort(), [1, 3]);
    const user = await session.load("users/1", User);
    assert.equal(session.advanced.getMetadataFor(user)["@flags"], "HasRevisions");
    const lazily = store.openSession().advanced.revisions.lazily.getFor("users/1", { documentType: User });
    assert.equal((await lazily.getValue()).length, 4);
    const found = await store.operations.send(new GetRevisionsOperation("users/1", { start: 0, pageSize: 10 }));
    assert.deepEqual([found.totalResults, found.results.length], [4, 4]);
    assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfRevisionDocuments, 4);
    assert.equal((await store.openSession().advanced.revisions.get("users/1", new Date(Date.now() + 60_000))).age, 3);
}));

test("a revision is forced, and one of before a change", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada", age: 1 }) });
    const session = store.openSession();
    session.advanced.revisions.forceRevisionCreationFor("users/1");
    await session.saveChanges();
    assert.equal(await session.advanced.revisions.getCountFor("users/1"), 1);
    const other = store.openSession();
    const user = await other.load("users/1", User);
    user.age = 2;
    await other.saveChanges();
    user.age = 3;
    other.advanced.revisions.forceRevisionCreationFor(user, "Before");
    await other.saveChanges();
    const ages = (await store.openSession().advanced.revisions.getFor("users/1", { documentType: User })).map(state => state.age);
    assert.deepEqual(ages, [2, 1]);
}));

test("deleted documents are in the bin, limits hold, and the record says so", () => withDatabase(async (store, name) => {
    await configure(store, { minimumRevisionsToKeep: 2 });
    await seed(store, { "users/1": new User({ age: 0 }), "users/2": new User({ age: 0 }) });
    for (let age = 1; age < 4; age++)
        await change(store, "users/1", age);
    assert.equal(await store.openSession().advanced.revisions.getCountFor("users/1"), 2);
    const session = store.openSession();
    await session.delete("users/2");
    await session.saveChanges();
    const metadata = await store.openSession().advanced.revisions.getMetadataFor("users/2");
    assert.equal(metadata[0]["@flags"], "HasRevisions, DeleteRevision");
    const record = await store.maintenance.server.send(new GetDatabaseRecordOperation(name));
    assert.equal(record.revisions.default.minimumRevisionsToKeep, 2);
    await configure(store, { minimumRevisionsToKeep: 1 });
    await store.maintenance.send(new EnforceRevisionsConfigurationOperation());
    while (await store.openSession().advanced.revisions.getCountFor("users/1") > 1)
        await new Promise(resolve => setTimeout(resolve, 20));
    assert.equal(await store.openSession().advanced.revisions.getCountFor("users/1"), 1);
    const response = await fetch(`${store.urls[0]}/databases/${name}/revisions/bin?start=0`);
    assert.deepEqual((await response.json()).Results.map(document => document["@metadata"]["@id"]), ["users/2"]);
}));

test("revisions come along with a load", () => withDatabase(async store => {
    await configure(store);
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession();
    await session.load("users/1", { includes: builder => builder.includeRevisions(new Date(Date.now() + 60_000)) });
    const requests = session.advanced.numberOfRequests;
    assert.ok(await session.advanced.revisions.get("users/1", new Date(Date.now() + 60_000)) !== undefined);
    assert.ok(session.advanced.numberOfRequests >= requests);
}));

test("what cannot be configured is refused", () => withDatabase(async store => {
    await assert.rejects(configure(store, { minimumRevisionsToKeep: -1 }), /configuration of revisions/);
}));

const textOf = async result => {
    const chunks = [];
    for await (const chunk of result.data)
        chunks.push(chunk);
    return Buffer.concat(chunks).toString();
};

async function attach(store, id, name, text) {
    const session = store.openSession();
    session.advanced.attachments.store(id, name, Buffer.from(text), "text/plain");
    await session.saveChanges();
}

test("attachments of revisions are listed and read, after they were replaced and deleted", () => withDatabase(async store => {
    await configure(store);
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    await attach(store, "users/1", "picture.png", "first");
    await attach(store, "users/1", "picture.png", "second");
    const session = store.openSession();
    session.advanced.attachments.delete("users/1", "picture.png");
    await session.saveChanges();
    const metadata = await store.openSession().advanced.revisions.getMetadataFor("users/1");
    assert.deepEqual(metadata.map(one => (one["@attachments"] ?? []).map(attachment => [attachment.Name ?? attachment.name, attachment.Size ?? attachment.size])),
        [[], [["picture.png", 6]], [["picture.png", 5]], []]);
    assert.match(metadata[1]["@flags"], /HasAttachments/);
    const reader = store.openSession();
    for (const [at, text] of [[1, "second"], [2, "first"]]) {
        const found = await reader.advanced.attachments.getRevision("users/1", "picture.png", metadata[at]["@change-vector"]);
        assert.deepEqual([found.details.contentType, found.details.size, found.details.name], ["text/plain", text.length, "picture.png"]);
        assert.equal(await textOf(found), text);
        const sent = await store.operations.send(new GetAttachmentOperation("users/1", "picture.png", "Revision", metadata[at]["@change-vector"]));
        assert.equal(await textOf(sent), text);
    }
    assert.equal(await reader.advanced.attachments.getRevision("users/1", "picture.png", metadata[0]["@change-vector"]), null);
    assert.equal(await reader.advanced.attachments.get("users/1", "picture.png"), null);
}));

/** What the package has no operation for, as the other clients send it. */
async function send(store, name, method, path, body) {
    const response = await fetch(`${store.urls[0]}/databases/${name}/${path}`, { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
    const text = await response.text();
    assert.ok(response.ok, `${response.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
}

async function complete(store, started) {
    const operation = new OperationCompletionAwaiter(store.getRequestExecutor(), store.conventions, started.OperationId);
    await operation.waitForCompletion();
}

async function contentOf(store, id, name) {
    const found = await store.openSession().advanced.attachments.get(id, name);
    return found === null ? null : await textOf(found);
}

test("documents are reverted by ids of revisions, with their attachments", () => withDatabase(async (store, name) => {
    await configure(store);
    await seed(store, { "users/1": new User({ name: "Ada", age: 1 }), "users/2": new User({ age: 1 }) });
    await attach(store, "users/1", "a.txt", "first");
    const then = (await store.openSession().advanced.revisions.getMetadataFor("users/1"))[0]["@change-vector"];
    await attach(store, "users/1", "a.txt", "second");
    await attach(store, "users/1", "b.txt", "other");
    await change(store, "users/1", 5);
    await send(store, name, "POST", "revisions/revert/docs", { IdToChangeVector: { "users/1": then } });
    const session = store.openSession();
    const user = await session.load("users/1", User);
    assert.equal(user.age, 1);
    assert.deepEqual(session.advanced.attachments.getNames(user).map(one => one.name), ["a.txt"]);
    assert.equal(await contentOf(store, "users/1", "a.txt"), "first");
    assert.equal(await contentOf(store, "users/1", "b.txt"), null);
    const before = await store.openSession().advanced.revisions.getCountFor("users/2");
    await assert.rejects(send(store, name, "POST", "revisions/revert/docs", { IdToChangeVector: { "users/2": then } }), /has no revision/);
    assert.equal(await store.openSession().advanced.revisions.getCountFor("users/2"), before);
}));

test("a database is reverted to a time, with attachments", () => withDatabase(async (store, name) => {
    await configure(store);
    await seed(store, { "users/1": new User({ age: 1 }), "users/2": new User({ age: 2 }) });
    await attach(store, "users/1", "a.txt", "first");
    await new Promise(resolve => setTimeout(resolve, 20));
    const time = new Date().toISOString();
    await new Promise(resolve => setTimeout(resolve, 20));
    await attach(store, "users/1", "a.txt", "second");
    await change(store, "users/2", 9);
    await seed(store, { "users/3": new User({ age: 3 }) });
    const session = store.openSession();
    await session.delete("users/2");
    await session.saveChanges();
    await complete(store, await send(store, name, "POST", "revisions/revert", { Time: time, WindowInSec: 86_400 }));
    const users = await store.openSession().load(["users/1", "users/2", "users/3"], User);
    assert.deepEqual(Object.values(users).map(user => user?.age ?? null), [1, 2, null]);
    assert.equal(await contentOf(store, "users/1", "a.txt"), "first");
}));

test("revisions are deleted by document and by change vector, and their attachments with them", () => withDatabase(async (store, name) => {
    await configure(store);
    await seed(store, { "users/1": new User({ age: 1 }), "users/2": new User({ age: 1 }) });
    await attach(store, "users/1", "a.txt", "first");
    await attach(store, "users/1", "a.txt", "second");
    assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfUniqueAttachments, 2);
    const metadata = await store.openSession().advanced.revisions.getMetadataFor("users/1");
    const vector = metadata.find(one => one["@attachments"]?.[0] && (one["@attachments"][0].Size ?? one["@attachments"][0].size) === 5)["@change-vector"];
    const one = await send(store, name, "DELETE", "admin/revisions", { DocumentIds: ["users/1"], RevisionsChangeVectors: [vector] });
    assert.equal(one.TotalDeletes, 1);
    assert.equal(await store.openSession().advanced.revisions.getCountFor("users/1"), metadata.length - 1);
    assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfUniqueAttachments, 1);
    assert.equal(await store.openSession().advanced.attachments.getRevision("users/1", "a.txt", vector), null);
    const past = { DocumentIds: ["users/1"], RevisionsChangeVectors: null, From: "2000-01-01T00:00:00.0000000Z", To: "2001-01-01T00:00:00.0000000Z" };
    assert.equal((await send(store, name, "DELETE", "admin/revisions", past)).TotalDeletes, 0);
    await assert.rejects(send(store, name, "DELETE", "admin/revisions", { ...past, To: "1999-01-01T00:00:00.0000000Z" }), /later than/);
    const newest = metadata[0]["@last-modified"];
    assert.equal((await send(store, name, "DELETE", "admin/revisions", { DocumentIds: ["users/1"], From: newest, To: newest })).TotalDeletes, 1);
    assert.equal(await store.openSession().advanced.revisions.getCountFor("users/1"), metadata.length - 2);
    const all = await send(store, name, "DELETE", "admin/revisions", { DocumentIds: ["users/1", "users/2"], RemoveForceCreatedRevisions: true });
    assert.equal(all.TotalDeletes, metadata.length - 2 + 1);
    assert.equal(await store.openSession().advanced.revisions.getCountFor("users/1"), 0);
    assert.equal(await contentOf(store, "users/1", "a.txt"), "second");
}));

test("a configuration is enforced for some collections alone", () => withDatabase(async store => {
    await configure(store);
    await seed(store, { "users/1": new User({ age: 1 }), "companies/1": new Company({ name: "a" }) });
    for (let age = 2; age < 5; age++)
        await change(store, "users/1", age);
    const session = store.openSession();
    (await session.load("companies/1", Company)).name = "b";
    await session.saveChanges();
    await configure(store, { minimumRevisionsToKeep: 1 });
    const counts = async () => [await store.openSession().advanced.revisions.getCountFor("users/1"), await store.openSession().advanced.revisions.getCountFor("companies/1")];
    assert.deepEqual(await counts(), [4, 2]);
    const enforce = async collections => {
        const command = new EnforceRevisionsConfigurationOperation({ collections, includeForceCreated: false }).getCommand(store, store.conventions);
        await store.getRequestExecutor().execute(command);
        await complete(store, { OperationId: command.result.operationId });
    };
    await enforce(["companies"]);
    assert.deepEqual(await counts(), [4, 1]);
    await enforce(null);
    assert.deepEqual(await counts(), [1, 1]);
}));

test("revisions that were asked for stay where nothing is configured", () => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ age: 1 }), "users/2": new User({ age: 1 }) });
    for (const id of ["users/1", "users/2"]) {
        const session = store.openSession();
        session.advanced.revisions.forceRevisionCreationFor(id);
        await session.saveChanges();
    }
    const count = id => store.openSession().advanced.revisions.getCountFor(id);
    const [metadata] = await store.openSession().advanced.revisions.getMetadataFor("users/1");
    assert.match(metadata["@flags"], /ForceCreated/);
    const enforce = async includeForceCreated => {
        const command = new EnforceRevisionsConfigurationOperation({ collections: null, includeForceCreated }).getCommand(store, store.conventions);
        await store.getRequestExecutor().execute(command);
        await complete(store, { OperationId: command.result.operationId });
    };
    await enforce(false);
    assert.equal(await count("users/1"), 1);
    assert.equal((await send(store, name, "DELETE", "admin/revisions", { DocumentIds: ["users/1"], RemoveForceCreatedRevisions: false })).TotalDeletes, 0);
    assert.equal((await send(store, name, "DELETE", "admin/revisions", { DocumentIds: ["users/1"], RemoveForceCreatedRevisions: true })).TotalDeletes, 1);
    await enforce(true);
    assert.equal(await count("users/2"), 0);
}));

test("the bin is read in pages, by numbers and by tokens", () => withDatabase(async (store, name) => {
    await configure(store);
    const ids = Array.from({ length: 7 }, (_, i) => `users/${i}`);
    await seed(store, Object.fromEntries(ids.map(id => [id, new User({ name: id })])));
    const session = store.openSession();
    for (const id of ids)
        await session.delete(id);
    await session.saveChanges();
    const page = async query => {
        const answer = await (await fetch(`${url}/databases/${name}/revisions/bin?${query}`)).json();
        return [answer.Results.map(one => one["@metadata"]["@id"]), answer.ContinuationToken];
    };
    assert.deepEqual((await page("start=5"))[0], ids.slice(5));
    assert.deepEqual((await page("start=2&pageSize=2"))[0], ids.slice(2, 4));
    let [found, token] = await page("start=0&pageSize=3"), pages = 1;
    while (token) {
        const [more, next] = await page(`start=0&pageSize=3&continuationToken=${token}`);
        found = [...found, ...more];
        token = next;
        pages++;
    }
    assert.deepEqual([found, pages], [ids, 3]);
    const [, first] = await page("start=0&pageSize=3");
    for (const [from, expected] of [[0, ids], [4, ids.slice(4)], [first, ids.slice(3)]]) {
        const command = new GetRevisionsBinEntryCommand(store.conventions, from);
        await store.getRequestExecutor().execute(command);
        assert.deepEqual(command.result.results.map(one => one["@metadata"]["@id"]), expected);
    }
    assert.equal((await fetch(`${url}/databases/${name}/revisions/bin?continuationToken=?`)).status, 400);
}));
