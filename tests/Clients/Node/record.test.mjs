// What is configured of a database as a whole, with the client as published.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
    AddDatabaseNodeOperation, AddDatabaseShardOperation, AddNodeToOrchestratorTopologyOperation, ModifyDatabaseTopologyOperation, RemoveNodeFromOrchestratorTopologyOperation,
    ConfigureRevisionsForConflictsOperation, CreateDatabaseOperation, DeleteDatabasesOperation, GetClientConfigurationOperation, GetDatabaseRecordOperation, GetDatabaseSettingsOperation, GetServerWideClientConfigurationOperation, ModifyConflictSolverOperation,
    PromoteDatabaseNodeOperation, PutClientConfigurationOperation, PutDatabaseSettingsOperation, PutIndexesOperation, PutServerWideClientConfigurationOperation, ReorderDatabaseMembersOperation,
    SetDatabaseDynamicDistributionOperation,
    SetDatabasesLockOperation, ToggleDatabasesStateOperation, UpdateDatabaseOperation, UpdatePeriodicBackupOperation, UpdateUnusedDatabasesOperation,
} from "ravendb";
import { User, openStore, seed, url, withDatabase } from "./support.mjs";

test("clients are configured, and read it when it changes", () => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    assert.equal((await store.maintenance.send(new GetClientConfigurationOperation())).configuration, null);
    await store.maintenance.send(new PutClientConfigurationOperation({ maxNumberOfRequestsPerSession: 3, disabled: false, etag: 0 }));
    const { configuration, etag } = await store.maintenance.send(new GetClientConfigurationOperation());
    assert.equal(configuration.maxNumberOfRequestsPerSession, 3);
    assert.ok(Number(etag) > 0);
    const other = openStore(name);
    try {
        await other.openSession().load("users/1");
        const session = other.openSession();
        for (let i = 0; i < 3; i++)
            await session.query(User).whereEquals("name", `${i}`).all();
        await assert.rejects(session.query(User).whereEquals("name", "x").all(), /maximum number of requests/i);
    } finally {
        other.dispose();
    }
}));

test("clients of all databases are configured where a database says nothing else", () => withDatabase(async store => {
    const server = store.maintenance.server, seed = process.pid; // which changes nothing for other tests
    await server.send(new PutServerWideClientConfigurationOperation({ loadBalancerContextSeed: seed, disabled: false, etag: 0 }));
    try {
        assert.equal((await server.send(new GetServerWideClientConfigurationOperation())).loadBalancerContextSeed, seed);
        const shared = await store.maintenance.send(new GetClientConfigurationOperation());
        assert.equal(shared.configuration.loadBalancerContextSeed, seed);
        await store.maintenance.send(new PutClientConfigurationOperation({ loadBalancerContextSeed: 1, disabled: false, etag: 0 }));
        const own = await store.maintenance.send(new GetClientConfigurationOperation());
        assert.equal(own.configuration.loadBalancerContextSeed, 1);
        assert.ok(Number(own.etag) > Number(shared.etag)); // the client returns strings
        await store.maintenance.send(new PutClientConfigurationOperation({ loadBalancerContextSeed: 1, disabled: true, etag: 0 }));
        assert.equal((await store.maintenance.send(new GetClientConfigurationOperation())).configuration.loadBalancerContextSeed, seed);
    } finally {
        await server.send(new PutServerWideClientConfigurationOperation({ disabled: true, etag: 0 }));
    }
}));

test("a database is disabled and enabled", () => withDatabase(async (store, name) => {
    await seed(store, { "users/1": new User({ name: "Ada" }) });
    const off = await store.maintenance.server.send(new ToggleDatabasesStateOperation(name, true));
    assert.deepEqual([off.success, off.disabled, off.name], [true, true, name]);
    await assert.rejects(store.openSession().load("users/1"), { name: "DatabaseDisabledException" });
    assert.equal((await store.maintenance.server.send(new GetDatabaseRecordOperation(name))).disabled, true);
    const listed = (await (await fetch(`${url}/databases`)).json()).Databases.find(database => database.Name === name);
    assert.equal(listed.Disabled, true);
    assert.equal((await store.maintenance.server.send(new ToggleDatabasesStateOperation(name, false))).disabled, false);
    assert.equal((await store.openSession().load("users/1")).name, "Ada");
}));

