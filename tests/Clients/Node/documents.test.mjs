import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { DeleteDocumentCommand, GetConflictsCommand, GetDocumentsCommand, PutDocumentCommand } from "ravendb";
import { Company, seed, User, withDatabase } from "./support.mjs";

test("what was stored is loaded, with its id, metadata and type", () => withDatabase(async store => {
    const born = new Date("1815-12-10T00:00:00Z");
    await seed(store, { "users/1": new User({ name: "Ada Lovelace", age: 36, tags: ["a", "ü", "日本", "😀"], born, nested: { deep: [1.5, null, true] } }) });

    const session = store.openSession();
    const user = await session.load("users/1", User);
    assert.ok(user instanceof User);
    assert.equal(user.name, "Ada Lovelace");
    assert.deepEqual(user.tags, ["a", "ü", "日本", "😀"]);
    assert.deepEqual(user.nested, { deep: [1.5, null, true] });
    assert.equal(user.born.getTime(), born.getTime());
    assert.equal(session.advanced.getDocumentId(user), "users/1");

    const metadata = session.advanced.getMetadataFor(user);
    assert.equal(metadata["@collection"], "Users");
    assert.equal(metadata["@id"], "users/1");
    assert.ok(session.advanced.getChangeVectorFor(user));
    assert.ok(Math.abs(session.advanced.getLastModifiedFor(user) - Date.now()) < 60_000);
}));

test("a change is saved, an unchanged document is not sent again", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession();
    const user = await session.load("users/1", User);
    user.name = "Augusta";
    await session.saveChanges();
    const changeVector = session.advanced.getChangeVectorFor(user);
    await session.saveChanges();
    assert.equal(session.advanced.getChangeVectorFor(user), changeVector);
    assert.equal((await store.openSession().load("users/1", User)).name, "Augusta");
}));

test("documents that are missing load as null, alone and among others", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }) });
    const session = store.openSession();
    assert.equal(await session.load("users/9", User), null);
    const several = await session.load(["users/1", "users/8", "users/2"], User);
    assert.equal(several["users/1"].name, "Ada");
    assert.equal(several["users/2"].name, "Bob");
    assert.equal(several["users/8"], null);
}));

test("ids are compared without case", () => withDatabase(async store => {
    await seed(store, { "Users/Ada": new User({ name: "Ada" }) });
    assert.equal((await store.openSession().load("users/ADA", User)).name, "Ada");
}));

test("ids too many for a URL are loaded by POST", () => withDatabase(async store => {
    const users = {};
    for (let i = 0; i < 300; i++)
        users[`users/with-a-long-name-${i}`] = new User({ name: `User ${i}` });
    await seed(store, users);
    const loaded = await store.openSession().load(Object.keys(users), User);
    assert.equal(Object.keys(loaded).length, 300);
    for (const [id, user] of Object.entries(users))
        assert.equal(loaded[id].name, user.name);
}));

test("deletion by entity and by id, also of what is not there", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }), "users/3": new User({ name: "Cy" }) });
    const session = store.openSession();
    await session.delete(await session.load("users/1", User));
    await session.delete("users/2");
    await session.delete("users/9");
    await session.saveChanges();
    const left = await store.openSession().load(["users/1", "users/2", "users/3"], User);
    assert.deepEqual(Object.values(left).filter(user => user).map(user => user.name), ["Cy"]);
}));

test("includes bring other documents along, and no second request goes out", () => withDatabase(async store => {
    await seed(store, {
        "companies/1": new Company({ name: "Treepie" }),
        "companies/2": new Company({ name: "Magpie" }),
        "users/1": new User({ name: "Ada", company: "companies/1", past: [{ at: "companies/2" }] }),
    });
    const session = store.openSession();
    const user = await session.include("company").include("past[].at").load("users/1", User);
    const before = session.advanced.numberOfRequests;
    assert.equal((await session.load(user.company, Company)).name, "Treepie");
    assert.equal((await session.load(user.past[0].at, Company)).name, "Magpie");
    assert.equal(session.advanced.numberOfRequests, before);
}));

test("loadStartingWith pages through a prefix, in id order, with matches and exclude", () => withDatabase(async store => {
    const users = {};
    for (let i = 0; i < 25; i++)
        users[`users/${String(i).padStart(2, "0")}`] = new User({ name: `User ${i}` });
    users["usersX/1"] = new User({ name: "not below users/" });
    await seed(store, users);

    const names = async options => (await store.openSession().advanced.loadStartingWith("users/", { documentType: User, ...options })).map(user => user.name);
    assert.equal((await names({ pageSize: 100 })).length, 25);
    assert.deepEqual(await names({ start: 10, pageSize: 3 }), ["User 10", "User 11", "User 12"]);
    assert.deepEqual(await names({ start: 24, pageSize: 10 }), ["User 24"]);
    assert.deepEqual(await names({ start: 25, pageSize: 10 }), []);
    assert.deepEqual(await names({ matches: "0?", pageSize: 100 }), Array.from({ length: 10 }, (_, i) => `User ${i}`));
    assert.deepEqual(await names({ matches: "1*", exclude: "*5", pageSize: 4 }), ["User 10", "User 11", "User 12", "User 13"]);
    assert.deepEqual(await names({ startAfter: "users/22", pageSize: 100 }), ["User 23", "User 24"]);
}));

test("without ids the newest documents come first", () => withDatabase(async store => {
    for (let i = 1; i <= 5; i++)
        await seed(store, { [`users/${i}`]: new User({ name: `User ${i}` }) });
    const command = new GetDocumentsCommand({ start: 1, pageSize: 3, conventions: store.conventions });
    await store.getRequestExecutor().execute(command);
    assert.deepEqual(command.result.results.map(document => document.name), ["User 4", "User 3", "User 2"]);
}));

