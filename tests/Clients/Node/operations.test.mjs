import assert from "node:assert/strict";
import { test } from "node:test";
import { DeleteByQueryOperation, GetStatisticsOperation, IndexQuery, PatchByQueryOperation } from "ravendb";
import { seed, url, User, withDatabase } from "./support.mjs";

const indexQuery = (text, parameters = {}) => {
    const query = new IndexQuery();
    query.query = text;
    query.queryParameters = parameters;
    return query;
};

test("deletion by query is an operation that can be waited for", () => withDatabase(async (store, name) => {
    const bulk = store.bulkInsert();
    for (let i = 0; i < 3_000; i++)
        await bulk.store(new User({ name: `User ${i}`, age: i % 10 }), `users/${i}`);
    await bulk.finish();
    const operation = await store.operations.send(new DeleteByQueryOperation(indexQuery("from Users where age < $age", { age: 3 })));
    await operation.waitForCompletion();
    assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfDocuments, 2_100);

    const state = await (await fetch(`${url}/databases/${name}/operations/state?id=${operation.id}`)).json();
    assert.equal(state.Status, "Completed");
    assert.equal(state.Result.Total, 900);
}));

test("results name the classes of the client and count what lies beside documents", () => withDatabase(async (store, name) => {
    const bulk = store.bulkInsert();
    await bulk.store(new User({ name: "Ada" }), "users/1");
    await bulk.countersFor("users/1").increment("likes", 1);
    const series = bulk.timeSeriesFor("users/1", "A");
    for (let i = 0; i < 5; i++)
        await series.append(new Date(Date.UTC(2026, 0, 1, i)), [i]);
    series.dispose();
    await bulk.attachmentsFor("users/1").store("note.txt", Buffer.from("note"));
    await bulk.finish();
    const state = async id => await (await fetch(`${url}/databases/${name}/operations/state?id=${id}`)).json();
    const results = "Raven.Client.Documents.Operations.BulkOperationResult";
    const { Result, Progress } = await state(1);
    assert.deepEqual(
        [Result.$type, Progress.$type, Result.DocumentsProcessed, Result.CountersProcessed, Result.TimeSeriesProcessed, Result.AttachmentsProcessed],
        [`${results}, Raven.Client`, "Raven.Client.Documents.Operations.BulkInsertProgress, Raven.Client", 1, 1, 5, 1]);

    const patched = await store.operations.send(new PatchByQueryOperation("from Users update { this.age = 3; }", { retrieveDetails: true }));
    await patched.waitForCompletion();
    const patch = await state(patched.id);
    assert.deepEqual([patch.Result.$type, patch.Result.Details.map(one => [one.$type, one.Id, one.Status])], [`${results}, Raven.Client`, [[`${results}+PatchDetails, Raven.Client`, "users/1", "Patched"]]]);
    assert.equal(patch.Progress.$type, "Raven.Client.Documents.Operations.DeterminateProgress, Raven.Client");
}));

test("a deletion whose query is wrong deletes nothing and says why", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    await assert.rejects(store.operations.send(new DeleteByQueryOperation(indexQuery("from Users where where"))), { name: "InvalidQueryException" });
    await assert.rejects(
        store.operations.send(new DeleteByQueryOperation(indexQuery("from index 'No/Such'"))), { name: "IndexDoesNotExistException" });
    assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfDocuments, 1);
}));

test("numbers of operations never repeat, and a number without an operation has no state", () => withDatabase(async (store, name) => {
    const next = async () => (await (await fetch(`${url}/databases/${name}/operations/next-operation-id`)).json()).Id;
    const first = await next();
    assert.ok(await next() > first);
    assert.equal((await fetch(`${url}/databases/${name}/operations/state?id=${first}`)).status, 404);
}));

test("killing what has ended is no error", () => withDatabase(async store => {
    const operation = await store.operations.send(new DeleteByQueryOperation(indexQuery("from Users")));
    await operation.waitForCompletion();
    await operation.kill();
}));
