import assert from "node:assert/strict";
import { test } from "node:test";
import { GetStatisticsOperation } from "ravendb";
import { seed, User, withDatabase } from "./support.mjs";

for (const useCompression of [false, true]) {
    const how = useCompression ? "compressed" : "plain";

    test(`a ${how} bulk insert stores every document, with given and with made ids`, () => withDatabase(async store => {
        const bulk = store.bulkInsert({ useCompression });
        for (let i = 0; i < 5_000; i++)
            await bulk.store(new User({ name: `User ${i}`, age: i, quote: "\"\\ [{]} ü😀" }), `users/${i}`);
        const made = new User({ name: "made" });
        await bulk.store(made);
        await bulk.finish();

        assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfDocuments, 5_002); // and the HiLo document
        const session = store.openSession();
        const some = await session.load(["users/0", "users/2500", "users/4999"], User);
        assert.equal(some["users/2500"].name, "User 2500");
        assert.equal(some["users/4999"].quote, "\"\\ [{]} ü😀");
        assert.equal(session.advanced.getMetadataFor(some["users/0"])["@collection"], "Users");
    }));

    test(`a ${how} bulk insert of documents of a megabyte`, () => withDatabase(async store => {
        const bulk = store.bulkInsert({ useCompression });
        const long = "0123456789abcdef".repeat(65_536);
        for (let i = 0; i < 8; i++)
            await bulk.store(new User({ name: `User ${i}`, long: long + i }), `users/${i}`);
        await bulk.finish();
        assert.equal((await store.openSession().load("users/7", User)).long, long + 7);
    }));

    test(`what a ${how} bulk insert cannot store is told, with the document's id`, () => withDatabase(async store => {
        const bulk = store.bulkInsert({ useCompression });
        await assert.rejects(async () => {
            await bulk.store(new User({ name: "good" }), "users/good");
            await bulk.store(new User({ name: "bad" }), "users/" + "x".repeat(600));
            await bulk.finish();
        }, error => error.name === "BulkInsertAbortedException" && error.message.includes("512"));
    }));
}

for (const useCompression of [false, true])
    test(`a bulk insert of every kind, ${useCompression ? "compressed" : "plain"}, in one stream`, () => withDatabase(async store => {
        const bulk = store.bulkInsert({ useCompression }), content = Buffer.from("],{[\"}\u0000".repeat(5_000)), count = 30;
        for (let i = 0; i < count; i++) {
            await bulk.store(new User({ name: `u${i}` }), `users/${i}`);
            await bulk.attachmentsFor(`users/${i}`).store("f", content.subarray(0, i * 997), "text/plain");
            await bulk.countersFor(`users/${i}`).increment("likes", i);
            await bulk.countersFor(`users/${i}`).increment("likes", 1);
            const series = bulk.timeSeriesFor(`users/${i}`, "Pulse");
            for (let n = 0; n < 3; n++)
                await series.append(new Date(Date.UTC(2026, 0, 1, n)), n === 1 ? [i, n] : i, n === 2 ? "watches/1" : undefined);
            series.dispose();
        }
        await bulk.finish();
        for (const i of [0, 17, count - 1]) {
            const session = store.openSession(), id = `users/${i}`, user = await session.load(id, User);
            assert.deepEqual(session.advanced.getMetadataFor(user)["@flags"].split(", ").sort(), ["HasAttachments", "HasCounters", "HasTimeSeries"]);
            assert.deepEqual(session.advanced.attachments.getNames(user).map(one => [one.name, one.size]), [["f", i * 997]]);
            assert.equal(await session.countersFor(id).get("likes"), i + 1);
            const entries = await session.timeSeriesFor(id, "Pulse").get();
            assert.deepEqual(entries.map(entry => [entry.values, entry.tag ?? null]), [[[i], null], [[i, 1], null], [[i], "watches/1"]]);
        }
        const { countOfAttachments, countOfCounterEntries } = await store.maintenance.send(new GetStatisticsOperation());
        assert.deepEqual([countOfAttachments, countOfCounterEntries], [count, count]);
    }));

test("an empty bulk insert is no error", () => withDatabase(async store => {
    await store.bulkInsert().finish();
}));

test("a bulk insert overwrites", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const bulk = store.bulkInsert();
    await bulk.store(new User({ name: "Augusta" }), "users/1");
    await bulk.finish();
    assert.equal((await store.openSession().load("users/1", User)).name, "Augusta");
}));

test("an aborted bulk insert ends", () => withDatabase(async store => {
    const bulk = store.bulkInsert();
    await bulk.store(new User({ name: "Ada" }), "users/1");
    await bulk.abort();
    await assert.rejects(async () => {
        for (let i = 0; i < 100_000; i++)
            await bulk.store(new User({ name: `User ${i}` }), `users/${i}`);
        await bulk.finish();
    }, { name: "BulkInsertAbortedException" });
}));

test("several bulk inserts at once", () => withDatabase(async store => {
    await Promise.all(Array.from({ length: 4 }, async (_, n) => {
        const bulk = store.bulkInsert({ useCompression: n % 2 === 0 });
        for (let i = 0; i < 1_000; i++)
            await bulk.store(new User({ name: `User ${i}` }), `users/${n}-${i}`);
        await bulk.finish();
    }));
    assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfDocuments, 4_000);
}));

test("a bulk insert leaves documents that did not change as they are, if asked", () => withDatabase(async store => {
    const same = { name: "Ada", age: 36, tags: ["a", { b: [1, 2.5, null] }] }, meta = { "@collection": "Users", own: "kept" };
    const insert = async (options, ...users) => {
        const bulk = store.bulkInsert(options);
        for (const [user, id] of users)
            await bulk.store(user, id, { ...meta });
        await bulk.finish();
    };
    const vectors = async () => {
        const session = store.openSession(), users = await session.load(["users/1", "users/2"], User);
        return ["users/1", "users/2"].map(id => session.advanced.getChangeVectorFor(users[id]));
    };
    const all = name => [[new User(same), "users/1"], [new User({ name }), "users/2"]];
    await insert({}, ...all("Bob"));
    const before = await vectors();
    for (const useCompression of [false, true])
        await insert({ skipOverwriteIfUnchanged: true, useCompression }, ...all("Bob"));
    assert.deepEqual(await vectors(), before);
    await insert({ skipOverwriteIfUnchanged: true }, ...all("Bill"));
    const after = await vectors();
    assert.equal(after[0], before[0]);
    assert.notEqual(after[1], before[1]);
    const session = store.openSession();
    assert.equal((await session.load("users/2", User)).name, "Bill");
    assert.equal(session.advanced.getMetadataFor(await session.load("users/1", User)).own, "kept");

    meta.own = "changed";
    await insert({ skipOverwriteIfUnchanged: true }, [new User(same), "users/1"]);
    assert.notEqual((await vectors())[0], after[0]);
    const again = await vectors();
    await insert({}, [new User(same), "users/1"]);
    assert.notEqual((await vectors())[0], again[0]);
}));
