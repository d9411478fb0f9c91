// What indexes say of themselves: batches, progress, staleness, time, fields, sources, definitions before.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
    DeleteIndexErrorsOperation, DeleteIndexOperation, GetDatabaseRecordOperation, GetIndexErrorsOperation, IndexDefinition, IndexHasChangedOperation, PutIndexesOperation, ResetIndexOperation,
    StartIndexingOperation, StopIndexingOperation
} from "ravendb";
import { Company, seed, url, User, withDatabase } from "./support.mjs";

const define = (name, map, reduce) => Object.assign(new IndexDefinition(), { name, maps: new Set([map]), ...(reduce ? { reduce } : {}) });
const put = (store, ...indexes) => store.maintenance.send(new PutIndexesOperation(...indexes));
const caughtUp = (store, index) => store.openSession().query({ indexName: index }).waitForNonStaleResults(60_000).all();
const users = count => Object.fromEntries(Array.from({ length: count }, (_, i) => [`users/${i}`, new User({ name: `u${i % 3}`, age: i })]));
const byAge = define("ByAge", "map('Users', u => ({ age: u.age }))");
const byName = define("ByName", "map('Users', u => ({ name: u.name, n: 1 }))", "groupBy(x => ({ name: x.name })).aggregate(g => ({ name: g.key.name, n: g.values.reduce((s, v) => s + v.n, 0) }))");

const get = async (name, path) => {
    const response = await fetch(`${url}/databases/${name}/indexes/${path}`);
    return { status: response.status, ...await response.json() };
};

const ms = span => {
    const [, days, hours, minutes, seconds] = /^(?:(\d+)\.)?(\d\d):(\d\d):(\d\d(?:\.\d+)?)$/.exec(span);
    return ((((days ?? 0) * 24 + +hours) * 60 + +minutes) * 60 + +seconds) * 1000;
};

test("performance tells of each batch, and the times add up", () => withDatabase(async (store, name) => {
    const before = Date.now();
    await put(store, byAge, byName);
    await seed(store, users(30));
    await caughtUp(store, "ByAge");
    await seed(store, { "users/more": new User({ name: "u1", age: 7 }) });
    await caughtUp(store, "ByAge");
    await caughtUp(store, "ByName");
    const { Results } = await get(name, "performance");
    assert.deepEqual(Results.map(index => index.Name), ["ByAge", "ByName"]);
    for (const { Name, Performance } of Results) {
        assert.equal(Performance.reduce((sum, batch) => sum + batch.InputCount, 0), 31, Name);
        assert.deepEqual(Performance.map(batch => batch.Id), Performance.map((_, i) => i + 1));
        for (const batch of Performance) {
            const [started, completed] = [Date.parse(batch.Started), Date.parse(batch.Completed)];
            assert.ok(started >= before - 1_000 && completed <= Date.now() + 1_000 && started <= completed);
            assert.ok(Math.abs(completed - started - batch.DurationInMs) < 2);
            const [map, commit] = batch.Details.Operations;
            assert.deepEqual([map.Name, commit.Name], ["Map", "Storage/Commit"]);
            assert.ok(map.DurationInMs > 0 && commit.DurationInMs > 0);
            assert.ok(map.DurationInMs + commit.DurationInMs <= batch.DurationInMs + 1);
        }
    }

    const only = await get(name, "performance?name=ByName");
    assert.deepEqual(only.Results.map(index => index.Name), ["ByName"]);
    const total = await get(name, "total-time");
    for (const { Name, TotalIndexingTime } of total.Results) {
        const batches = Results.find(index => index.Name === Name).Performance;
        const sum = batches.reduce((sum, batch) => sum + batch.DurationInMs, 0);
        assert.ok(ms(TotalIndexingTime) > 0 && ms(TotalIndexingTime) <= sum + 1, `${Name}: ${TotalIndexingTime} of ${sum} ms`);
    }

    await store.maintenance.send(new ResetIndexOperation("ByAge"));
    await caughtUp(store, "ByAge");
    const [{ Performance }] = (await get(name, "performance?name=ByAge")).Results;
    assert.equal(Performance.reduce((sum, batch) => sum + batch.InputCount, 0), 31);
    assert.equal((await get(name, "performance?name=None")).status, 500);
}));

