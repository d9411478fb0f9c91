// Counters, time series, compare-exchange values and revisions in queries, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigureRevisionsOperation, PutCompareExchangeValueOperation, RevisionsCollectionConfiguration, RevisionsConfiguration, TimeSeriesAggregationResult, TimeSeriesRawResult } from "ravendb";
import { Company, User, seed, withDatabase } from "./support.mjs";

const start = Date.UTC(2026, 0, 31, 12);
const at = minutes => new Date(start + minutes * 60_000);

async function seedSeries(store) {
    await seed(store, { "users/1": new User({ name: "Ada", age: 36 }), "users/2": new User({ name: "Bob", age: 20 }) });
    const session = store.openSession();
    const series = session.timeSeriesFor("users/1", "Heartrate");
    for (let i = 0; i < 180; i++)
        series.append(at(i), 60 + i, i % 2 ? "watches/1" : null);
    session.countersFor("users/1").increment("Likes", 5);
    session.countersFor("users/1").increment("Shares", 2);
    session.countersFor("users/2").increment("Likes", 7);
    await session.saveChanges();
}

test("selectTimeSeries gives groups", () => withDatabase(async store => {
    await seedSeries(store);
    const [result] = await store.openSession().query(User).whereEquals("name", "Ada").waitForNonStaleResults()
        .selectTimeSeries(builder => builder.raw("from Heartrate group by '1 hour' select min(), max(), avg(), sum(), count(), first(), last()"), TimeSeriesAggregationResult).all();
    assert.equal(result.count, 180);
    assert.deepEqual(result.results.map(group => [group.from.getTime(), group.to.getTime(), group.min[0], group.max[0], group.count[0], group.first[0], group.last[0], group.average[0]]), [
        [at(0).getTime(), at(60).getTime(), 60, 119, 60, 60, 119, 89.5],
        [at(60).getTime(), at(120).getTime(), 120, 179, 60, 120, 179, 149.5],
        [at(120).getTime(), at(180).getTime(), 180, 239, 60, 180, 239, 209.5],
    ]);
}));

test("selectTimeSeries gives entries", () => withDatabase(async store => {
    await seedSeries(store);
    const [result] = await store.openSession().query(User).whereEquals("name", "Ada").waitForNonStaleResults()
        .selectTimeSeries(builder => builder.raw("from Heartrate last 2 minutes where Tag == 'watches/1'"), TimeSeriesRawResult).all();
    assert.deepEqual(result.results.map(entry => [entry.timestamp.getTime(), entry.values, entry.tag]), [[at(177).getTime(), [237], "watches/1"], [at(179).getTime(), [239], "watches/1"]]);
}));

test("a declared series stands beside fields of a raw query", () => withDatabase(async store => {
    await seedSeries(store);
    const [row] = await store.openSession().advanced.rawQuery(
        "declare timeseries beats(x) { from x.Heartrate between $from and $to select max() } from Users as u where u.name = 'Ada' select u.name as name, counter(u, 'Likes') as likes, beats(u) as series")
        .addParameter("from", at(10)).addParameter("to", at(20)).waitForNonStaleResults().all();
    assert.deepEqual([row.name, row.likes], ["Ada", 5]);
    assert.ok(row.series instanceof TimeSeriesAggregationResult);
    assert.deepEqual(row.series.results[0].max, [80]);
}));

test("a script calls a declared series", () => withDatabase(async store => {
    await seedSeries(store);
    const declared = "declare timeseries beats(x) { from x.Heartrate between $from and $to select max() } declare function top(u) { return beats(u).Results[0].Max[0]; } from Users as u where u.name = 'Ada' ";
    const ask = text => store.openSession().advanced.rawQuery(declared + text).addParameter("from", at(10)).addParameter("to", at(20)).waitForNonStaleResults().single();
    const row = await ask("select { name: u.name, top: top(u), series: beats(u) }");
    assert.deepEqual([row.name, row.top], ["Ada", 80]);
    assert.ok(row.series instanceof TimeSeriesAggregationResult);
    assert.deepEqual(row.series, (await ask("select u.name as name, beats(u) as series")).series);
    assert.deepEqual(row.series.results[0].max, [80]);
}));

test("queries include counters and time series, which cost no request then", () => withDatabase(async store => {
    await seedSeries(store);
    const session = store.openSession();
    const users = await session.query(User).waitForNonStaleResults().include(builder => builder.includeAllCounters().includeTimeSeries("Heartrate", at(0), at(9))).all();
    assert.equal(users.length, 2);
    const requests = session.advanced.numberOfRequests;
    assert.deepEqual(await session.countersFor("users/1").getAll(), { Likes: 5, Shares: 2 });
    assert.equal(await session.countersFor("users/2").get("Likes"), 7);
    assert.deepEqual((await session.timeSeriesFor("users/1", "Heartrate").get(at(0), at(9))).map(entry => entry.values[0]), [60, 61, 62, 63, 64, 65, 66, 67, 68, 69]);
    assert.equal(session.advanced.numberOfRequests, requests);
}));