test("metadata only leaves the fields out", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const command = new GetDocumentsCommand({ id: "users/1", metadataOnly: true, conventions: store.conventions });
    await store.getRequestExecutor().execute(command);
    const [document] = command.result.results;
    assert.deepEqual(Object.keys(document), ["@metadata"]);
    assert.equal(document["@metadata"]["@id"], "users/1");
}));

test("two sessions that change the same document: the second is refused, and keeps nothing of its batch", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const first = store.openSession();
    const second = store.openSession();
    first.advanced.useOptimisticConcurrency = true;
    second.advanced.useOptimisticConcurrency = true;
    (await first.load("users/1", User)).name = "first";
    (await second.load("users/1", User)).name = "second";
    await second.store(new User({ name: "along with it" }), "users/2");
    await first.saveChanges();
    await assert.rejects(second.saveChanges(), error => error.name === "ConcurrencyException" && error.message.includes("users/1"));
    const after = await store.openSession().load(["users/1", "users/2"], User);
    assert.equal(after["users/1"].name, "first");
    assert.equal(after["users/2"], null);
}));

test("an empty change vector means: must not exist", () => withDatabase(async store => {
    const session = store.openSession();
    await session.store(new User({ name: "Ada" }), "users/1", { changeVector: "" });
    await session.saveChanges();
    const again = store.openSession();
    await again.store(new User({ name: "Bob" }), "users/1", { changeVector: "" });
    await assert.rejects(again.saveChanges(), { name: "ConcurrencyException" });
}));

test("a deletion with an old change vector is refused", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession();
    const changeVector = session.advanced.getChangeVectorFor(await session.load("users/1", User));
    await seed(store, { "users/1": new User({ name: "Augusta" }) });
    await assert.rejects(
        store.getRequestExecutor().execute(new DeleteDocumentCommand("users/1", changeVector)), { name: "ConcurrencyException" });
    assert.equal((await store.openSession().load("users/1", User)).name, "Augusta");
}));

test("put and delete as commands", () => withDatabase(async store => {
    const executor = store.getRequestExecutor();
    const put = new PutDocumentCommand("users/1", null, { name: "Ada", "@metadata": { "@collection": "Users" } });
    await executor.execute(put);
    assert.equal(put.result.id, "users/1");

    assert.equal(await store.openSession().advanced.exists("users/1"), true);

    await executor.execute(new DeleteDocumentCommand("users/1", put.result.changeVector));
    assert.equal(await store.openSession().advanced.exists("users/1"), false);
}));

test("exists, refresh and conditional load", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession();
    assert.equal(await session.advanced.exists("users/1"), true);
    const user = await session.load("users/1", User);
    await seed(store, { "users/1": new User({ name: "Augusta" }) });
    await session.advanced.refresh(user);
    assert.equal(user.name, "Augusta");

    const changeVector = session.advanced.getChangeVectorFor(user);
    const same = await store.openSession().advanced.conditionalLoad("users/1", changeVector, User);
    assert.equal(same.entity, null);
    await seed(store, { "users/1": new User({ name: "Ada King" }) });
    const changed = await store.openSession().advanced.conditionalLoad("users/1", changeVector, User);
    assert.equal(changed.entity.name, "Ada King");
}));

test("an id that ends in a slash gets its number from the server, one that ends in a pipe the next identity", () => withDatabase(async store => {
    const session = store.openSession();
    const byServer = new User({ name: "by the server" });
    const first = new User({ name: "first" });
    const second = new User({ name: "second" });
    await session.store(byServer, "users/");
    await session.store(first, "people|");
    await session.saveChanges();
    await session.store(second, "people|");
    await session.saveChanges();
    assert.match(session.advanced.getDocumentId(byServer), /^users\/.+/);
    assert.equal(session.advanced.getDocumentId(first), "people/1");
    assert.equal(session.advanced.getDocumentId(second), "people/2");
}));

test("metadata of one's own is kept", () => withDatabase(async store => {
    const session = store.openSession();
    const user = new User({ name: "Ada" });
    await session.store(user, "users/1");
    session.advanced.getMetadataFor(user)["source"] = "a letter";
    await session.saveChanges();
    const other = store.openSession();
    assert.equal(other.advanced.getMetadataFor(await other.load("users/1", User))["source"], "a letter");
}));

test("documents are written into a stream as they come", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }) });
    const text = async fill => {
        const stream = new PassThrough();
        const chunks = [];
        stream.on("data", chunk => chunks.push(chunk));
        await fill(stream);
        return JSON.parse(Buffer.concat(chunks).toString());
    };
    const session = store.openSession();
    const byId = await text(stream => session.advanced.loadIntoStream(["users/1"], stream));
    assert.equal(byId.results[0].name, "Ada");
    const byPrefix = await text(stream => session.advanced.loadStartingWithIntoStream("users/", stream));
    assert.deepEqual(byPrefix.results.map(user => user.name), ["Ada", "Bob"]);
}));

test("a session's changes are saved after the indexes have seen them, if asked", () => withDatabase(async store => {
    await store.openSession().query({ collection: "Users" }).whereEquals("name", "nobody").all();
    const session = store.openSession();
    session.advanced.waitForIndexesAfterSaveChanges({ timeout: 30_000, throwOnTimeout: true });
    await session.store(new User({ name: "Ada" }), "users/1");
    await session.saveChanges();
    const [user] = await store.openSession().query({ collection: "Users" }).whereEquals("name", "Ada").all();
    assert.equal(user.name, "Ada");
}));

test("one node has no conflicts, and says so", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const command = new GetConflictsCommand("users/1", store.conventions);
    await store.getRequestExecutor().execute(command);
    assert.deepEqual([command.result.id, command.result.results], ["users/1", []]);
}));
