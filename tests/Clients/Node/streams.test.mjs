import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { collect, User, withDatabase } from "./support.mjs";

const count = 3_000;

const withMany = check => withDatabase(async store => {
    const bulk = store.bulkInsert();
    for (let i = 0; i < count; i++)
        await bulk.store(new User({ name: `User ${i}`, age: i }), `users/${String(i).padStart(5, "0")}`);
    await bulk.finish();
    // The stream does not wait for the index; a query that does makes it ready.
    await store.openSession().query({ collection: "Users" }).whereLessThan("age", 0).waitForNonStaleResults().all();
    await check(store);
});

test("a query's results come as a stream, with statistics", () => withMany(async store => {
    const session = store.openSession();
    let statistics;
    const stream = await session.advanced.stream(session.query({ documentType: User, collection: "Users" }).whereGreaterThanOrEqual("age", 1_000), s => statistics = s);
    const results = await collect(stream);
    assert.equal(results.length, 2_000);
    assert.ok(results.every(result => result.id.startsWith("users/") && result.document.age >= 1_000 && result.changeVector));
    assert.equal(statistics.totalResults, 2_000);
    assert.equal(statistics.indexName, "Auto/Users/Byage");
}));

test("raw RQL and projections come as a stream", () => withMany(async store => {
    const session = store.openSession();
    const stream = await session.advanced.stream(session.advanced.rawQuery("from Users where age < 3 order by age as long select name"));
    assert.deepEqual((await collect(stream)).map(result => result.document.name), ["User 0", "User 1", "User 2"]);
}));

test("documents of a prefix come as a stream, from anywhere on", () => withMany(async store => {
    const session = store.openSession();
    assert.equal((await collect(await session.advanced.stream("users/"))).length, count);
    const some = await collect(await session.advanced.stream("users/", { start: 10, pageSize: 5 }));
    assert.deepEqual(some.map(result => result.document.name), ["User 10", "User 11", "User 12", "User 13", "User 14"]);
    const after = await collect(await session.advanced.stream("users/", { startAfter: "users/02997" }));
    assert.deepEqual(after.map(result => result.document.name), ["User 2998", "User 2999"]);
}));

test("results go straight into another stream", () => withMany(async store => {
    const session = store.openSession();
    const target = new PassThrough();
    // The client's promise does not settle when its source ends, with whatever order of lines: what arrives is what counts.
    session.advanced.streamInto(session.query({ documentType: User, collection: "Users" }).whereLessThan("age", 2), target).catch(() => { });
    let text = "";
    for await (const chunk of target) {
        text += chunk;
        if (text.includes("User 0") && text.includes("User 1"))
            break;
    }
    assert.ok(text.includes("User 0") && text.includes("User 1"));
}));

test("a reader that stops early does no harm", () => withMany(async store => {
    const session = store.openSession();
    const stream = await session.advanced.stream("users/");
    for await (const result of stream) {
        assert.ok(result.id);
        break;
    }
    assert.equal((await store.openSession().load("users/00000", User)).name, "User 0");
}));

test("a stream of an index that is not there says so", () => withMany(async store => {
    const session = store.openSession();
    await assert.rejects(session.advanced.stream(session.query({ indexName: "No/Such" })), { name: "IndexDoesNotExistException" });
}));