test("a locked database is not deleted", () => withDatabase(async (store, name) => {
    await store.maintenance.server.send(new SetDatabasesLockOperation({ databaseNames: [name], mode: "PreventDeletesError" }));
    assert.equal((await store.maintenance.server.send(new GetDatabaseRecordOperation(name))).lockMode, "PreventDeletesError");
    await assert.rejects(store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [name], hardDelete: true })), /locked/);
    await store.maintenance.server.send(new SetDatabasesLockOperation({ databaseNames: [name], mode: "PreventDeletesIgnore" }));
    await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [name], hardDelete: true }));
    assert.notEqual(await store.maintenance.server.send(new GetDatabaseRecordOperation(name)), null);
    await store.maintenance.server.send(new SetDatabasesLockOperation({ databaseNames: [name], mode: "Unlock" }));
}));

test("settings, conflicts and the studio's configuration are kept", () => withDatabase(async (store, name) => {
    await store.maintenance.send(new PutDatabaseSettingsOperation(name, { "Indexing.MapTimeoutInSec": "7" }));
    assert.deepEqual((await store.maintenance.send(new GetDatabaseSettingsOperation(name))).settings, { "Indexing.MapTimeoutInSec": "7" });
    assert.ok((await store.maintenance.server.send(new ConfigureRevisionsForConflictsOperation(name, { disabled: false, minimumRevisionsToKeep: 4 }))).raftCommandIndex > 0);
    const solver = await store.maintenance.server.send(new ModifyConflictSolverOperation(name, {}, true));
    assert.equal(solver.key, `db/${name}`);
    const put = await fetch(`${url}/databases/${name}/admin/configuration/studio`, { method: "PUT", body: JSON.stringify({ Environment: "Testing" }) });
    assert.equal(put.status, 204);
    assert.equal((await (await fetch(`${url}/databases/${name}/configuration/studio`)).json()).Environment, "Testing");
    const record = await (await fetch(`${url}/admin/databases?name=${name}`)).json();
    assert.equal(record.ConflictSolverConfig.ResolveToLatest, true);
    assert.equal(record.RevisionsForConflicts.MinimumRevisionsToKeep, 4);
}));

test("what one node can do it does, and what needs several is refused", () => withDatabase(async (store, name) => {
    await store.maintenance.server.send(new ReorderDatabaseMembersOperation(name, ["A"]));
    await assert.rejects(store.maintenance.server.send(new ReorderDatabaseMembersOperation(name, ["B", "A"])), /one node/);
    await store.maintenance.server.send(new SetDatabaseDynamicDistributionOperation(name, true));
    await store.maintenance.server.send(new UpdateUnusedDatabasesOperation(name, { databaseIds: ["UZLFFnVNzUmsuxR0XYrOfg"] }));
    for (const several of [
        new PromoteDatabaseNodeOperation(name, "B"), new AddDatabaseNodeOperation(name, "B"), new ModifyDatabaseTopologyOperation(name, 0, { members: ["A", "B"] }),
        new AddDatabaseShardOperation({ databaseName: name, shardNumber: 1, nodes: ["B"] }),
        new AddNodeToOrchestratorTopologyOperation(name, "B"), new RemoveNodeFromOrchestratorTopologyOperation(name, "B"),
    ])
        await assert.rejects(store.maintenance.server.send(several), /one node/);
    assert.deepEqual((await store.maintenance.server.send(new GetDatabaseRecordOperation(name))).topology.members, ["A"]);
}));