test("raw queries include counters by a path alone, and time series by two times alone", () => withDatabase(async store => {
    await seedSeries(store);
    await seed(store, { "companies/1": new Company({ name: "users/1" }) });
    const session = store.openSession();
    await session.advanced.rawQuery("from Companies include counters(name)", Company).waitForNonStaleResults().all();
    const requests = session.advanced.numberOfRequests;
    assert.deepEqual(await session.countersFor("users/1").getAll(), { Likes: 5, Shares: 2 });
    assert.equal(session.advanced.numberOfRequests, requests);
    for (const text of ["from Users include timeseries($from, $to)", "from Companies as c include timeseries(c.name, $from, $to)"]) {
        const other = store.openSession();
        await other.advanced.rawQuery(text).addParameter("from", at(0)).addParameter("to", at(9)).waitForNonStaleResults().all();
        const asked = other.advanced.numberOfRequests;
        assert.equal((await other.timeSeriesFor("users/1", "Heartrate").get(at(0), at(9))).length, 10);
        assert.equal(other.advanced.numberOfRequests, asked, text);
    }
}));

test("the builder includes counters of a document that a member names", () => withDatabase(async store => {
    await seedSeries(store);
    await seed(store, { "companies/1": new Company({ name: "users/1" }) });
    const session = store.openSession();
    await session.query(Company).waitForNonStaleResults().include(builder => builder.includeAllCounters("name")).all();
    const requests = session.advanced.numberOfRequests;
    assert.deepEqual(await session.countersFor("users/1").getAll(), { Likes: 5, Shares: 2 });
    assert.equal(session.advanced.numberOfRequests, requests);
}));

test("a load includes time series by range, time and count", () => withDatabase(async store => {
    await seedSeries(store);
    for (const add of [builder => builder.includeTimeSeries("Heartrate", at(0), at(5)), builder => builder.includeTimeSeries("Heartrate", "Last", { value: 10, unit: "Minute" }), builder => builder.includeTimeSeries("Heartrate", "Last", 11)]) {
        const session = store.openSession();
        await session.load("users/1", { documentType: User, includes: add });
        const requests = session.advanced.numberOfRequests;
        const isRange = add.toString().includes("at(5)");
        const entries = await session.timeSeriesFor("users/1", "Heartrate").get(isRange ? at(0) : at(169), isRange ? at(5) : at(179));
        assert.equal(entries.length, isRange ? 6 : 11);
        if (!isRange)
            assert.equal(entries[0].values[0], 229);
        assert.equal(session.advanced.numberOfRequests, requests, add.toString());
    }
}));

test("compare-exchange values are compared with, selected and included", () => withDatabase(async store => {
    await seedSeries(store);
    await store.operations.send(new PutCompareExchangeValueOperation("best", "Bob", 0));
    const session = store.openSession({ transactionMode: "ClusterWide" });
    const found = await session.advanced.rawQuery("from Users where name = cmpxchg('best')", User).waitForNonStaleResults().all();
    assert.deepEqual(found.map(user => user.name), ["Bob"]);
    const [row] = await store.openSession().advanced.rawQuery("from Users as u where u.name = 'Bob' select cmpxchg('best') as best, counter('Likes') as likes").waitForNonStaleResults().all();
    assert.deepEqual([row.best, row.likes], ["Bob", 7]);
    await seed(store, { "companies/1": new Company({ name: "best" }) });
    const cluster = store.openSession({ transactionMode: "ClusterWide" });
    await cluster.query(Company).include(builder => builder.includeCompareExchangeValue("name")).all();
    const requests = cluster.advanced.numberOfRequests;
    assert.equal((await cluster.advanced.clusterTransaction.getCompareExchangeValue("best")).value, "Bob");
    assert.equal(cluster.advanced.numberOfRequests, requests);
}));

test("queries include revisions by time and by change vector", () => withDatabase(async store => {
    const configuration = new RevisionsConfiguration();
    configuration.defaultConfig = new RevisionsCollectionConfiguration();
    await store.maintenance.send(new ConfigureRevisionsOperation(configuration));
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const first = (await store.openSession().advanced.revisions.getMetadataFor("users/1"))[0]["@change-vector"];
    await seed(store, { "users/1": new User({ name: first }) });
    const session = store.openSession();
    await session.query(User).waitForNonStaleResults().include(builder => builder.includeRevisions("name")).all();
    const requests = session.advanced.numberOfRequests;
    const revision = await session.advanced.revisions.get(first, User);
    assert.equal(revision.name, "Ada");
    assert.equal(session.advanced.numberOfRequests, requests);
    const before = new Date(Date.now() + 60_000);
    const other = store.openSession();
    await other.query(User).include(builder => builder.includeRevisions(before)).all();
    const asked = other.advanced.numberOfRequests;
    assert.equal((await other.advanced.revisions.get("users/1", before)).name, first);
    assert.equal(other.advanced.numberOfRequests, asked);
}));
