import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import {
    CreateDatabaseOperation, DatabaseHealthCheckOperation, DeleteDatabasesOperation, GetBuildNumberOperation, GetClientConfigurationOperation,
    GetClusterTopologyCommand, GetDatabaseNamesOperation, GetDatabaseRecordOperation, GetStatisticsOperation,
} from "ravendb";
import { openStore, User, withDatabase } from "./support.mjs";

test("a database is created, listed, described and deleted", async () => {
    const name = `node-${randomUUID()}`;
    const store = openStore(name);
    try {
        const created = await store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: name }));
        assert.equal(created.name, name);
        assert.ok(created.raftCommandIndex > 0);
        assert.ok((await store.maintenance.server.send(new GetDatabaseNamesOperation(0, 1000))).includes(name));

        const record = await store.maintenance.server.send(new GetDatabaseRecordOperation(name));
        assert.equal(record.databaseName, name);

        await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [name], hardDelete: true }));
        assert.ok(!(await store.maintenance.server.send(new GetDatabaseNamesOperation(0, 1000))).includes(name));
        assert.ok(!(await store.maintenance.server.send(new GetDatabaseRecordOperation(name))));
    } finally {
        store.dispose();
    }
});

test("a name that is taken is a concurrency error", () => withDatabase(async (store, name) => {
    await assert.rejects(
        store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: name })),
        error => error.name === "ConcurrencyException" && error.message.includes(name));
}));

test("a database created again after its deletion is empty", () => withDatabase(async (store, name) => {
    const session = store.openSession();
    await session.store(new User({ name: "Ada" }), "users/1");
    await session.saveChanges();
    await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [name], hardDelete: true }));
    await store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: name }));
    assert.equal(await store.openSession().load("users/1"), null);
}));

test("a session on a database that is not there says so", async () => {
    const store = openStore("node-nobody-created-me");
    try {
        await assert.rejects(store.openSession().load("users/1"), error => error.name === "DatabaseDoesNotExistException");
        await assert.rejects(
            store.maintenance.send(new GetStatisticsOperation()),
            error => error.name === "DatabaseDoesNotExistException" && error.message.includes("node-nobody-created-me"));
    } finally {
        store.dispose();
    }
});

test("names that no folder may have are refused", () => withDatabase(async store => {
    for (const name of ["a b", "x".repeat(300), ".."])
        await assert.rejects(store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: name })), name);
}));

test("build, cluster topology, health and client configuration answer", () => withDatabase(async store => {
    const build = await store.maintenance.server.send(new GetBuildNumberOperation());
    assert.ok(build.buildVersion > 0 && build.productVersion);

    const command = new GetClusterTopologyCommand();
    await store.getRequestExecutor().execute(command);
    assert.deepEqual(Object.keys(command.result.topology.members), ["A"]);

    await store.maintenance.send(new DatabaseHealthCheckOperation());
    const configuration = await store.maintenance.send(new GetClientConfigurationOperation());
    assert.equal(configuration.configuration, null);
}));

test("a store without topology updates works too", () => withDatabase(async store => {
    const session = store.openSession();
    await session.store(new User({ name: "Ada" }), "users/1");
    await session.saveChanges();
    assert.equal((await store.openSession().load("users/1", User)).name, "Ada");
}, conventions => conventions.disableTopologyUpdates = true));