test("a record is changed as a whole, by who knows its state", () => withDatabase(async (store, name) => {
    const server = store.maintenance.server, read = () => server.send(new GetDatabaseRecordOperation(name));
    await store.maintenance.send(new PutDatabaseSettingsOperation(name, { "Indexing.MapTimeoutInSec": "7" }));
    const record = await read(), stale = record.etag;
    record.client = { maxNumberOfRequestsPerSession: 3 };
    record.expiration = { disabled: false, deleteFrequencyInSec: 77 };
    record.revisions = { collections: { Orders: { minimumRevisionsToKeep: 7 } } };
    record.documentsCompression = { collections: ["Orders"] };
    record.lockMode = "PreventDeletesIgnore";
    assert.equal((await server.send(new UpdateDatabaseOperation(record, stale, 1))).name, name);
    const changed = await read();
    assert.notEqual(changed.etag, stale);
    assert.deepEqual(
        [changed.client.maxNumberOfRequestsPerSession, changed.expiration.deleteFrequencyInSec, changed.lockMode],
        [3, 77, "PreventDeletesIgnore"]);
    assert.deepEqual((await store.maintenance.send(new GetDatabaseSettingsOperation(name))).settings, { "Indexing.MapTimeoutInSec": "7" });
    assert.equal((await store.maintenance.send(new GetClientConfigurationOperation())).configuration.maxNumberOfRequestsPerSession, 3);
    await seed(store, { "orders/1": Object.assign(new User({ name: "Ada" }), { "@metadata": { "@collection": "Orders" } }) });
    assert.equal((await store.openSession().advanced.revisions.getFor("orders/1")).length, 1);

    await assert.rejects(server.send(new UpdateDatabaseOperation({ ...changed, client: null }, stale, 1)), { name: "ConcurrencyException" });
    await assert.rejects(server.send(new UpdateDatabaseOperation({ ...changed, lockMode: "Never" }, changed.etag, 1)), /PreventDeletesIgnore/);
    await assert.rejects(server.send(new UpdateDatabaseOperation(changed, changed.etag, 2)), /one node/);
    assert.equal((await read()).etag, changed.etag);
    await server.send(new UpdateDatabaseOperation({ databaseName: name }, changed.etag, 1));
    assert.equal((await read()).client, undefined);
}));

const definition = (name, map) => ({ name, maps: [map], fields: { name: { storage: "Yes" } }, type: "JavaScriptMap" });
const seldom = "0 2 29 2 *"; // not while a test runs, whatever the clock says

test("a record shows indexes, those that queries made, and backup tasks", () => withDatabase(async (store, name) => {
    const server = store.maintenance.server;
    await seed(store, { "users/1": new User({ name: "Ada", age: 36 }) });
    await store.maintenance.send(new PutIndexesOperation(definition("Users/ByName", "map('Users', u => ({ name: u.name }))")));
    await store.openSession().advanced.rawQuery("from Users where age > 3").waitForNonStaleResults().all();
    await store.openSession().advanced.rawQuery("from Users group by name select name, sum(age) as total").waitForNonStaleResults().all();
    const folder = mkdtempSync(join(tmpdir(), "treepie-record-"));
    try {
        await store.maintenance.send(new UpdatePeriodicBackupOperation({ name: "nightly", backupType: "Backup", fullBackupFrequency: seldom, localSettings: { folderPath: folder } }));
        const record = await server.send(new GetDatabaseRecordOperation(name));
        assert.deepEqual(Object.keys(record.indexes), ["Users/ByName"]);
        assert.match(record.indexes["Users/ByName"].maps[0], /u\.name/);
        const automatic = Object.values(record.autoIndexes).sort((a, b) => a.type.length - b.type.length);
        assert.deepEqual(automatic.map(index => [index.type, index.collection]), [["AutoMap", "Users"], ["AutoMapReduce", "Users"]]);
        assert.deepEqual([Object.keys(automatic[0].mapFields), automatic[1].groupByFieldNames], [["age"], ["name"]]);
        assert.deepEqual(record.periodicBackups.map(task => [task.name, task.fullBackupFrequency, task.localSettings.folderPath]), [["nightly", seldom, folder]]);
        assert.deepEqual([record.olapConnectionStrings, record.externalReplications, record.databaseState], [{}, [], "Normal"]);

        // What was read can be sent back, also with what a record does not change.
        await server.send(new UpdateDatabaseOperation({ ...record, client: { maxNumberOfRequestsPerSession: 3 } }, record.etag, 1));
        const changed = await server.send(new GetDatabaseRecordOperation(name));
        assert.deepEqual([changed.client.maxNumberOfRequestsPerSession, Object.keys(changed.indexes), changed.periodicBackups.length], [3, ["Users/ByName"], 1]);
        const more = { ...changed, indexes: { "Users/ByAge": definition("Users/ByAge", "map('Users', u => ({ age: u.age }))") } };
        await assert.rejects(server.send(new UpdateDatabaseOperation(more, changed.etag, 1)), /Users\/ByAge/);
    } finally {
        rmSync(folder, { recursive: true });
    }
}));

