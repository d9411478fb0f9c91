// Time series, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
    GetMultipleTimeSeriesOperation, GetTimeSeriesOperation, GetTimeSeriesStatisticsOperation, TimeSeriesBatchOperation, TimeSeriesOperation, AppendOperation,
    ConfigureRawTimeSeriesPolicyOperation, ConfigureTimeSeriesOperation, ConfigureTimeSeriesPolicyOperation, ConfigureTimeSeriesValueNamesOperation, GetDatabaseRecordOperation,
    RawTimeSeriesPolicy, RemoveTimeSeriesPolicyOperation, TimeSeriesCollectionConfiguration, TimeSeriesConfiguration, TimeSeriesPolicy, TimeValue,
} from "ravendb";
import { User, seed, url, withDatabase } from "./support.mjs";

const start = Date.UTC(2026, 0, 31, 12);
const at = minutes => new Date(start + minutes * 60_000);

test("a session appends, reads and deletes", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession();
    const series = session.timeSeriesFor("users/1", "Heartrate");
    for (let i = 0; i < 100; i++)
        series.append(at(i), [60 + i, i / 3], i % 2 ? "watches/fitbit" : null);
    await session.saveChanges();
    const other = store.openSession();
    const entries = await other.timeSeriesFor("users/1", "heartrate").get();
    assert.equal(entries.length, 100);
    assert.deepEqual([entries[3].timestamp.getTime(), entries[3].values, entries[3].tag], [at(3).getTime(), [63, 1], "watches/fitbit"]);
    const some = await store.openSession().timeSeriesFor("users/1", "Heartrate").get(at(10), at(19));
    assert.deepEqual(some.map(entry => entry.values[0]), [70, 71, 72, 73, 74, 75, 76, 77, 78, 79]);
    other.timeSeriesFor("users/1", "Heartrate").deleteAt(at(5));
    other.timeSeriesFor("users/1", "Heartrate").delete(at(50), at(99));
    await other.saveChanges();
    assert.equal((await store.openSession().timeSeriesFor("users/1", "Heartrate").get()).length, 49);
    const last = store.openSession();
    const user = await last.load("users/1", User);
    const metadata = last.advanced.getMetadataFor(user);
    assert.deepEqual([metadata["@flags"], metadata["@timeseries"]], ["HasTimeSeries", ["Heartrate"]]);
    assert.deepEqual(last.advanced.getTimeSeriesFor(user), ["Heartrate"]);
}));

test("operations read, count and change", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    for (const name of ["A", "B"]) {
        const operation = new TimeSeriesOperation(name);
        for (let i = 0; i < 10; i++)
            operation.append(new AppendOperation(at(i), [i]));
        await store.operations.send(new TimeSeriesBatchOperation("users/1", operation));
    }
    const range = await store.operations.send(new GetTimeSeriesOperation("users/1", "A", at(2), at(8), 1, 3));
    assert.deepEqual(range.entries.map(entry => entry.values[0]), [3, 4, 5]);
    const several = await store.operations.send(new GetMultipleTimeSeriesOperation("users/1", [{ name: "A", from: at(0), to: at(1) }, { name: "B", from: at(8), to: at(20) }]));
    assert.deepEqual([...several.values.get("A")[0].entries.map(entry => entry.values[0]), ...several.values.get("B")[0].entries.map(entry => entry.values[0])], [0, 1, 8, 9]);
    const statistics = await store.operations.send(new GetTimeSeriesStatisticsOperation("users/1"));
    assert.deepEqual(statistics.timeSeries.map(series => [series.name, series.numberOfEntries]), [["A", 10], ["B", 10]]);
    assert.equal(await store.openSession().timeSeriesFor("users/1", "none").get(), null);
}));

