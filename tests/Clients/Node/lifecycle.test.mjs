// Expiration, refreshing and archival, with the client as published.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
    ConfigureDataArchivalOperation, ConfigureExpirationOperation, ConfigureRefreshOperation, CreateDatabaseOperation, DeleteDatabasesOperation, GetCompareExchangeValueOperation, GetDatabaseRecordOperation, GetIndexOperation, IndexDefinition, PutCompareExchangeValueOperation, PutIndexesOperation,
} from "ravendb";
import { User, openStore, withDatabase } from "./support.mjs";

const past = "2020-01-01T00:00:00.0000000Z";

async function storeWith(store, id, member, time) {
    const session = store.openSession();
    const user = new User({ name: id });
    await session.store(user, id);
    session.advanced.getMetadataFor(user)[member] = time;
    await session.saveChanges();
}

async function until(condition) {
    while (!await condition())
        await pause(50);
}

test("a compare-exchange value that has expired goes", () => withDatabase(async store => {
    await store.maintenance.send(new ConfigureExpirationOperation({ disabled: false, deleteFrequencyInSec: 1 }));
    const put = (key, expires) => store.operations.send(new PutCompareExchangeValueOperation(key, "1", 0, { "@expires": expires }));
    assert.ok((await put("stays", "2999-01-01T00:00:00.0000000Z")).successful && (await put("goes", past)).successful);
    const get = key => store.operations.send(new GetCompareExchangeValueOperation(key, String));
    await until(async () => !await get("goes"));
    assert.equal((await get("stays")).value, "1");
}));

test("documents expire, are refreshed and archived", () => withDatabase(async store => {
    await storeWith(store, "users/1", "@expires", past);
    await storeWith(store, "users/2", "@refresh", past);
    await storeWith(store, "users/3", "@archive-at", past);
    await storeWith(store, "users/4", "@expires", "2999-01-01T00:00:00.0000000Z");
    const results = [
        await store.maintenance.send(new ConfigureExpirationOperation({ disabled: false, deleteFrequencyInSec: 1 })),
        await store.maintenance.send(new ConfigureRefreshOperation({ disabled: false, refreshFrequencyInSec: 1 })),
        await store.maintenance.send(new ConfigureDataArchivalOperation({ disabled: false, archiveFrequencyInSec: 1 })),
    ];
    for (const result of results)
        assert.ok(result.raftCommandIndex > 0);
    await until(async () => await store.openSession().load("users/1") === null);
    const metadataOf = async id => {
        const session = store.openSession();
        return session.advanced.getMetadataFor(await session.load(id, User));
    };
    await until(async () => (await metadataOf("users/2"))["@refresh"] === undefined);
    await until(async () => (await metadataOf("users/3"))["@archived"] === true);
    assert.equal((await metadataOf("users/3"))["@archive-at"], undefined);
    assert.notEqual(await store.openSession().load("users/4"), null);
}));

test("the record of a database says and sets what is configured", () => withDatabase(async (store, name) => {
    await store.maintenance.send(new ConfigureExpirationOperation({ disabled: true, deleteFrequencyInSec: 77 }));
    const record = await store.maintenance.server.send(new GetDatabaseRecordOperation(name));
    assert.deepEqual([record.expiration.disabled, record.expiration.deleteFrequencyInSec], [true, 77]);
    assert.equal(record.refresh, undefined);
    const other = `${name}-b`;
    await store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: other, refresh: { disabled: false, refreshFrequencyInSec: 33 } }));
    const made = openStore(other);
    try {
        assert.equal((await made.maintenance.server.send(new GetDatabaseRecordOperation(other))).refresh.refreshFrequencyInSec, 33);
    } finally {
        made.dispose();
        await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [other], hardDelete: true }));
    }
}));

test("what cannot be is refused", () => withDatabase(async store => {
    await assert.rejects(store.maintenance.send(new ConfigureExpirationOperation({ disabled: false, deleteFrequencyInSec: 0 })), /frequency of expiration/);
    await assert.rejects(storeWith(store, "users/1", "@expires", "tomorrow"), /'@expires' in the metadata of document 'users\/1' is not a time/);
    assert.equal(await store.openSession().load("users/1"), null);
}));

test("indexes hold archived documents as they are told", () => withDatabase(async store => {
    for (const behavior of ["ExcludeArchived", "IncludeArchived", "ArchivedOnly"]) {
        const definition = new IndexDefinition();
        definition.name = behavior;
        definition.maps = new Set(["from u in docs.Users select new { upper = u.name.ToUpper() }"]);
        definition.archivedDataProcessingBehavior = behavior;
        await store.maintenance.send(new PutIndexesOperation(definition));
        assert.equal((await store.maintenance.send(new GetIndexOperation(behavior))).archivedDataProcessingBehavior ?? "ExcludeArchived", behavior);
    }
    await store.maintenance.send(new ConfigureDataArchivalOperation({ disabled: false, archiveFrequencyInSec: 1 }));
    await storeWith(store, "users/1", "@archive-at", past);
    await storeWith(store, "users/2", "@archive-at", "2999-01-01T00:00:00.0000000Z");
    const idsOf = async index => (await store.openSession().query({ indexName: index }).waitForNonStaleResults().all()).map(user => user.id).sort();
    await until(async () => (await idsOf("ArchivedOnly")).length === 1);
    assert.deepEqual([await idsOf("ExcludeArchived"), await idsOf("IncludeArchived"), await idsOf("ArchivedOnly")], [["users/2"], ["users/1", "users/2"], ["users/1"]]);
    assert.deepEqual((await store.openSession().query(User).whereExists("name").waitForNonStaleResults().all()).map(user => user.id), ["users/2"]);
}));