test("a database is created with all that its record holds", () => withDatabase(async (store, name) => {
    const server = store.maintenance.server, other = `${name}-other`, folder = mkdtempSync(join(tmpdir(), "treepie-record-"));
    const autoIndex = { type: "AutoMapReduce", name: "Auto/Users/ByCountReducedByName", collection: "Users", groupByFields: { name: { indexing: "Default" } }, mapFields: { Count: { aggregation: "Count" } } };
    const whole = {
        databaseName: other, settings: { Limit: "7" }, expiration: { disabled: false, deleteFrequencyInSec: 77 }, revisions: { default: { minimumRevisionsToKeep: 7 } },
        analyzers: { short: { name: "short", code: '{"Tokenizer":"Standard"}' } },
        indexes: { "Users/ByName": definition("Users/ByName", "map('Users', u => ({ name: u.name }))") },
        periodicBackups: [{ name: "nightly", taskId: 9, backupType: "Backup", fullBackupFrequency: seldom, localSettings: { folderPath: folder } }],
    };
    try {
        // The client writes keys of its own with a capital, so names of fields are sent as they are.
        const created = await fetch(`${url}/admin/databases?name=${other}`, { method: "PUT", body: JSON.stringify(pascal({ ...whole, autoIndexes: { [autoIndex.name]: autoIndex } })) });
        assert.equal(created.status, 201, await created.text());
        const record = await server.send(new GetDatabaseRecordOperation(other));
        assert.deepEqual(
            [record.settings.Limit, record.expiration.deleteFrequencyInSec, record.revisions.default.minimumRevisionsToKeep, Object.keys(record.indexes), record.periodicBackups.map(task => task.name)],
            ["7", 77, 7, ["Users/ByName"], ["nightly"]]);
        assert.deepEqual(Object.values(record.autoIndexes).map(index => index.groupByFieldNames), [["name"]]);
        await server.send(new DeleteDatabasesOperation({ databaseNames: [other], hardDelete: true }));

        for (const bad of [
            { indexes: { A: definition("A", "map('Users', u => {") } }, { periodicBackups: [{ name: "x", backupType: "Never" }] },
            { periodicBackups: [{ name: "x", azureSettings: { storageContainer: "c" } }] }, { expiration: { deleteFrequencyInSec: 0 } }, { sqlEtls: [{ name: "x" }] },
        ]) {
            await assert.rejects(server.send(new CreateDatabaseOperation({ ...whole, ...bad })), JSON.stringify(bad));
            assert.equal(await server.send(new GetDatabaseRecordOperation(other)) ?? null, null);
        }

        await server.send(new CreateDatabaseOperation({ ...whole, disabled: true }));
        const off = await server.send(new GetDatabaseRecordOperation(other));
        assert.deepEqual([off.disabled, Object.keys(off.indexes), off.periodicBackups.length], [true, ["Users/ByName"], 1]);
    } finally {
        await server.send(new DeleteDatabasesOperation({ databaseNames: [other], hardDelete: true })).catch(() => { });
        rmSync(folder, { recursive: true });
    }
}));

/** Gives members of the protocol their capitals; names below these members are those of the user. */
function pascal(value, isNamed = false) {
    if (Array.isArray(value))
        return value.map(one => pascal(one));
    if (value === null || typeof value !== "object")
        return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [
        isNamed ? key : key[0].toUpperCase() + key.slice(1), pascal(inner, /^(indexes|autoIndexes|analyzers|settings|fields|mapFields|groupByFields)$/.test(key)),
    ]));
}

test("sample data fills an empty database", () => withDatabase(async (store, name) => {
    const fill = () => fetch(`${url}/databases/${name}/studio/sample-data`, { method: "POST" });
    assert.equal((await fill()).status, 204);
    assert.ok(await store.openSession().query({ collection: "Orders" }).count() > 800);
    assert.equal((await fill()).status, 400);
}));