test("progress and staleness tell what waits, and why", () => withDatabase(async (store, name) => {
    await put(store, byAge);
    await seed(store, users(5));
    await caughtUp(store, "ByAge");
    assert.deepEqual(await get(name, "staleness?name=ByAge"), { status: 200, IsStale: false, StalenessReasons: [] });
    await store.maintenance.send(new StopIndexingOperation());
    await seed(store, { "users/10": new User({ name: "x", age: 1 }), "users/11": new User({ name: "x", age: 1 }), "companies/1": new Company({ name: "c" }) });
    const session = store.openSession();
    await session.delete("users/0");
    await session.saveChanges();
    const [index] = (await get(name, "progress?name=ByAge")).Results;
    assert.deepEqual([index.IsStale, index.IndexRunningStatus, index.Type], [true, "Paused", "Map"]);
    const { LastProcessedItemEtag, ...figures } = index.Collections.Users;
    assert.deepEqual(figures, { NumberOfItemsToProcess: 2, NumberOfTombstonesToProcess: 1, TotalNumberOfItems: 6 });
    assert.ok(LastProcessedItemEtag > 0);
    const stale = await get(name, "staleness?name=ByAge");
    assert.equal(stale.IsStale, true);
    assert.match(stale.StalenessReasons[0], /^3 changes of Users wait/);
    assert.match(stale.StalenessReasons[1], /paused/);
    await store.maintenance.send(new StartIndexingOperation());
    await caughtUp(store, "ByAge");
    const [now] = (await get(name, "progress")).Results;
    assert.equal(now.IsStale, false);
    assert.deepEqual([now.Collections.Users.NumberOfItemsToProcess, now.Collections.Users.NumberOfTombstonesToProcess], [0, 0]);
    assert.ok(now.Collections.Users.LastProcessedItemEtag > LastProcessedItemEtag);
    assert.equal((await get(name, "staleness?name=None")).status, 500);
}));

test("debugging tells of fields, and of the documents of groups", () => withDatabase(async (store, name) => {
    await put(store, byAge, byName, define("Dynamic", "map('Users', u => ({ age: u.age, _: createField('of ' + u.name, u.age, {}) }))"));
    await seed(store, { ...users(12), "people/1": new User({ name: "u0", age: 1 }) });
    await caughtUp(store, "ByName");
    await caughtUp(store, "Dynamic");
    assert.deepEqual((await get(name, "debug?name=ByAge&op=entries-fields")).Static, ["age"]);
    const dynamic = await get(name, "debug?name=Dynamic&op=entries-fields");
    assert.deepEqual([dynamic.Static, dynamic.Dynamic.sort()], [["age"], ["of u0", "of u1", "of u2"]]);
    const all = await get(name, "debug?name=ByName&op=source-doc-ids");
    assert.deepEqual(new Set(all.Results), new Set(["people/1", ...Array.from({ length: 12 }, (_, i) => `users/${i}`)]));
    assert.deepEqual((await get(name, "debug?name=ByName&op=source-doc-ids&startsWith=Users/1")).Results, ["users/1", "users/10", "users/11"]);
    assert.deepEqual((await get(name, "debug?name=ByName&op=source-doc-ids&startsWith=users/1&startAfter=users/1&pageSize=1")).Results, ["users/10"]);
    const session = store.openSession();
    await session.delete("users/10");
    await session.saveChanges();
    await caughtUp(store, "ByName");
    assert.deepEqual((await get(name, "debug?name=ByName&op=source-doc-ids&startsWith=users/1")).Results, ["users/1", "users/11"]);
    const none = await get(name, "debug?name=ByAge&op=source-doc-ids");
    assert.equal(none.status, 400);
    assert.match(none.Message, /no reduce/);
    const tree = await get(name, "debug?name=ByName&op=map-reduce-tree&docId=users/1");
    assert.equal(tree.Results.length, 1);
    assert.deepEqual([tree.Results[0].IsCut, tree.Results[0].Root.Children], [false, []]);
    assert.equal(tree.Results[0].Root.Results.length, 1);
    assert.ok(tree.Results[0].Root.Count > 1);
    assert.deepEqual((await get(name, "debug?name=ByName&op=map-reduce-tree&docId=none")).Results, []);
    assert.equal((await get(name, "debug?name=ByAge&op=map-reduce-tree&docId=users/1")).status, 400);
    assert.equal((await get(name, "debug?name=ByName&op=other")).status, 400);
    const unbuilt = await get(name, "suggest-index-merge");
    assert.deepEqual([unbuilt.status, /about indexes/.test(unbuilt.Message)], [501, true]);
}));

