// Patches and deletions by query as operations: ended in the middle, held back, watched, detailed, and refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { DeleteByQueryOperation, IndexDefinition, PatchByQueryOperation, PutIndexesOperation, StartIndexingOperation, StopIndexingOperation } from "ravendb";
import { seed, url, User, withDatabase } from "./support.mjs";

const id = i => `users/${String(i).padStart(4, "0")}`;
const users = count => Object.fromEntries(Array.from({ length: count }, (_, i) => [id(i), new User({ name: `u${i}`, age: i })]));
const patch = (store, query, options) => store.operations.send(new PatchByQueryOperation(query, options));
const state = async (name, operation) => await (await fetch(`${url}/databases/${name}/operations/state?id=${operation.id}`)).json();
const ages = async store => (await store.openSession().query({ collection: "Users", documentType: User }).waitForNonStaleResults().all()).map(user => user.age);

async function until(what, get, isSo) {
    for (let i = 0; i < 600; i++) {
        const value = await get();
        if (isSo(value))
            return value;
        await delay(50);
    }
    assert.fail(`not in 30 seconds: ${what}`);
}

// Small numbers take no memory, which is limited too.
const slow = "const end = Date.now() + 300; while (Date.now() < end) for (let i = 0; i < 500; i++) { }";

test("a patch that is killed in a script stops there, and what it patched stays", () => withDatabase(async (store, name) => {
    await seed(store, users(100));
    const operation = await patch(store, `from Users update { ${slow} this.age = -1; }`, { ignoreMaxStepsForScript: true });
    await until("two documents are patched", () => state(name, operation), state => state.Progress.Processed >= 2);
    const killed = Date.now();
    await operation.kill();
    const ended = await until("the operation has ended", () => state(name, operation), state => state.Status !== "InProgress");
    assert.ok(Date.now() - killed < 10_000);
    assert.equal(ended.Status, "Canceled");
    assert.ok(ended.Progress.Processed < 50, `${ended.Progress.Processed}`);
    await assert.rejects(operation.waitForCompletion(), { name: "OperationCanceledException" });
    const after = await ages(store);
    assert.equal(after.length, 100);
    assert.equal(after.filter(age => age === -1).length, ended.Progress.Processed);
}));

test("a deletion that is killed leaves the rest", () => withDatabase(async (store, name) => {
    await seed(store, users(200));
    const operation = await store.operations.send(new DeleteByQueryOperation("from Users", { maxOpsPerSecond: 20 }));
    await until("some are deleted", () => state(name, operation), state => state.Progress.Processed > 0);
    await operation.kill();
    const { Status, Progress } = await until("it has ended", () => state(name, operation), state => state.Status !== "InProgress");
    assert.equal(Status, "Canceled");
    assert.ok(Progress.Processed > 0 && Progress.Processed < 200);
    assert.equal((await ages(store)).length, 200 - Progress.Processed);
}));

test("so many documents a second are the most, and progress tells of them", () => withDatabase(async (store, name) => {
    await seed(store, users(60));
    const began = Date.now();
    const operation = await patch(store, "from Users update { this.age = -1; }", { maxOpsPerSecond: 30 });
    const seen = [];
    await until("the operation has ended", () => state(name, operation), state => {
        seen.push(state.Progress);
        return state.Status !== "InProgress";
    });
    const tookMs = Date.now() - began;
    assert.ok(tookMs >= 1_800 && tookMs < 20_000, `${tookMs} ms`);
    assert.ok(seen.every(progress => progress.Total === 60));
    assert.ok(seen.filter(progress => progress.Processed > 0 && progress.Processed < 60).length > 1, JSON.stringify(seen));
    assert.ok(seen.every((progress, i) => i === 0 || progress.Processed >= seen[i - 1].Processed));
}));

test("no documents a second are refused", () => withDatabase(async store => {
    await seed(store, users(1));
    for (const maxOpsPerSecond of [0, -5]) {
        await assert.rejects(patch(store, "from Users update { this.age = -1; }", { maxOpsPerSecond }), /from 1 on/);
        await assert.rejects(store.operations.send(new DeleteByQueryOperation("from Users", { maxOpsPerSecond })), /from 1 on/);
    }
    assert.deepEqual(await ages(store), [0]);
}));

