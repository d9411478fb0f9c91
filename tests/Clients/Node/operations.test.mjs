import assert from "node:assert/strict";
import { test } from "node:test";
import { DeleteByQueryOperation, GetStatisticsOperation, IndexQuery } from "ravendb";
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
