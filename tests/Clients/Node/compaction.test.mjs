// Compacting, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CompactDatabaseOperation, GetStatisticsOperation } from "ravendb";
import { User, url, withDatabase } from "./support.mjs";

async function fill(store) {
    const bulk = store.bulkInsert();
    for (let i = 0; i < 2_000; i++)
        await bulk.store(new User({ name: `${i} ${"x".repeat(10_000)}`, age: i }), `users/${i}`);
    await bulk.finish();
    await store.openSession().query(User).whereEquals("age", 7).waitForNonStaleResults().all();
    const session = store.openSession();
    for (let i = 10; i < 2_000; i++)
        await session.delete(`users/${i}`);
    await session.saveChanges();
}

test("a compaction is waited for and makes documents and indexes shorter", () => withDatabase(async (store, name) => {
    await fill(store);
    const operation = await store.maintenance.server.send(new CompactDatabaseOperation({ databaseName: name, documents: true, indexes: ["Auto/Users/Byage"] }));
    await operation.waitForCompletion();
    const state = await (await fetch(`${url}/operations/state?id=${operation.id}`)).json();
    assert.equal(state.Status, "Completed");
    assert.ok(state.Result.SizeAfterCompactionInBytes < state.Result.SizeBeforeCompactionInBytes, JSON.stringify(state.Result));
    assert.deepEqual(Object.keys(state.Result.IndexesResults), ["Auto/Users/Byage"]);
    assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfDocuments, 10);
    const users = await store.openSession().query(User).whereEquals("age", 7).waitForNonStaleResults().all();
    assert.deepEqual(users.map(user => user.age), [7]);
}));

test("a compaction that cannot be is refused", () => withDatabase(async (store, name) => {
    await assert.rejects(store.maintenance.server.send(new CompactDatabaseOperation({ databaseName: name, documents: true, indexes: ["none"] })), /none/);
    await assert.rejects(store.maintenance.server.send(new CompactDatabaseOperation({ databaseName: name })), /Neither documents nor indexes/);
    await assert.rejects(store.maintenance.server.send(new CompactDatabaseOperation({ databaseName: `${name}-none`, documents: true })), { name: "DatabaseDoesNotExistException" });
}));
