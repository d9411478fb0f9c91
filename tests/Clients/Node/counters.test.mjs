// Counters of documents, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
    CounterBatch, CounterBatchOperation, CounterOperation, DocumentCountersOperation, GetCountersOperation, GetStatisticsOperation,
} from "ravendb";
import { seed, User, withDatabase } from "./support.mjs";

const operation = (type, counterName, delta) => Object.assign(new CounterOperation(), { type, counterName, delta });

function batchOf(documentId, ...operations) {
    const document = new DocumentCountersOperation();
    document.documentId = documentId;
    document.operations = operations;
    const batch = new CounterBatch();
    batch.documents = [document];
    return new CounterBatchOperation(batch);
}

test("a session counts, reads and deletes", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession();
    session.countersFor("users/1").increment("likes", 10);
    session.countersFor("users/1").increment("shares");
    await session.saveChanges();
    session.countersFor("users/1").increment("Likes", 5);
    await session.saveChanges();
    const other = store.openSession();
    assert.equal(await other.countersFor("users/1").get("LIKES"), 15);
    assert.equal(await other.countersFor("users/1").get("none"), null);
    const some = await other.countersFor("users/1").get(["likes", "shares"]);
    assert.deepEqual([some["likes"], some["shares"]], [15, 1]);
    const all = await store.openSession().countersFor("users/1").getAll();
    assert.deepEqual({ ...all }, { likes: 15, shares: 1 });
    other.countersFor("users/1").delete("likes");
    await other.saveChanges();
    assert.deepEqual({ ...await store.openSession().countersFor("users/1").getAll() }, { shares: 1 });
}));

test("metadata names the counters, and storing the document again keeps them", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession();
    session.countersFor("users/1").increment("Likes", 1);
    await session.saveChanges();
    const other = store.openSession();
    const user = await other.load("users/1", User);
    const metadata = other.advanced.getMetadataFor(user);
    assert.deepEqual([metadata["@flags"], metadata["@counters"]], ["HasCounters", ["Likes"]]);
    assert.deepEqual(other.advanced.getCountersFor(user), ["Likes"]);
    user.age = 3;
    await other.saveChanges();
    const last = store.openSession();
    assert.deepEqual(last.advanced.getCountersFor(await last.load("users/1", User)), ["Likes"]);
}));

test("counters come along with a load", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }) });
    const session = store.openSession();
    session.countersFor("users/1").increment("likes", 4);
    session.countersFor("users/2").increment("shares", 6);
    await session.saveChanges();
    const one = store.openSession();
    const user = await one.load("users/1", { documentType: User, includes: b => b.includeCounter("likes").includeCounter("none") });
    assert.equal(user.name, "Ada");
    assert.equal(await one.countersFor("users/1").get("likes"), 4);
    assert.equal(await one.countersFor("users/1").get("none"), null);
    assert.equal(one.advanced.numberOfRequests, 1);
    const all = store.openSession();
    await all.load(["users/1", "users/2"], { documentType: User, includes: b => b.includeAllCounters() });
    assert.deepEqual({ ...await all.countersFor("users/2").getAll() }, { shares: 6 });
    assert.equal(all.advanced.numberOfRequests, 1);
}));

test("a batch of operations answers in order, with the values by node where that is asked for", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const answer = await store.operations.send(batchOf("users/1", operation("Increment", "a", 7), operation("Increment", "b", -2), operation("Delete", "c"), operation("Get", "none"), operation("Get", "A")));
    assert.deepEqual(answer.counters.map(c => c && [c.counterName, c.totalValue]), [["a", 7], ["b", -2], null, ["a", 7]]);
    const full = await store.operations.send(new GetCountersOperation("users/1", ["a"], true));
    assert.deepEqual(Object.values(full.counters[0].counterValues), [7]);
    const many = await store.operations.send(new GetCountersOperation("users/1", Array.from({ length: 200 }, (_, i) => i === 100 ? "b" : `no-such-counter-${i}`)));
    assert.equal(many.counters.length, 200);
    assert.deepEqual([many.counters[100].totalValue, many.counters[0]], [-2, null]);
    assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfCounterEntries, 2);
}));

test("bulk insert counts for documents of the same insert", () => withDatabase(async store => {
    const bulk = store.bulkInsert();
    for (let i = 0; i < 20; i++)
        await bulk.store(new User({ name: `u${i}` }), `users/${i}`);
    for (let i = 0; i < 20; i++) {
        const counters = bulk.countersFor(`users/${i}`);
        for (let n = 0; n < 60; n++)
            await counters.increment(`c${n}`, i + n);
    }
    await bulk.finish();
    const all = await store.openSession().countersFor("users/7").getAll();
    assert.equal(Object.keys(all).length, 60);
    assert.equal(all["c59"], 66);
}));

test("what cannot be counted is refused by name, and nothing changes", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    await assert.rejects(store.operations.send(batchOf("users/2", operation("Increment", "a", 1))), { name: "DocumentDoesNotExistException" });
    await store.operations.send(batchOf("users/1", operation("Increment", "a", Number.MAX_SAFE_INTEGER)));
    await assert.rejects(store.operations.send(batchOf("users/1", operation("Increment", "b", 1), operation("Increment", "a", 1.5))), /whole number/);
    await assert.rejects(store.operations.send(batchOf("users/1", operation("Increment", "x".repeat(600), 1))), /512/);
    assert.deepEqual({ ...await store.openSession().countersFor("users/1").getAll() }, { a: Number.MAX_SAFE_INTEGER });
    const session = store.openSession();
    await session.delete("users/1");
    await session.saveChanges();
    assert.deepEqual({ ...await store.openSession().countersFor("users/1").getAll() }, {});
}));