test("a series is copied in a batch", () => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ name: "Ada" }), "users/2": new User({ name: "Bob" }) });
    const session = store.openSession();
    for (let i = 0; i < 10; i++)
        session.timeSeriesFor("users/1", "A").append(at(i), [i], "tag");
    await session.saveChanges();
    // The client has this command, but does not export it.
    const send = async command => {
        const answer = await fetch(`${url}/databases/${name}/bulk_docs`, { method: "POST", body: JSON.stringify({ Commands: [command] }) });
        return { status: answer.status, ...await answer.json() };
    };
    const copy = { Type: "TimeSeriesCopy", Id: "users/1", Name: "A", DestinationId: "users/2", DestinationName: "B" };
    const answer = await send({ ...copy, From: at(2).toISOString(), To: at(4).toISOString() });
    assert.deepEqual([answer.status, answer.Results[0].Type, answer.Results[0].Id], [201, "TimeSeriesCopy", "users/2"]);
    const entries = await store.openSession().timeSeriesFor("users/2", "B").get();
    assert.deepEqual(entries.map(entry => [entry.values[0], entry.tag]), [[2, "tag"], [3, "tag"], [4, "tag"]]);
    await send({ ...copy, From: null, To: null });
    assert.equal((await store.openSession().timeSeriesFor("users/2", "B").get()).length, 10);
    assert.equal((await send({ ...copy, From: "soon" })).status, 400);
}));

test("a range brings its document and the documents that its tags name", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }), "watches/1": new User({ name: "a watch" }) });
    const writer = store.openSession();
    for (let i = 0; i < 4; i++)
        writer.timeSeriesFor("users/1", "A").append(at(i), [i], ["watches/1", "watches/none", null, "watches/1"][i]);
    await writer.saveChanges();
    const session = store.openSession();
    const entries = await session.timeSeriesFor("users/1", "A").get(at(0), at(3), includes => includes.includeDocument().includeTags());
    assert.equal(entries.length, 4);
    const requests = session.advanced.numberOfRequests;
    assert.deepEqual([(await session.load("users/1", User)).name, (await session.load("watches/1", User)).name], ["Ada", "a watch"]);
    assert.equal(session.advanced.numberOfRequests, requests);
    const range = await store.operations.send(new GetTimeSeriesOperation("users/1", "A", at(1), at(2), 0, 10, includes => includes.includeTags()));
    assert.deepEqual(range.includes, {});
    const several = await store.operations.send(new GetMultipleTimeSeriesOperation("users/1", [{ name: "A", from: at(0), to: at(1) }], 0, 10, includes => includes.includeTags()));
    assert.deepEqual(Object.keys(several.values.get("A")[0].includes), ["watches/1"]);
    assert.equal((await store.operations.send(new GetTimeSeriesOperation("users/1", "A"))).includes, undefined);
}));

test("full results of an incremental series have the values by node", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession();
    session.incrementalTimeSeriesFor("users/1", "INC:Steps").increment(at(0), 5);
    await session.saveChanges();
    const full = await store.operations.send(new GetTimeSeriesOperation("users/1", "INC:Steps", null, null, 0, 10, null, true));
    assert.deepEqual(full.entries[0].nodeValues, { A: [5] });
    assert.equal((await store.operations.send(new GetTimeSeriesOperation("users/1", "INC:Steps"))).entries[0].nodeValues, undefined);
}));

test("months, quarters and years of an include are those of the calendar", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession(), series = session.timeSeriesFor("users/1", "A");
    const utc = (month, day, ...rest) => new Date(Date.UTC(2026, month - 1, day, ...rest));
    const times = [utc(5, 31), utc(4, 30), utc(4, 29, 23, 59, 59), utc(2, 28), utc(2, 27), utc(1, 1)];
    times.forEach((time, i) => series.append(time, [i]));
    await session.saveChanges();
    const included = async (...last) => {
        const reader = store.openSession();
        await reader.load("users/1", { documentType: User, includes: includes => includes.includeTimeSeries("A", "Last", ...last) });
        const requests = reader.advanced.numberOfRequests;
        const cached = await store.openSession().advanced.rawQuery(`from Users include timeseries('A', last(${last[0].value}, 'months'))`).all();
        assert.equal(cached.length, 1);
        const answer = await (await fetch(`${url}/databases/${store.database}/docs?id=users/1&timeseriestime=A&timeType=Last&timeValue=${last[0].value}&timeUnit=${last[0].unit}`)).json();
        assert.equal(reader.advanced.numberOfRequests, requests);
        return answer.TimeSeriesIncludes["users/1"].A[0].Entries.map(entry => entry.Values[0]).sort();
    };
    assert.deepEqual(await included(TimeValue.ofMonths(1)), [0, 1]);
    assert.deepEqual(await included(TimeValue.ofMonths(3)), [0, 1, 2, 3]);
    const answer = await (await fetch(`${url}/databases/${store.database}/queries`, { method: "POST", body: JSON.stringify({ Query: "from Users include timeseries('A', last(3, 'months'))" }) })).json();
    assert.equal(answer.TimeSeriesIncludes["users/1"].A[0].Entries.length, 4);
}));