test("details say what was done to each document", () => withDatabase(async (store, name) => {
    await seed(store, users(10));
    const patched = await patch(store, "from Users update { if (this.age > 4) this.age = -1; }", { retrieveDetails: true });
    await patched.waitForCompletion();
    const { Result } = await state(name, patched);
    assert.equal(Result.Total, 10);
    assert.match(Result.Query, /^from Users update/);
    assert.deepEqual(new Set(Result.Details.map(one => one.Id)), new Set(Object.keys(users(10))));
    assert.deepEqual(Result.Details.filter(one => one.Status === "Patched").map(one => one.Id).sort(), [5, 6, 7, 8, 9].map(id));
    assert.deepEqual(Result.Details.filter(one => one.Status === "NotModified").map(one => one.Id).sort(), [0, 1, 2, 3, 4].map(id));
    const session = store.openSession();
    const changeVector = session.advanced.getChangeVectorFor(await session.load(id(9), User));
    assert.equal(Result.Details.find(one => one.Id === id(9)).ChangeVector, changeVector);

    const deleted = await store.operations.send(new DeleteByQueryOperation("from Users where age = -1", { retrieveDetails: true }));
    await deleted.waitForCompletion();
    const { Details } = (await state(name, deleted)).Result;
    assert.deepEqual(Details.map(one => one.Id).sort(), [5, 6, 7, 8, 9].map(id));
    assert.ok(Details.every(one => one.Etag > 0));

    const plain = await patch(store, "from Users update { this.age = 7; }");
    await plain.waitForCompletion();
    assert.equal((await state(name, plain)).Result.Details, undefined);
}));

test("an index that has not seen every document is waited for, refused, or taken as it is", () => withDatabase(async store => {
    await seed(store, users(3));
    const index = Object.assign(new IndexDefinition(), { name: "ByAge", maps: new Set(["map('Users', u => ({ age: u.age }))"]) });
    await store.maintenance.send(new PutIndexesOperation(index));
    await store.openSession().query({ indexName: "ByAge" }).waitForNonStaleResults().all();
    await store.maintenance.send(new StopIndexingOperation());
    await seed(store, { "users/late": new User({ name: "late", age: 100 }) });
    const query = "from index 'ByAge' update { this.age = -1; }";
    await assert.rejects(patch(store, query, { staleTimeout: 200 }), /has not seen every document/);
    await assert.rejects(
        store.operations.send(new DeleteByQueryOperation("from index 'ByAge'", { staleTimeout: 200 })), /has not seen every document/);
    await (await patch(store, query, { allowStale: true })).waitForCompletion();
    assert.equal((await store.openSession().load("users/late", User)).age, 100);
    assert.equal((await store.openSession().load(id(0), User)).age, -1);
    const waiting = patch(store, query, { staleTimeout: 30_000 });
    await delay(200);
    await store.maintenance.send(new StartIndexingOperation());
    await (await waiting).waitForCompletion();
    assert.equal((await store.openSession().load("users/late", User)).age, -1);
}));

test("a script may take as many statements as it likes where that is said", () => withDatabase(async store => {
    await seed(store, users(1));
    const query = "from Users update { let n = 0; for (let i = 0; i < 150000; i++) n++; this.age = n; }";
    await assert.rejects((await patch(store, query)).waitForCompletion(), /statements/);
    assert.deepEqual(await ages(store), [0]);
    await (await patch(store, query, { ignoreMaxStepsForScript: true })).waitForCompletion();
    assert.deepEqual(await ages(store), [150_000]);
    // the other limits hold
    const endless = await patch(store, "from Users update { while (true) { } }", { ignoreMaxStepsForScript: true });
    await assert.rejects(endless.waitForCompletion(), /1000 ms/);
}));

test("a failure names its document, and says how many were patched before", () => withDatabase(async (store, name) => {
    await seed(store, users(40));
    const operation = await patch(store, "from Users update { if (this.age === 25) throw new Error('not this one'); this.name = 'x'; }");
    await assert.rejects(operation.waitForCompletion(), error =>
        error.message.includes(`Document '${id(25)}' was not patched`) && error.message.includes("not this one")
        && /\d+ of 40 documents were patched before/.test(error.message));
    const { Status, Progress, Result } = await state(name, operation);
    assert.equal(Status, "Faulted");
    assert.match(Result.Message, new RegExp(`\\b${Progress.Processed} of 40`));
    const names = (await store.openSession().query({ collection: "Users", documentType: User }).all()).map(user => user.name);
    assert.equal(names.filter(one => one === "x").length, Progress.Processed);
}));

test("a batch that gets slow is divided", () => withDatabase(async (store, name) => {
    await seed(store, users(260));
    const operation = await patch(
        store, `from Users update { if (this.age > 127 && this.age < 140) { ${slow} } this.name = 'x'; }`, { ignoreMaxStepsForScript: true });
    await operation.waitForCompletion();
    const { Progress } = await state(name, operation);
    assert.equal(Progress.Processed, 260);
    assert.ok(Progress.BatchCount > 12, `${Progress.BatchCount}`);
    assert.ok((await ages(store)).length === 260);
}));