test("definitions that an index had are told, the last first, and end with it", () => withDatabase(async (store, name) => {
    const changed = define("ByAge", "map('Users', u => ({ age: u.age, name: u.name }))");
    await put(store, byAge);
    assert.equal(await store.maintenance.send(new IndexHasChangedOperation(byAge)), false);
    assert.equal(await store.maintenance.send(new IndexHasChangedOperation(changed)), true);
    assert.equal(await store.maintenance.send(new IndexHasChangedOperation(byName)), true);
    await put(store, byAge);
    await put(store, changed);
    const { Index, History } = await get(name, "history?name=byage");
    assert.equal(Index, "ByAge");
    assert.deepEqual(History.map(version => version.Definition.Maps[0]), [...changed.maps, ...byAge.maps]);
    assert.ok(Date.parse(History[0].CreatedAt) >= Date.parse(History[1].CreatedAt) && Date.now() - Date.parse(History[1].CreatedAt) < 600_000);

    const record = await store.maintenance.server.send(new GetDatabaseRecordOperation(name));
    assert.deepEqual(record.indexesHistory.ByAge.map(version => [...version.definition.maps][0]), [...changed.maps, ...byAge.maps]);

    for (let i = 0; i < 12; i++)
        await put(store, define("ByAge", `map('Users', u => ({ age: u.age + ${i} }))`));
    const many = (await get(name, "history?name=ByAge")).History;
    assert.equal(many.length, 10);
    assert.match(many[0].Definition.Maps[0], /\+ 11 /);
    await store.maintenance.send(new DeleteIndexOperation("ByAge"));
    await put(store, byAge);
    assert.equal((await get(name, "history?name=ByAge")).History.length, 1);
}));

test("errors name their documents, and are forgotten when that is asked", () => withDatabase(async store => {
    await put(store, define("Bad", "map('Users', u => { if (u.age === 1) throw new Error('not one'); return { age: u.age }; })"), byAge);
    await seed(store, users(3));
    await caughtUp(store, "Bad");
    const [bad] = await store.maintenance.send(new GetIndexErrorsOperation(["Bad"]));
    assert.deepEqual(bad.errors.map(error => [error.document, error.action]), [["users/1", "Map"]]);
    assert.match(bad.errors[0].error, /not one/);
    assert.ok(Math.abs(Date.now() - bad.errors[0].timestamp.getTime()) < 600_000);
    const all = await store.maintenance.send(new GetIndexErrorsOperation());
    assert.deepEqual(all.map(index => [index.name, index.errors.length]), [["Bad", 1], ["ByAge", 0]]);
    await store.maintenance.send(new DeleteIndexErrorsOperation(["Bad"]));
    assert.deepEqual((await store.maintenance.send(new GetIndexErrorsOperation(["Bad"])))[0].errors, []);
}));