test("increments add up", () => withDatabase(async store => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    for (let i = 0; i < 3; i++) {
        const session = store.openSession();
        session.incrementalTimeSeriesFor("users/1", "INC:Steps").increment(at(0), 5);
        await session.saveChanges();
    }
    const entries = await store.openSession().incrementalTimeSeriesFor("users/1", "INC:Steps").get();
    assert.deepEqual(entries.map(entry => entry.value), [15]);
}));

test("a bulk insert appends", () => withDatabase(async store => {
    const insert = store.bulkInsert();
    await insert.store(new User({ name: "Ada" }), "users/1");
    const series = insert.timeSeriesFor("users/1", "Stocks");
    for (let i = 0; i < 2000; i++)
        await series.append(at(i), [i, i * 2], "tag");
    series.dispose();
    await insert.finish();
    const entries = await store.openSession().timeSeriesFor("users/1", "Stocks").get();
    assert.deepEqual([entries.length, entries[1999].values, entries[1999].tag], [2000, [1999, 3998], "tag"]);
}));

test("what cannot be is refused", () => withDatabase(async store => {
    const session = store.openSession();
    session.timeSeriesFor("users/none", "A").append(at(0), 1);
    await assert.rejects(session.saveChanges(), /users\/none/);
}));

test("policies and names of values are configured, changed and read in the record", () => withDatabase(async (store, name) => {
    const users = new TimeSeriesCollectionConfiguration();
    users.policies = [new TimeSeriesPolicy("By1Hour", TimeValue.ofHours(1), TimeValue.ofDays(30)), new TimeSeriesPolicy("ByMonth", TimeValue.ofMonths(1))];
    users.rawPolicy = new RawTimeSeriesPolicy(TimeValue.ofDays(7));
    const configuration = new TimeSeriesConfiguration();
    configuration.collections.set("Users", users);
    configuration.policyCheckFrequencyInMs = 1_000;
    assert.ok((await store.maintenance.send(new ConfigureTimeSeriesOperation(configuration))).raftCommandIndex > 0);
    await store.maintenance.send(new ConfigureTimeSeriesPolicyOperation("Users", new TimeSeriesPolicy("ByDay", TimeValue.ofDays(1))));
    await store.maintenance.send(new ConfigureRawTimeSeriesPolicyOperation("Users", new RawTimeSeriesPolicy(TimeValue.ofDays(3650))));
    await store.maintenance.send(new RemoveTimeSeriesPolicyOperation("Users", "ByMonth"));
    await store.maintenance.send(new ConfigureTimeSeriesValueNamesOperation({ collection: "Users", timeSeries: "Heartrate", valueNames: ["BPM"] }));
    const { timeSeries } = await store.maintenance.server.send(new GetDatabaseRecordOperation(name));
    const read = timeSeries.collections.get("Users");
    assert.deepEqual(read.policies.map(policy => [policy.name, policy.aggregationTime.value]), [["By1Hour", 3600], ["ByDay", 86400]]);
    assert.equal(read.rawPolicy.retentionTime.value, 3650 * 86400);
    assert.equal(timeSeries.policyCheckFrequencyInMs, 1_000);
    assert.deepEqual(timeSeries.getNames("Users", "Heartrate"), ["BPM"]);
    await assert.rejects(store.maintenance.send(new ConfigureTimeSeriesPolicyOperation("Users", new TimeSeriesPolicy("Odd", TimeValue.ofSeconds(7 * 3600 + 1)))), /whole stretches/);

    // The task comes every second; what it makes is seen when it is there.
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const session = store.openSession();
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000, day = 86_400_000, from = hour - hour % day - day;
    for (let i = 0; i < 60; i++)
        session.timeSeriesFor("users/1", "Heartrate").append(new Date(from + i * 60_000), i);
    await session.saveChanges();
    for (;;) {
        const days = await store.openSession().timeSeriesFor("users/1", "Heartrate@ByDay").get();
        if (!days?.length)
            continue;
        assert.deepEqual([days[0].timestamp.getTime(), days[0].isRollup, days[0].values], [from, true, [0, 59, 0, 59, 1770, 60]]);
        break;
    }
}));
